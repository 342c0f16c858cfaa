// The fewest edges of one type that lead from one record to another.
//
// param  ref  STRING  reference of the record to start at
// param  target STRING  reference of the record to end at
// column hops INT64
MATCH (a:{label} {ref: $ref})-[e:{relation}* SHORTEST 1..30]->(b)
WHERE b.ref = $target
RETURN length(e) AS hops;
