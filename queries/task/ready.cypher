// Pending tasks of a campaign whose parents are all complete, in the order of the plan.
//
// param  ref STRING  reference of the campaign
// column ref STRING
// column seq STRING
MATCH (t:Task {status: 'pending'})-[:PART_OF]->(c:Campaign {ref: $ref})
WHERE NOT EXISTS { MATCH (t)-[:DEPENDS_ON]->(u:Task) WHERE u.status <> 'complete' }
RETURN t.ref AS ref, t.seq AS seq
ORDER BY seq;
