// Records at most two edges of any type away from a record, strongest path first: the product of its weights.
//
// param  ref          STRING  reference of the record to start at
// param  min_strength DOUBLE  no path is weaker than this
// column ref          STRING
// column strength     DOUBLE
// column hops         INT64
OPTIONAL MATCH (a:{label} {ref: $ref})-[r]-(b)
WHERE r.weight >= $min_strength - 1e-9
WITH collect({ref: b.ref, strength: r.weight, hops: 1}) AS near
OPTIONAL MATCH (a:{label} {ref: $ref})-[r]-(b)-[s]-(c)
WHERE r.weight >= $min_strength - 1e-9 AND r.weight * s.weight >= $min_strength - 1e-9 AND c.ref <> a.ref
WITH near, collect({ref: c.ref, strength: r.weight * s.weight, hops: 2}) AS beyond
UNWIND near + beyond AS path
WITH path.ref AS ref, max(path.strength) AS best, max(CASE WHEN path.hops = 1 THEN path.strength ELSE 0.0 END) AS direct
WHERE ref IS NOT NULL
WITH ref, CASE WHEN direct >= best - 1e-9 THEN direct ELSE best END AS strength,
  CASE WHEN direct >= best - 1e-9 THEN 1 ELSE 2 END AS hops
RETURN ref, strength, hops
ORDER BY floor(strength * 1e9 + 0.5) DESC, hops, ref;
