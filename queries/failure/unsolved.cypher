// Failures without a fix and without a pattern that solves them, in name order.
//
// column ref STRING
// cost every failure and every edge that solves one
MATCH (f:Failure)
WHERE f.fix IS NULL AND NOT (:Pattern)-[:SOLVES]->(f)
RETURN f.ref AS ref
ORDER BY ref;
