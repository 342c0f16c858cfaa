// Writes a session: the node of its key, made where it is missing, every property as given.
//
// write
// param  key                  STRING
// param  ref                  STRING
// param  name                 STRING
// param  kind                 STRING
// param  created_at           TIMESTAMP
// param  edited               STRING
// param  by                   STRING
// param  via                  STRING
// param  authors              STRING
// param  aliases              STRING[]
// param  sources              STRING[]
// param  archived_at          TIMESTAMP
// param  archive_reason       STRING
// param  superseded_by        STRING
// param  alternates           STRING
// param  started_at           TIMESTAMP
// param  ended_at             TIMESTAMP
// param  task                 STRING
// param  conversation         STRING
// param  messages             INT64
// param  skills               STRING[]
// param  used                 STRING[]
// param  updated_at           TIMESTAMP
MERGE (n:Session {`key`: $key})
SET
  n.`ref` = $ref,
  n.`name` = $name,
  n.`kind` = $kind,
  n.`created_at` = $created_at,
  n.`edited` = $edited,
  n.`by` = $by,
  n.`via` = $via,
  n.`authors` = $authors,
  n.`aliases` = $aliases,
  n.`sources` = $sources,
  n.`archived_at` = $archived_at,
  n.`archive_reason` = $archive_reason,
  n.`superseded_by` = $superseded_by,
  n.`alternates` = $alternates,
  n.`started_at` = $started_at,
  n.`ended_at` = $ended_at,
  n.`task` = $task,
  n.`conversation` = $conversation,
  n.`messages` = $messages,
  n.`skills` = $skills,
  n.`used` = $used,
  n.`updated_at` = $updated_at;
