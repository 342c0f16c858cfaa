// Changes the edge that says that a task or session used a record, where it is there.
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
// param  helped     BOOLEAN    of a report: whether it helped
// column found      INT64      how many there are: one, or none
MATCH (a:{from} {`key`: $source})-[r:USED]->(b:{to} {`key`: $target})
SET r.weight = $weight, r.note = $note, r.created_at = $created_at, r.updated_at = $updated_at, r.by = $by, r.via = $via,
  r.helped = $helped
RETURN count(r) AS found;
