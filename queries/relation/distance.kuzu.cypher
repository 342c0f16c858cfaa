MATCH (a:{label} {ref: $ref})-[e:{relation}* SHORTEST 1..30]->(b)
WHERE b.ref = $target
RETURN length(e) AS hops;
