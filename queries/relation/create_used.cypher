// Writes that a task or session used a record that it had not used.
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
MATCH (a:{from} {`key`: $source}), (b:{to} {`key`: $target})
CREATE (a)-[:USED {weight: $weight, note: $note, created_at: $created_at, updated_at: $updated_at, by: $by, via: $via, helped: $helped}]->(b);
