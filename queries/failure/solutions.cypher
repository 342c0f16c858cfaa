// Patterns that solve a failure, strongest first: the weight of the edge times how often the pattern helped.
//
// param  ref      STRING  reference of the failure
// column pattern  STRING
// column weight   DOUBLE
// column note     STRING
// column strength DOUBLE
MATCH (p:Pattern)-[s:SOLVES]->(f:Failure {ref: $ref})
RETURN p.ref AS pattern, s.weight AS weight, s.note AS note,
  s.weight * (p.helped + 1.0) / (p.helped + p.failed + 2.0) AS strength
ORDER BY floor(strength * 1e9 + 0.5) DESC, pattern;
