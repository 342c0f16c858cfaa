// Writes a lesson: the node of its key, made where it is missing, every property as given.
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
// param  tags                 STRING[]
// param  files                STRING[]
// param  cites                STRING[]
// param  helped               INT64
// param  failed               INT64
// param  disputed             INT64
// param  pinned               BOOLEAN
// param  type                 STRING
// param  description          STRING
// param  source               STRING
// param  domain               STRING
// param  severity             STRING
// param  archetype            STRING
// param  frequency            INT64
// param  runs_since_last_seen INT64
// param  last_seen_run        STRING
// param  restored_at          TIMESTAMP
// param  updated_at           TIMESTAMP
// param  last_helped          TIMESTAMP
MERGE (n:Lesson {`key`: $key})
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
  n.`tags` = $tags,
  n.`files` = $files,
  n.`cites` = $cites,
  n.`helped` = $helped,
  n.`failed` = $failed,
  n.`disputed` = $disputed,
  n.`pinned` = $pinned,
  n.`type` = $type,
  n.`description` = $description,
  n.`source` = $source,
  n.`domain` = $domain,
  n.`severity` = $severity,
  n.`archetype` = $archetype,
  n.`frequency` = $frequency,
  n.`runs_since_last_seen` = $runs_since_last_seen,
  n.`last_seen_run` = $last_seen_run,
  n.`restored_at` = $restored_at,
  n.`updated_at` = $updated_at,
  n.`last_helped` = $last_helped;
