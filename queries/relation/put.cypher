// Changes the edge of a type between two records, where it is there.
//
// write
// param  source     STRING     key of the record it leads from
// param  target     STRING     key of the record it leads to
// param  weight     DOUBLE     the effective weight
// param  note       STRING     what was noted
// param  created_at TIMESTAMP  when it was made
// param  updated_at TIMESTAMP  when it was changed last
// param  by         STRING     who changed it last
// param  via        STRING     and through what
// column found      INT64      how many there are: one, or none
MATCH (a:{from} {`key`: $source})-[r:{relation}]->(b:{to} {`key`: $target})
SET r.weight = $weight, r.note = $note, r.created_at = $created_at, r.updated_at = $updated_at, r.by = $by, r.via = $via
RETURN count(r) AS found;
