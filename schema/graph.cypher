// The graph's own labels and relations, with their usual ends. Generated from the models.

CREATE NODE TABLE IF NOT EXISTS `Failure` (
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
  `tags` STRING[],
  `files` STRING[],
  `cites` STRING[],
  `helped` INT64,
  `failed` INT64,
  `disputed` INT64,
  `pinned` BOOLEAN,
  `trigger` STRING,
  `framework` STRING,
  `versions` STRING[],
  `check_after` STRING,
  `symptom` STRING,
  `holds_for` STRING,
  `fix` STRING,
  `expression` STRING,
  `cost` DOUBLE,
  `flaky` BOOLEAN,
  `updated_at` TIMESTAMP,
  `last_helped` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Pattern` (
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
  `tags` STRING[],
  `files` STRING[],
  `cites` STRING[],
  `helped` INT64,
  `failed` INT64,
  `disputed` INT64,
  `pinned` BOOLEAN,
  `trigger` STRING,
  `framework` STRING,
  `versions` STRING[],
  `check_after` STRING,
  `insight` STRING,
  `saved` DOUBLE,
  `updated_at` TIMESTAMP,
  `last_helped` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Lesson` (
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
  `tags` STRING[],
  `files` STRING[],
  `cites` STRING[],
  `helped` INT64,
  `failed` INT64,
  `disputed` INT64,
  `pinned` BOOLEAN,
  `type` STRING,
  `description` STRING,
  `source` STRING,
  `domain` STRING,
  `severity` STRING,
  `archetype` STRING,
  `frequency` INT64,
  `runs_since_last_seen` INT64,
  `last_seen_run` STRING,
  `restored_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `last_helped` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Experience` (
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
  `task_type` STRING,
  `description` STRING,
  `approach` STRING,
  `outcome` STRING,
  `lessons` STRING[],
  `time_taken` DOUBLE,
  `complexity_estimated` STRING,
  `complexity_actual` STRING,
  `capabilities_used` STRING[],
  `tags` STRING[],
  `confidence` STRING,
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Insight` (
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
  `category` STRING,
  `statement` STRING,
  `derived_from` STRING[],
  `file_pattern` STRING,
  `context` STRING,
  `outcome` STRING,
  `frequency` STRING,
  `symptoms` STRING,
  `root_cause` STRING,
  `resolution` STRING,
  `imported_occurrences` INT64,
  `imported_confidence` STRING,
  `tags` STRING[],
  `updated_at` TIMESTAMP,
  `occurrences` INT64,
  `confidence` STRING,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Campaign` (
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
  `objective` STRING,
  `framework` STRING,
  `sections` INT64,
  `framework_level` INT64,
  `failure_cost_k` DOUBLE,
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
  `by` STRING,
  `via` STRING,
  `authors` STRING,
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
  `spent` DOUBLE,
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
  `tags` STRING[],
  `started_at` TIMESTAMP,
  `completed_at` TIMESTAMP,
  `blocked_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `seq` STRING,
  `slug` STRING,
  `unmet` STRING[],
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Decision` (
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
  `decision` STRING,
  `reasoning` STRING,
  `task` STRING,
  `session` STRING,
  `pinned` BOOLEAN,
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Constraint` (
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
  `constraint` STRING,
  `source` STRING,
  `expires_at` TIMESTAMP,
  `session` STRING,
  `pinned` BOOLEAN,
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Exploration` (
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
  `objective` STRING,
  `structure` STRING,
  `pattern` STRING,
  `memory` STRING,
  `delta` STRING,
  `session` STRING,
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Session` (
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
  `started_at` TIMESTAMP,
  `ended_at` TIMESTAMP,
  `task` STRING,
  `conversation` STRING,
  `messages` INT64,
  `skills` STRING[],
  `used` STRING[],
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Run` (
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
  `at` TIMESTAMP,
  `run` STRING,
  `seen` STRING[],
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE NODE TABLE IF NOT EXISTS `Event` (
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
  `at` TIMESTAMP,
  `id` STRING,
  `type` STRING,
  `subject` STRING,
  `data` STRING,
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`key`)
);

CREATE REL TABLE IF NOT EXISTS `SOLVES` (
  FROM `Pattern` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `CAUSES` (
  FROM `Failure` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `PREREQUISITE` (
  FROM `Failure` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `CO_OCCURS` (
  FROM `Failure` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `VARIANT` (
  FROM `Failure` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `PART_OF` (
  FROM `Task` TO `Campaign`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `DEPENDS_ON` (
  FROM `Task` TO `Task`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `BLOCKED_BY` (
  FROM `Task` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `HANDED_OUT` (
  FROM `Task` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `USED` (
  FROM `Task` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING,
  `helped` BOOLEAN
);

CREATE REL TABLE IF NOT EXISTS `DERIVED_FROM` (
  FROM `Insight` TO `Experience`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `SEEN_IN` (
  FROM `Lesson` TO `Run`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `ABOUT` (
  FROM `Event` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);

CREATE REL TABLE IF NOT EXISTS `SUPERSEDES` (
  FROM `Failure` TO `Failure`,
  `weight` DOUBLE,
  `note` STRING,
  `created_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  `by` STRING,
  `via` STRING
);
