// Writes a work: the node of its key, made where it is missing, every property as given.
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
// param  flow                 STRING
// param  cycle                STRING
// param  objective            STRING
// param  goal                 STRING
// param  branch               STRING
// param  base_branch          STRING
// param  base_commit          STRING
// param  updated_at           TIMESTAMP
MERGE (n:Work {`key`: $key})
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
  n.`flow` = $flow,
  n.`cycle` = $cycle,
  n.`objective` = $objective,
  n.`goal` = $goal,
  n.`branch` = $branch,
  n.`base_branch` = $base_branch,
  n.`base_commit` = $base_commit,
  n.`updated_at` = $updated_at;
