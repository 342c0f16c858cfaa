UNWIND $hits AS given
MATCH (n {ref: given.ref})
OPTIONAL MATCH (n)<-[s:SOLVES]-(p:Pattern)
WITH n.ref AS ref, 1.0 * given.similarity AS similarity,
  collect({ref: p.ref, relevance: CASE WHEN s.weight < 1.0 THEN given.similarity * s.weight ELSE 1.0 * given.similarity END}) AS solving
UNWIND [{ref: ref, relevance: similarity}] + solving AS hit
WITH hit.ref AS ref, max(hit.relevance) AS relevance
MATCH (n {ref: ref})
WHERE relevance > 0 AND (n.expires_at IS NULL OR n.expires_at > $now)
WITH n, ref, relevance, CASE WHEN n.last_helped > n.updated_at THEN n.last_helped ELSE n.updated_at END AS changed
WITH n, ref, relevance, [text IN [$now, changed] | {
  year: toInteger(substring(text, 0, 4)), month: toInteger(substring(text, 5, 2)), day: toInteger(substring(text, 8, 2)),
  hours: toInteger(substring(text, 11, 2)) + toInteger(substring(text, 14, 2)) / 60.0
    + toFloat(substring(text, 17, 6)) / 3600.0}] AS times
WITH n, ref, relevance, [t IN times | {day: t.day, hours: t.hours, month: (t.month + 9) % 12,
  year: CASE WHEN t.month < 3 THEN t.year - 1 ELSE t.year END}] AS times
WITH n, ref, relevance, [t IN times | 365 * t.year + t.year / 4 - t.year / 100 + t.year / 400
  + (153 * t.month + 2) / 5 + t.day + t.hours / 24.0] AS days
WITH ref, relevance, days[0] - days[1] AS age, coalesce(n.cost, n.saved, 1.0) AS cost,
  (coalesce(n.helped, 0) + 1.0) / (coalesce(n.helped, 0) + coalesce(n.failed, 0) + 2.0) AS ratio,
  CASE WHEN n.kind = 'task' AND n.status = 'complete' THEN 0.5 ELSE 1.0 END AS finished
RETURN ref, relevance * log(CASE WHEN cost > 1.0 THEN cost ELSE 1.0 END + 1.0) / log(2.0) * ratio
  * 0.5 ^ (CASE WHEN age > 0 THEN age ELSE 0.0 END / $half_life_days) * finished AS score, relevance
ORDER BY floor(score * 1e9 + 0.5) DESC, ref;
