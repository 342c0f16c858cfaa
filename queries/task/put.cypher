// Writes a task: the node of its key, made where it is missing, every property as given.
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
// param  campaign             STRING
// param  objective            STRING
// param  type                 STRING
// param  status               STRING
// param  depends              STRING[]
// param  delta                STRING[]
// param  verify               STRING
// param  verify_source        STRING
// param  budget               DOUBLE
// param  spent                DOUBLE
// param  framework            STRING
// param  framework_confidence DOUBLE
// param  idioms               STRING
// param  prior_knowledge      STRING[]
// param  lineage              STRING
// param  delivered            STRING
// param  blocked_reason       STRING
// param  blocked_by           STRING[]
// param  utilized             STRING[]
// param  code_contexts        STRING[]
// param  preflight            STRING
// param  tags                 STRING[]
// param  started_at           TIMESTAMP
// param  completed_at         TIMESTAMP
// param  blocked_at           TIMESTAMP
// param  updated_at           TIMESTAMP
// param  seq                  STRING
// param  slug                 STRING
// param  unmet                STRING[]
MERGE (n:Task {`key`: $key})
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
  n.`campaign` = $campaign,
  n.`objective` = $objective,
  n.`type` = $type,
  n.`status` = $status,
  n.`depends` = $depends,
  n.`delta` = $delta,
  n.`verify` = $verify,
  n.`verify_source` = $verify_source,
  n.`budget` = $budget,
  n.`spent` = $spent,
  n.`framework` = $framework,
  n.`framework_confidence` = $framework_confidence,
  n.`idioms` = $idioms,
  n.`prior_knowledge` = $prior_knowledge,
  n.`lineage` = $lineage,
  n.`delivered` = $delivered,
  n.`blocked_reason` = $blocked_reason,
  n.`blocked_by` = $blocked_by,
  n.`utilized` = $utilized,
  n.`code_contexts` = $code_contexts,
  n.`preflight` = $preflight,
  n.`tags` = $tags,
  n.`started_at` = $started_at,
  n.`completed_at` = $completed_at,
  n.`blocked_at` = $blocked_at,
  n.`updated_at` = $updated_at,
  n.`seq` = $seq,
  n.`slug` = $slug,
  n.`unmet` = $unmet;
