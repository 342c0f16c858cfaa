-- The catalog: what was last read of the ledger, and what follows from it. Derived; made again from the files at will.
-- A row's number is the first 63 bits of the SHA-256 of its key text, so the order of numbers is the order of the file.

CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE file (
  path TEXT PRIMARY KEY,        -- below the store
  size INTEGER, mtime_ns INTEGER, inode INTEGER, sha256 BLOB,
  read_ns INTEGER,              -- when it was read; a file changed within two seconds of that is hashed again
  is_ordered INTEGER,           -- every line a row, in order, LF: a new row goes in by bisection
  findings TEXT,                -- JSON list of what is wrong with it
  purged TEXT                   -- JSON list of the numbers of its rows that were purged: they are not read
) WITHOUT ROWID;

CREATE TABLE record (
  id INTEGER PRIMARY KEY,
  file TEXT, record_type TEXT, key TEXT, name TEXT,
  shown TEXT,                   -- the name that answers show; differs from name where two records hold one name
  is_live INTEGER,              -- not archived
  text_hash BLOB,               -- SHA-256 of the search text, NULL where it is not searched
  vector INTEGER,               -- its row in the vector file, NULL where it has none yet
  line BLOB,
  crc INTEGER                   -- CRC-32 of the line: SQLite does not notice when bytes change on the disk
);
CREATE INDEX record_file ON record (file) WHERE file GLOB 'data/*/*';
CREATE INDEX record_name ON record (name);
CREATE INDEX record_shown ON record (shown) WHERE shown <> name;
CREATE INDEX record_live ON record (record_type, is_live);
CREATE INDEX record_vector ON record (record_type, vector) WHERE is_live AND text_hash IS NOT NULL;
CREATE INDEX record_place ON record (vector, record_type) WHERE is_live AND text_hash IS NOT NULL;

-- The symptoms of live failures, each found by meaning on its own.
CREATE TABLE symptom (
  record INTEGER PRIMARY KEY,
  text_hash BLOB, vector INTEGER  -- as in `record`
);
CREATE INDEX symptom_text ON symptom (text_hash);
CREATE INDEX symptom_place ON symptom (vector);

CREATE TABLE alias (name TEXT, record_type TEXT, record INTEGER, PRIMARY KEY (name, record_type, record)) WITHOUT ROWID;
CREATE INDEX alias_record ON alias (record);

-- What a task is compared with beside texts: the tags of records, the files that they list and cite. Tags are folded.
CREATE TABLE label (sort TEXT, text TEXT, record INTEGER, PRIMARY KEY (sort, text, record)) WITHOUT ROWID;
CREATE INDEX label_record ON label (record);

-- The signatures of memories: numbers that stand for the text that they are compared by, without what changes from run
-- to run.
CREATE TABLE signature (number INTEGER, record INTEGER, PRIMARY KEY (number, record)) WITHOUT ROWID;
CREATE INDEX signature_record ON signature (record);

-- The match expressions of live and archived failures, each with a literal that a text it finds must hold.
CREATE TABLE expression (
  record INTEGER, literal TEXT, expression TEXT, PRIMARY KEY (record, literal, expression)
) WITHOUT ROWID;

-- The lines of the triggers of failures, as `rules.line` compares them: the number of the first one, its last word, and
-- the numbers of those after it, 8 bytes each.
CREATE TABLE line (number INTEGER, word TEXT, record INTEGER, rest BLOB, PRIMARY KEY (number, record, rest)) WITHOUT ROWID;
CREATE INDEX line_record ON line (record);

-- The problems that the triggers of failures tell of: numbers that stand for the keys of `logs.diagnosis.Problem`.
CREATE TABLE error (number INTEGER, record INTEGER, PRIMARY KEY (number, record)) WITHOUT ROWID;
CREATE INDEX error_record ON error (record);

-- Memories that have no row in `signature`, `expression`, `line` and `error` yet.
CREATE TABLE clueless (record INTEGER PRIMARY KEY);

