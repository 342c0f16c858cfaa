// Writes a failure: the node of its key, made where it is missing, every property as given.
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
// param  trigger              STRING
// param  framework            STRING
// param  versions             STRING[]
// param  check_after          STRING
// param  symptom              STRING
// param  holds_for            STRING
// param  fix                  STRING
// param  expression           STRING
// param  cost                 DOUBLE
// param  flaky                BOOLEAN
// param  updated_at           TIMESTAMP
// param  last_helped          TIMESTAMP
MERGE (n:Failure {`key`: $key})
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
  n.`trigger` = $trigger,
  n.`framework` = $framework,
  n.`versions` = $versions,
  n.`check_after` = $check_after,
  n.`symptom` = $symptom,
  n.`holds_for` = $holds_for,
  n.`fix` = $fix,
  n.`expression` = $expression,
  n.`cost` = $cost,
  n.`flaky` = $flaky,
  n.`updated_at` = $updated_at,
  n.`last_helped` = $last_helped;
