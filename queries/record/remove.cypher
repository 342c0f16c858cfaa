// Takes a record out, with its edges.
//
// write
// param  key STRING  key of the record
MATCH (n:{label} {`key`: $key})
DETACH DELETE n;
