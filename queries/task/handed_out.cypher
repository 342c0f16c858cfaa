// What tasks got when they began, most often first: how many got it, and how many reported that it helped or not.
//
// column memory STRING
// column tasks INT64
// column helped INT64
// column failed INT64
// cost every memory that was handed out
MATCH (t:Task)-[:HANDED_OUT]->(m)
OPTIONAL MATCH (t)-[u:USED]->(m)
RETURN m.ref AS memory, count(DISTINCT t.ref) AS tasks,
  count(DISTINCT CASE WHEN u.helped THEN t.ref END) AS helped,
  count(DISTINCT CASE WHEN NOT u.helped THEN t.ref END) AS failed
ORDER BY tasks DESC, memory;
