MATCH (a:{label} {ref: $ref})<-[:{relation}* SHORTEST 1..30]-(b)
WHERE b.ref <> a.ref
RETURN DISTINCT b.ref AS ref
ORDER BY ref;
