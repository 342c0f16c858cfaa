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
WHERE g.ref <> $ref AND (label(r) = 'VARIANT' OR id(start_node(r)) = id(g))
RETURN DISTINCT g.ref AS near, label(r) AS relation, r.weight AS weight, r.note AS note,
  id(start_node(r)) = id(f) AS is_out, p.ref AS pattern, s.weight AS solves, s.note AS solves_note
ORDER BY pattern, near, relation;
