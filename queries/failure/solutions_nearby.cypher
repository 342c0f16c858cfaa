// Patterns that solve a variant of a failure or a failure that causes it, with the edges that lead there.
//
// param  ref      STRING  reference of the failure
// column near     STRING
// column relation STRING
// column weight   DOUBLE
// column note     STRING
// column is_out   BOOL
// column pattern  STRING
// column solves   DOUBLE
// column solves_note STRING
MATCH (f:Failure {ref: $ref})-[r:VARIANT|CAUSES]-(g:Failure)<-[s:SOLVES]-(p:Pattern)
WHERE g.ref <> $ref
WITH r, g, s, p, EXISTS { MATCH (f)-[q:VARIANT|CAUSES]->(g) WHERE id(q) = id(r) } AS is_out
WHERE label(r) = 'VARIANT' OR NOT is_out
RETURN DISTINCT g.ref AS near, label(r) AS relation, r.weight AS weight, r.note AS note, is_out,
  p.ref AS pattern, s.weight AS solves, s.note AS solves_note
ORDER BY pattern, near, relation;
