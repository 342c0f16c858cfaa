// The label of an entity type.

CREATE NODE TABLE IF NOT EXISTS {label} (
  `key` STRING,
  `ref` STRING,
  `name` STRING,
  `kind` STRING,
  `created_at` TIMESTAMP,
  `edited` STRING,
  `by` STRING,
  `via` STRING,
  `authors` STRING,
  `aliases` STRING[],
  `sources` STRING[],
  `archived_at` TIMESTAMP,
  `archive_reason` STRING,
  `superseded_by` STRING,
  `alternates` STRING,
  `type` STRING,
  `value` STRING,
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);
