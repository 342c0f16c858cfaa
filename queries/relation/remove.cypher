// Takes an edge out.
//
// write
// param  source STRING  key of the record it leads from
// param  target STRING  key of the record it leads to
MATCH (a:{from} {`key`: $source})-[r:{relation}]->(b:{to} {`key`: $target})
DELETE r;
