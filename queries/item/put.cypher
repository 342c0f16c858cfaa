// Writes an item: the node of its key, made where it is missing, every property as given.
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
// param  work                 STRING
// param  source               STRING
// param  stage                STRING
// param  iteration            INT64
// param  artefact             STRING
// param  file                 STRING
// param  about                STRING
// param  text                 STRING
// param  tags                 STRING[]
// param  updated_at           TIMESTAMP
MERGE (n:Item {`key`: $key})
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
  n.`work` = $work,
  n.`source` = $source,
  n.`stage` = $stage,
  n.`iteration` = $iteration,
  n.`artefact` = $artefact,
  n.`file` = $file,
  n.`about` = $about,
  n.`text` = $text,
  n.`tags` = $tags,
  n.`updated_at` = $updated_at;
