// Tasks of a campaign that has not ended, that wait and whose parents are all complete, in the order of the plan.
//
// param  ref STRING  reference of the campaign
// column ref STRING
// column seq STRING
// cost every task and what it depends on: the engine works out a subquery for all of them, however it is written
MATCH (t:Task)-[:PART_OF]->(c:Campaign {ref: $ref, status: 'active'})
WHERE t.status IN ['pending', 'unreachable'] AND size(t.unmet) = 0
  AND NOT EXISTS { MATCH (t)-[:DEPENDS_ON]->(u:Task) WHERE u.status <> 'complete' }
RETURN t.ref AS ref, t.seq AS seq
ORDER BY seq, ref;
