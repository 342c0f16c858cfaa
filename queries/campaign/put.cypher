// Writes a campaign: the node of its key, made where it is missing, every property as given.
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
// param  objective            STRING
// param  framework            STRING
// param  sections             INT64
// param  framework_level      INT64
// param  failure_cost_k       DOUBLE
// param  status               STRING
// param  completed_at         TIMESTAMP
// param  outcome              STRING
// param  fingerprint          STRING
// param  tags                 STRING[]
// param  updated_at           TIMESTAMP
MERGE (n:Campaign {`key`: $key})
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
  n.`objective` = $objective,
  n.`framework` = $framework,
  n.`sections` = $sections,
  n.`framework_level` = $framework_level,
  n.`failure_cost_k` = $failure_cost_k,
  n.`status` = $status,
  n.`completed_at` = $completed_at,
  n.`outcome` = $outcome,
  n.`fingerprint` = $fingerprint,
  n.`tags` = $tags,
  n.`updated_at` = $updated_at;
