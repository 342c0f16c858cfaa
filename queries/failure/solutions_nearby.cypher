// Patterns that solve a variant or a cause of a failure and not the failure itself, with each way, strongest first.
//
// param  ref         STRING  reference of the failure
// column near        STRING
// column relation    STRING
// column weight      DOUBLE
// column note        STRING
// column pattern     STRING
// column solves      DOUBLE
// column solves_note STRING
// column strength    DOUBLE
OPTIONAL MATCH (f:Failure {ref: $ref})-[r:VARIANT]-(g:Failure)<-[s:SOLVES]-(p:Pattern)
WITH collect({near: g.ref, relation: 'VARIANT', weight: r.weight, note: r.note, pattern: p.ref, solves: s.weight,
  solves_note: s.note, ratio: (p.helped + 1.0) / (p.helped + p.failed + 2.0)}) AS variants
OPTIONAL MATCH (f:Failure {ref: $ref})<-[r:CAUSES]-(g:Failure)<-[s:SOLVES]-(p:Pattern)
WITH variants, collect({near: g.ref, relation: 'CAUSES', weight: r.weight, note: r.note, pattern: p.ref, solves: s.weight,
  solves_note: s.note, ratio: (p.helped + 1.0) / (p.helped + p.failed + 2.0)}) AS causes
OPTIONAL MATCH (f:Failure {ref: $ref})<-[:SOLVES]-(p:Pattern)
WITH variants, causes, collect(p.ref) AS direct
UNWIND variants + causes AS way
WITH way, direct
WHERE way.pattern IS NOT NULL AND NOT coalesce(way.pattern IN direct, false)
RETURN way.near AS near, way.relation AS relation, way.weight AS weight, way.note AS note, way.pattern AS pattern,
  way.solves AS solves, way.solves_note AS solves_note, way.ratio * way.weight * way.solves AS strength
ORDER BY floor(strength * 1e9 + 0.5) DESC, pattern, near, relation;
