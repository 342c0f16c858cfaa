// A relation type, with its first pair of ends.

CREATE REL TABLE IF NOT EXISTS {relation} (
  FROM {from} TO {to},
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);
