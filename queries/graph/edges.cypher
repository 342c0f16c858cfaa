// How many edges a relation type has.
//
// column edges INT64
// cost every edge of the type
MATCH ()-[r:{relation}]->()
RETURN count(r) AS edges;
