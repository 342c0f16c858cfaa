// Every record that edges of one type lead to from a record, however many, in name order.
//
// param  ref STRING  reference of the record to start at
// column ref STRING
MATCH (a:{label} {ref: $ref})-[:{relation}*{shortest}1..30]->(b)
WHERE b.ref <> a.ref
RETURN DISTINCT b.ref AS ref
ORDER BY ref;
