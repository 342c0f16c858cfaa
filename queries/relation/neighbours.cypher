// Records one edge of a type away from a record, in either direction, in name order.
//
// param  ref    STRING  reference of the record
// column ref    STRING
// column weight DOUBLE
// column is_out BOOL
OPTIONAL MATCH (a:{label} {ref: $ref})-[r:{relation}]->(b)
WITH collect({ref: b.ref, weight: r.weight, is_out: true}) AS outgoing
OPTIONAL MATCH (a:{label} {ref: $ref})<-[r:{relation}]-(b)
WITH outgoing, collect({ref: b.ref, weight: r.weight, is_out: false}) AS incoming
UNWIND outgoing + incoming AS edge
WITH edge.ref AS ref, edge.weight AS weight, edge.is_out AS is_out
WHERE ref IS NOT NULL
RETURN ref, weight, is_out
ORDER BY ref, is_out DESC;
