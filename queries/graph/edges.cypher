// How many edges a relation type has.
//
// column edges INT64
MATCH ()-[r:{relation}]->()
RETURN count(r) AS edges;
