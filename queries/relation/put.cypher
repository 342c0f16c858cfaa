// Writes an edge: the one of its type between two records, made where it is missing.
//
// write
// param  source     STRING     key of the record it leads from
// param  target     STRING     key of the record it leads to
// param  weight     DOUBLE     the effective weight
// param  note       STRING     what was noted
// param  created_at TIMESTAMP  when it was made
// param  updated_at TIMESTAMP  when it was changed last
MATCH (a:{from} {`key`: $source}), (b:{to} {`key`: $target})
MERGE (a)-[r:{relation}]->(b)
SET r.weight = $weight, r.note = $note, r.created_at = $created_at, r.updated_at = $updated_at;
