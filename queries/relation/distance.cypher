// The fewest edges of one type that lead from one record to another.
//
// param  ref  STRING  reference of the record to start at
// param  target STRING  reference of the record to end at
// column hops INT64
MATCH p = (a:{label} {ref: $ref})-[:{relation}*{shortest}1..30]->(b {ref: $target})
WITH min(length(p)) AS hops
WHERE hops IS NOT NULL
RETURN hops;
