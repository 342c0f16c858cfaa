// Tasks of a campaign that has not ended, that wait and whose parents are all complete, in the order of the plan.
//
// param  ref STRING  reference of the campaign
// column ref STRING
// column seq STRING
// cost every task and what it depends on
MATCH (t:Task)-[:PART_OF]->(c:Campaign {ref: $ref, status: 'active'})
WHERE t.status IN ['pending', 'unreachable'] AND size(t.unmet) = 0
OPTIONAL MATCH (t)-[d:DEPENDS_ON]->(u:Task)
WHERE u.status <> 'complete'
WITH t.ref AS ref, t.seq AS seq, count(u.ref) AS waits
WHERE waits = 0
RETURN ref, seq
ORDER BY seq, ref;
