// How many nodes a label has.
//
// column nodes INT64
MATCH (n:{label})
RETURN count(n) AS nodes;
