// Records one edge of a type away from a record, in either direction, in name order.
//
// param  ref    STRING  reference of the record
// column ref    STRING
// column weight DOUBLE
// column is_out BOOL
MATCH (a:{label} {ref: $ref})-[r:{relation}]-(b)
WITH b, r, EXISTS { MATCH (a)-[q:{relation}]->(b) WHERE id(q) = id(r) } AS is_out
RETURN b.ref AS ref, r.weight AS weight, is_out
ORDER BY ref, is_out DESC;
