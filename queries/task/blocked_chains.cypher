// Tasks of a campaign that wait for a blocked task, directly or through others, with how far that is and its reason.
//
// param  ref STRING  reference of the campaign
// column task STRING
// column blocked_by STRING
// column steps INT64
// column reason STRING
// cost every task that waits, and within ten steps what it waits for
MATCH (c:Campaign {ref: $ref})<-[:PART_OF]-(b:Task {status: 'blocked'})<-[d:DEPENDS_ON* SHORTEST 1..10]-(t:Task)
WHERE t.status IN ['pending', 'unreachable']
RETURN t.ref AS task, b.ref AS blocked_by, size(rels(d)) AS steps, b.blocked_reason AS reason
ORDER BY task, steps, blocked_by;
