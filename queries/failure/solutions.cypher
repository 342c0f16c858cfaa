// Patterns that solve a failure, strongest edge first.
//
// param  ref     STRING  reference of the failure
// column pattern STRING
// column weight  DOUBLE
// column note    STRING
MATCH (p:Pattern)-[s:SOLVES]->(f:Failure {ref: $ref})
RETURN p.ref AS pattern, s.weight AS weight, s.note AS note
ORDER BY weight DESC, pattern;
