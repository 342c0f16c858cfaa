// Writes an experience: the node of its key, made where it is missing, every property as given.
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
// param  task_type            STRING
// param  description          STRING
// param  approach             STRING
// param  outcome              STRING
// param  lessons              STRING[]
// param  time_taken           DOUBLE
// param  complexity_estimated STRING
// param  complexity_actual    STRING
// param  capabilities_used    STRING[]
// param  tags                 STRING[]
// param  confidence           STRING
// param  updated_at           TIMESTAMP
MERGE (n:Experience {`key`: $key})
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
  n.`task_type` = $task_type,
  n.`description` = $description,
  n.`approach` = $approach,
  n.`outcome` = $outcome,
  n.`lessons` = $lessons,
  n.`time_taken` = $time_taken,
  n.`complexity_estimated` = $complexity_estimated,
  n.`complexity_actual` = $complexity_actual,
  n.`capabilities_used` = $capabilities_used,
  n.`tags` = $tags,
  n.`confidence` = $confidence,
  n.`updated_at` = $updated_at;
