// Writes an insight: the node of its key, made where it is missing, every property as given.
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
// param  category             STRING
// param  statement            STRING
// param  derived_from         STRING[]
// param  file_pattern         STRING
// param  context              STRING
// param  outcome              STRING
// param  frequency            STRING
// param  symptoms             STRING
// param  root_cause           STRING
// param  resolution           STRING
// param  imported_occurrences INT64
// param  imported_confidence  STRING
// param  tags                 STRING[]
// param  updated_at           TIMESTAMP
// param  occurrences          INT64
// param  confidence           STRING
MERGE (n:Insight {`key`: $key})
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
  n.`category` = $category,
  n.`statement` = $statement,
  n.`derived_from` = $derived_from,
  n.`file_pattern` = $file_pattern,
  n.`context` = $context,
  n.`outcome` = $outcome,
  n.`frequency` = $frequency,
  n.`symptoms` = $symptoms,
  n.`root_cause` = $root_cause,
  n.`resolution` = $resolution,
  n.`imported_occurrences` = $imported_occurrences,
  n.`imported_confidence` = $imported_confidence,
  n.`tags` = $tags,
  n.`updated_at` = $updated_at,
  n.`occurrences` = $occurrences,
  n.`confidence` = $confidence;
