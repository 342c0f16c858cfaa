// How many nodes each label has, and how many edges each relation type.
//
// column name   STRING
// column number INT64
// cost every node and every edge
MATCH (n)
RETURN label(n) AS name, count(*) AS number
UNION ALL
MATCH ()-[r]->()
RETURN label(r) AS name, count(*) AS number;