CREATE TABLE relation (
  id INTEGER PRIMARY KEY,
  file TEXT,                    -- NULL where the edge is a field of a record
  owner INTEGER,                -- that record; of `used`, the fact
  type TEXT,
  source TEXT, target TEXT,     -- as the row has them; needed, and kept, only where they are not the keys of src and dst
  src INTEGER, dst INTEGER,     -- the records they are, NULL as long as one is missing or archived
  edge INTEGER,                 -- the number that the row would have with its ends by key: one edge, one number
  weight REAL,                  -- the effective one
  is_live INTEGER,              -- in the graph: both ends are, and it speaks for its edge
  line BLOB,
  merged BLOB                   -- the row that several rows for one edge come to, where there are several
);
CREATE INDEX relation_file ON relation (file) WHERE file GLOB 'data/relations/*/*';
CREATE INDEX relation_src ON relation (src, type, dst, weight) WHERE is_live;
CREATE INDEX relation_dst ON relation (dst, type, src, weight) WHERE is_live;
CREATE INDEX relation_heavy ON relation (type, weight) WHERE is_live AND weight > 1;
CREATE INDEX relation_other ON relation (edge) WHERE edge <> id;
CREATE INDEX relation_source ON relation (source) WHERE edge IS NULL;
CREATE INDEX relation_target ON relation (target) WHERE edge IS NULL;
CREATE INDEX relation_owner ON relation (owner) WHERE owner IS NOT NULL;

-- Things that happened. A report names the memory that it is about; a run and an event are nodes as well, and have a
-- row of `record` that belongs to no file; a purge has neither.
CREATE TABLE fact (
  id INTEGER PRIMARY KEY, file TEXT,
  node INTEGER,                 -- of a run or an event: its row of `record`
  ref TEXT,                     -- of a report: the memory
  record INTEGER,               -- the record that ref is, NULL as long as it is missing
  helped INTEGER, at TEXT,
  question BLOB,                -- of a report: SHA-256 of what was asked, NULL where it does not say
  wrong INTEGER,                -- of a report: the memory is disputed; NULL where it is not
  line BLOB, crc INTEGER
);
CREATE INDEX fact_file ON fact (file) WHERE file GLOB 'data/*/*';
CREATE INDEX fact_wrong ON fact (record, at) WHERE wrong;
CREATE INDEX fact_record ON fact (record, helped, at) WHERE ref IS NOT NULL;
CREATE INDEX fact_purge ON fact (file) WHERE node IS NULL AND ref IS NULL;
CREATE INDEX fact_ref ON fact (ref) WHERE ref IS NOT NULL;
CREATE INDEX fact_question ON fact (question, record, helped) WHERE question IS NOT NULL;
CREATE INDEX fact_asked ON fact (record, helped) WHERE question IS NOT NULL;

-- What reports say was asked: the SHA-256 of each text, and its row in the vector file, NULL where it has none yet.
CREATE TABLE question (text_hash BLOB PRIMARY KEY, vector INTEGER) WITHOUT ROWID;
CREATE INDEX question_place ON question (vector);

-- Runs in their order, and the lessons that they saw.
CREATE TABLE run (at TEXT, run TEXT, id INTEGER UNIQUE, PRIMARY KEY (at, run)) WITHOUT ROWID;
CREATE TABLE seen (run INTEGER, ref TEXT, lesson INTEGER, PRIMARY KEY (run, ref)) WITHOUT ROWID;
CREATE INDEX seen_lesson ON seen (lesson);
CREATE INDEX seen_ref ON seen (ref);

-- How each lesson stands after all runs: `rules.lesson_state`.
CREATE TABLE standing (record INTEGER PRIMARY KEY, frequency INTEGER, silent INTEGER, last_run TEXT, is_faded INTEGER);

-- Records whose text the lexical index does not have as it is now.
CREATE TABLE stale (id INTEGER PRIMARY KEY);

-- What the graph has not taken in yet: a node by its reference by key, an edge by its type and ends.
CREATE TABLE change (seq INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT, source TEXT, target TEXT);

-- Where the vector of a text is in the file of its model. Kept when all else is made anew: to embed takes longest.
-- `crc` is the CRC-32 of its bytes. The text of this statement is the table's version: rows of another one are not kept.
CREATE TABLE vector (
  model TEXT, text_hash BLOB, place INTEGER, crc INTEGER, PRIMARY KEY (model, text_hash)
) WITHOUT ROWID;
