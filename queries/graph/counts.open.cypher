MATCH (n)
RETURN labels(n)[0] AS name, count(*) AS number
UNION ALL
MATCH ()-[r]->()
RETURN type(r) AS name, count(*) AS number;
