// Records by score, where a search by meaning gave some of them a similarity; patterns that solve one of them join in.
//
// param  hits           STRUCT[]  of records: {ref, similarity}, the similarity from 0 to 1
// param  now            STRING    the time that age is counted to, as 2026-11-01T09:30:00.000Z
// param  half_life_days DOUBLE    days until a record counts half
// column ref            STRING
// column score          DOUBLE
// column relevance      DOUBLE
// cost every record and every edge that solves one
UNWIND $hits AS given
MATCH (n {ref: given.ref})
OPTIONAL MATCH (n)<-[s:SOLVES]-(p:Pattern)
WITH n.ref AS ref, 1.0 * given.similarity AS similarity,
  collect({ref: p.ref, relevance: CASE WHEN s.weight < 1.0 THEN given.similarity * s.weight ELSE 1.0 * given.similarity END}) AS solving
UNWIND [{ref: ref, relevance: similarity}] + solving AS hit
WITH hit.ref AS ref, max(hit.relevance) AS relevance
MATCH (n {ref: ref})
WHERE relevance > 0 AND (n.expires_at IS NULL OR n.expires_at > timestamp($now))
WITH n.ref AS ref, relevance, coalesce(n.cost, n.saved, 1.0) AS cost,
  (coalesce(n.helped, 0) + 1.0) / (coalesce(n.helped, 0) + coalesce(n.failed, 0) + 2.0) AS ratio,
  to_epoch_ms(timestamp($now)) - to_epoch_ms(greatest(n.updated_at, coalesce(n.last_helped, n.updated_at))) AS age,
  CASE WHEN label(n) = 'Task' AND n.status = 'complete' THEN 0.5 ELSE 1.0 END AS finished
RETURN ref, relevance * log2(CASE WHEN cost > 1.0 THEN cost ELSE 1.0 END + 1.0) * ratio
  * pow(0.5, CASE WHEN age > 0 THEN age / 86400000.0 ELSE 0.0 END / $half_life_days) * finished AS score, relevance
ORDER BY floor(score * 1e9 + 0.5) DESC, ref;
