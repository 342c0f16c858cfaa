// Tasks of a campaign that wait for a blocked task, directly or through others, with how far that is and its reason.
//
// param  ref STRING  reference of the campaign
// column task STRING
// column blocked_by STRING
// column steps INT64
// column reason STRING
// cost every task that waits, and within ten steps what it waits for
MATCH p = (b:Task {status: 'blocked'})<-[:DEPENDS_ON*{shortest}1..10]-(t:Task), (b)-[:PART_OF]->(c:Campaign {ref: $ref})
WHERE t.status IN ['pending', 'unreachable']
RETURN t.ref AS task, b.ref AS blocked_by, min(length(p)) AS steps, b.blocked_reason AS reason
ORDER BY task, steps, blocked_by;
