// How many nodes a label has.
//
// column nodes INT64
// cost every node of the label
MATCH (n:{label})
RETURN count(n) AS nodes;
