// The graph's own labels and relations, with their usual ends. Generated from the models.

CREATE NODE TABLE IF NOT EXISTS `Failure` (
  `key` STRING,
  `ref` STRING,
  `name` STRING,
  `kind` STRING,
  `created_at` TIMESTAMP,
  `edited` STRING,
  `aliases` STRING[],
  `sources` STRING[],
  `archived_at` TIMESTAMP,
  `archive_reason` STRING,
  `superseded_by` STRING,
  `alternates` STRING,
  `trigger` STRING,
  `tags` STRING[],
  `files` STRING[],
  `helped` INT64,
  `failed` INT64,
  `fix` STRING,
  `match` STRING,
  `cost` DOUBLE,
  `flaky` BOOLEAN,
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Pattern` (
  `key` STRING,
  `ref` STRING,
  `name` STRING,
  `kind` STRING,
  `created_at` TIMESTAMP,
  `edited` STRING,
  `aliases` STRING[],
  `sources` STRING[],
  `archived_at` TIMESTAMP,
  `archive_reason` STRING,
  `superseded_by` STRING,
  `alternates` STRING,
  `trigger` STRING,
  `tags` STRING[],
  `files` STRING[],
  `helped` INT64,
  `failed` INT64,
  `insight` STRING,
  `saved` DOUBLE,
  `framework` STRING,
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Campaign` (
  `key` STRING,
  `ref` STRING,
  `name` STRING,
  `kind` STRING,
  `created_at` TIMESTAMP,
  `edited` STRING,
  `aliases` STRING[],
  `sources` STRING[],
  `archived_at` TIMESTAMP,
  `archive_reason` STRING,
  `superseded_by` STRING,
  `alternates` STRING,
  `objective` STRING,
  `framework` STRING,
  `status` STRING,
  `completed_at` TIMESTAMP,
  `outcome` STRING,
  `fingerprint` STRING,
  `tags` STRING[],
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Task` (
  `key` STRING,
  `ref` STRING,
  `name` STRING,
  `kind` STRING,
  `created_at` TIMESTAMP,
  `edited` STRING,
  `aliases` STRING[],
  `sources` STRING[],
  `archived_at` TIMESTAMP,
  `archive_reason` STRING,
  `superseded_by` STRING,
  `alternates` STRING,
  `campaign` STRING,
  `objective` STRING,
  `type` STRING,
  `status` STRING,
  `depends` STRING[],
  `delta` STRING[],
  `verify` STRING,
  `verify_source` STRING,
  `budget` DOUBLE,
  `framework` STRING,
  `framework_confidence` DOUBLE,
  `idioms` STRING,
  `prior_knowledge` STRING[],
  `lineage` STRING,
  `delivered` STRING,
  `blocked_reason` STRING,
  `blocked_by` STRING[],
  `utilized` STRING[],
  `code_contexts` STRING[],
  `preflight` STRING,
  `started_at` TIMESTAMP,
  `completed_at` TIMESTAMP,
  `blocked_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `seq` STRING,
  `slug` STRING,
  PRIMARY KEY (`key`)
);

CREATE REL TABLE IF NOT EXISTS `SOLVES` (
  FROM `Pattern` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP
);

CREATE REL TABLE IF NOT EXISTS `CAUSES` (
  FROM `Failure` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP
);

CREATE REL TABLE IF NOT EXISTS `PREREQUISITE` (
  FROM `Failure` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP
);

CREATE REL TABLE IF NOT EXISTS `CO_OCCURS` (
  FROM `Failure` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP
);

CREATE REL TABLE IF NOT EXISTS `VARIANT` (
  FROM `Failure` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP
);

CREATE REL TABLE IF NOT EXISTS `DEPENDS_ON` (
  FROM `Task` TO `Task`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP
);

CREATE REL TABLE IF NOT EXISTS `PART_OF` (
  FROM `Task` TO `Campaign`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP
);
