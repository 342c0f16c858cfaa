"""
The lexical index: BM25 over the search texts, in SQLite's FTS5, with an analyser for errors, paths and symbols.

Three columns keep a token findable whole and by part without the parts drowning the words: plain words; whole
identifiers (``psycopg2.errors.UniqueViolation``, ``src/auth/token.py``), beside them operators (``**``), quoted
keywords, and the pairs of characters of words in scripts without blanks; and the parts of CamelCase words, and those
characters.
"""

import math
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from graphmem.constants import (
    LARGE_INDEX,
    LENGTH_POWER,
    LEXICAL_POSTINGS,
    LONG_WORDS,
    PARTS_WEIGHT,
    QUERY_TERMS,
    TITLE_TIMES,
    TITLED_CHARS,
)
from graphmem.kernel.catalog.database import Index, chunks, marks, parse_record, rows_among, transaction
from graphmem.patterns import lazy_re

SIGNS = "*+/%&|<>=!-"  # that operators are made of, the hyphen last; not those that end a sentence or a label
TOKENIZER = f"tokenize = \"porter unicode61 remove_diacritics 2 tokenchars '{SIGNS}`'\""
SCHEMA = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS lexical USING fts5(words, whole, parts, {TOKENIZER})",
    "CREATE VIRTUAL TABLE IF NOT EXISTS lexical_terms USING fts5vocab(lexical, row)",
)
STEMMER = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked USING fts5(term, {TOKENIZER})",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked_terms USING fts5vocab(asked, instance)",
)
# Letters of scripts that set no blanks between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) or write particles
# onto them (Korean).
UNSPACED = (
    r"\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
    r"\u0e01-\u0e30\u0e32\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0ebd-\u0ec6\u1780-\u17b3\u1000-\u102a"
)
LETTER = rf"[^\W_{UNSPACED}]"
WORD = lazy_re(rf"[{UNSPACED}]+|{LETTER}+")
WITHOUT_BLANKS = lazy_re(rf"[{UNSPACED}]")
COMPOUND = lazy_re(rf"(?<!{LETTER}){LETTER}++(?:[._/:\\-]++{LETTER}++)+")  # in linear time: it never goes back
RUN = lazy_re(rf"(?!-(?![{SIGNS[:-1]}]))[{SIGNS}]++")  # no hyphens, bullets nor dashes of options: they are most
LONGEST_OPERATOR = 3  # characters
QUOTED = lazy_re(r"""[`'"]([A-Za-z]{2,5})[`'"]""")
HUMP = lazy_re(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
USUAL_LENGTH = 64  # characters of a word up to which its parts are kept
STOP_WORDS = frozenset(
    "a an and are as at be but by can do does for from had has have how i if in into is it its me my no not of on or"
    " our so such than that the their then there these they this to was we were what when where which who why will"
    " with you your".split()
)


def analyse(text: str) -> tuple[list[str], list[str], list[str]]:
    """Return the words of a text, its identifiers, signs and pairs, and the parts of its words, in lower case."""
    text = in_usual_form(text)
    words = WORD.findall(text)
    whole = ["".join(WORD.findall(compound)).lower() for compound in COMPOUND.findall(text)] + signs(text)
    parts = [part for word in words for part in (parts_of(word) if len(word) <= USUAL_LENGTH else split(word))]
    if not text.isascii():
        runs = [word for word in words if WITHOUT_BLANKS.match(word)]
        whole += ["".join(pair) for run in runs if len(run) > 2 for pair in pairwise(run)]
        parts += [character for run in runs if len(run) > 1 for character in run]
    return [word.lower() for word in words], whole, parts


def in_usual_form(text: str) -> str:
    """Return a text with each character in its usual form, whatever width or composition it was typed in."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def signs(text: str) -> list[str]:
    """Return the operators of a text, and in backquotes those quoted words that are stop words elsewhere."""
    operators = [run[0] for run in RUN.finditer(text) if _is_operator(run)]
    keywords = (word.lower() for word in QUOTED.findall(text))
    return operators + [f"`{word}`" for word in keywords if word in STOP_WORDS]


def _is_operator(run: re.Match[str]) -> bool:
    """Return whether a run of signs is an operator: no slash of a path, mark of a sentence, or ruler."""
    if run[0] == "/":
        return not any(map(str.isalnum, run.string[max(0, run.start() - 1) : run.end() + 1]))
    return run[0] != "!" and len(run[0]) <= LONGEST_OPERATOR


def split(word: str) -> tuple[str, ...]:
    """Return the parts of a CamelCase word or of one with digits in it, in lower case; none where it has only one."""
    humps = HUMP.findall(word)
    return tuple(hump.lower() for hump in humps) if len(humps) > 1 else ()


parts_of = lru_cache(10_000)(split)  # words recur


def query_terms(text: str) -> list[str]:
    """Return the distinct terms that a query looks up, stop words left out unless there is nothing else."""
    words, whole, parts = analyse(text)
    telling = [word for word in words if word not in STOP_WORDS] or words
    parts = [part for part in parts if not WITHOUT_BLANKS.match(part)]  # the pairs say more
    return list(dict.fromkeys([*whole, *telling, *parts]))


def _query_pairs(text: str) -> list[str]:
    """Return the words that are side by side in a query, no stop word among them."""
    words = [word.lower() for word in WORD.findall(in_usual_form(text))]
    beside = (pair for pair in pairwise(words) if STOP_WORDS.isdisjoint(pair))
    return list(dict.fromkeys(map(" ".join, beside)))


def title_of(text: str) -> str:
    """
    Return the first line of a long text where it says what the rest is about; else nothing.

    It begins with a letter, unlike a command after its prompt or a line of a log, and a colon at its end introduces.
    """
    first, _, rest = text.strip().partition("\n")
    is_title = rest and first[0].isalpha() and not first.rstrip().endswith(":")
    return first if is_title and len(first) <= TITLED_CHARS < len(text) else ""


SEARCHED = "SELECT id FROM record WHERE is_live AND text_hash IS NOT NULL"
# The plus keeps SQLite from looking up each of very many records in the index by its number.
HELD = f"FROM lexical WHERE lexical MATCH ? AND +rowid IN ({SEARCHED})"
MORE = 0x80  # the bit of a byte of an FTS5 integer that says that more follow
BM25_K1, BM25_B = 1.2, 0.75  # as FTS5 has them


class LexicalIndex(Index):
    """The lexical index of a catalog, in the same database; it follows the catalog's list of stale records."""

    @property
    def is_behind(self) -> bool:
        """Whether there are records whose text changed since the last time."""
        return self.connection.execute("SELECT 1 FROM stale LIMIT 1").fetchone() is not None

    def catch_up(self) -> None:
        """Take in the records whose text changed since the last time."""
        if not self.is_behind:
            return
        with transaction(self.connection):
            for statement in SCHEMA:
                self.connection.execute(statement)
            for part in chunks([number for (number,) in self.connection.execute("SELECT id FROM stale")]):
                self.replace(part)
            self.connection.execute("DELETE FROM stale")

    def replace(self, ids: Collection[int]) -> None:
        """Put the texts of these records into the index, and take out those that are gone or archived."""
        self.connection.executemany("DELETE FROM lexical WHERE rowid = ?", [(number,) for number in ids])
        sql = f"SELECT id, line, crc FROM record WHERE id IN ({marks(ids)}) AND is_live AND text_hash IS NOT NULL"
        rows = []
        for number, line, crc in self.connection.execute(sql, list(ids)).fetchall():
            words, whole, parts = analyse(parse_record(number, line, crc).indexed_text)
            rows.append((number, " ".join(words), " ".join(whole), " ".join(parts)))
        self.connection.executemany("INSERT INTO lexical (rowid, words, whole, parts) VALUES (?,?,?,?)", rows)

    def differences(self) -> tuple[int, int]:
        """Return how many records the index lacks, and how many it has that are gone, but for those it knows of."""
        if not self.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'lexical'").fetchone():
            return self.connection.execute(f"SELECT count(*) FROM ({SEARCHED})").fetchone()[0], 0
        indexed, known = "SELECT id FROM lexical_docsize", "EXCEPT SELECT id FROM stale"
        (missing,) = self.connection.execute(f"SELECT count(*) FROM ({SEARCHED} EXCEPT {indexed} {known})").fetchone()
        (extra,) = self.connection.execute(f"SELECT count(*) FROM ({indexed} EXCEPT {SEARCHED} {known})").fetchone()
        return missing, extra

    def search(
        self, text: str, record_types: Collection[str] | None, limit: int, also: Collection[int] = ()
    ) -> dict[int, float]:
        """
        Return the records that share terms with ``text``, with the share of it that each holds, in [0, 1], best first.

        BM25 ranks them, and what is found in a long text counts for less (``brevity``). The best one represents the
        share of the query's terms, weighed by rarity, that it holds: so a query of which nothing telling is known finds
        nothing telling, however it ranks.

        Args:
            text: free text; a pasted log is cut to its rarest terms.
            record_types: kinds and entity types to look among; None for all.
            limit: at most this many, and those of ``also`` that share a term.
            also: records that are wanted however they rank.
        """
        if not self.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'lexical'").fetchone():
            return {}
        counts = self.counts(query_terms(text))
        if not counts:
            return {}
        total = self.total
        phrases = affordable(counts, _query_pairs(text), total)
        title = title_of(text)
        again = {*query_terms(title), *_query_pairs(title)}
        phrases += [phrase for phrase in phrases if phrase in again] * (TITLE_TIMES - 1)
        # BM25 gives a word that half of the records hold a weight of 0.000001: the others rank alone, if they suffice.
        rare = [phrase for phrase in phrases if 2 * counts.get(phrase, 0) < total]
        ranked = self.ranked if self.catalog.visible is None else self.ranked_seen
        rows = ranked(rare, record_types, limit, also) if rare else []
        if len(rows) < limit and len(rare) < len(phrases):
            rows = ranked(phrases, record_types, limit, also)
        found = {number: score for number, score in rows if score > 0}
        lengths = self.lengths(found)
        scores = sorted(((score * brevity(lengths[number]), -number) for number, score in found.items()), reverse=True)
        if not scores:
            return {}
        (best, number) = scores[0]
        top = self.share(counts, -number, total) / best
        return {-number: score * top for score, number in scores}

    def ranked(
        self, phrases: Sequence[str], record_types: Collection[str] | None, limit: int, also: Collection[int]
    ) -> list[tuple[int, float]]:
        """Return the records that hold one of these phrases with their BM25, those of ``also`` first, then the best."""
        # The index holds live records only: who asks for all of them needs no look at their rows.
        among = (
            f" AND (SELECT record_type FROM record WHERE id = lexical.rowid) IN ({marks(record_types)})"
            if record_types is not None
            else ""
        )
        sql = (
            f"SELECT rowid, -bm25(lexical, 1.0, 1.0, {PARTS_WEIGHT}) AS score FROM lexical"
            f" WHERE lexical MATCH ?{among} ORDER BY rowid IN ({marks(also)}) DESC, score DESC, rowid LIMIT ?"
        )
        expression = " OR ".join(f'"{phrase}"' for phrase in phrases)
        return self.connection.execute(sql, (expression, *(record_types or ()), *also, limit + len(also))).fetchall()

    def ranked_seen(
        self, phrases: Sequence[str], record_types: Collection[str] | None, limit: int, also: Collection[int]
    ) -> list[tuple[int, float]]:
        """
        Return what ``ranked`` does of an index that has the records only that the caller may see.

        FTS5 counts all records. With endless weights its BM25 has nothing of how often a record holds a phrase, and
        the quotient of the two nothing of how many records do; the average length is taken out of it here.
        """
        sizes = self.connection.execute(f"SELECT id, sz FROM lexical_docsize WHERE +id IN ({SEARCHED})")
        lengths = {number: sum(integers(size)) for number, size in sizes}
        mean = sum(lengths.values()) / max(1, len(lengths))
        total, *columns = integers(self.connection.execute("SELECT block FROM lexical_data WHERE id = 1").fetchone()[0])
        endless = "bm25(lexical, 1e15, 1e15, 1e15)"
        sql = f"SELECT rowid, bm25(lexical, 1.0, 1.0, {PARTS_WEIGHT}) / {endless} {HELD}"
        scores: dict[int, float] = {}
        for phrase in phrases:
            rows = self.connection.execute(sql, (f'"{phrase}"',)).fetchall()
            rarity = max(1e-6, math.log((len(lengths) - len(rows) + 0.5) / (len(rows) + 0.5)))
            for number, share in rows:
                times = round(share / (1 - share) * _flattening(lengths[number], sum(columns) / total), 3)
                score = rarity * times * (BM25_K1 + 1) / (times + _flattening(lengths[number], mean))
                scores[number] = scores.get(number, 0.0) + score
        if record_types is not None:
            sql = f"SELECT id FROM record WHERE record_type IN ({marks(record_types)})"
            among = {number for (number,) in self.connection.execute(sql, [*record_types])}
            scores = {number: score for number, score in scores.items() if number in among}
        best = sorted(scores, key=lambda number: (number not in also, -scores[number], number))
        return [(number, scores[number]) for number in best[: limit + len(also)]]

    def lengths(self, ids: Collection[int]) -> dict[int, int]:
        """Return how many words each of these records has."""
        rows = rows_among(self.connection, "SELECT id, sz FROM lexical_docsize WHERE id IN (...)", ids)
        return {number: sizes[0] if sizes[0] < MORE else integers(sizes)[0] for number, sizes in rows}

    def words_of(self, ids: Collection[int]) -> dict[int, str]:
        """Return the words of records, in lower case with one blank between them."""
        return dict(rows_among(self.connection, "SELECT rowid, words FROM lexical WHERE rowid IN (...)", ids))

    @property
    def total(self) -> int:
        """How many records are indexed; for a caller who sees some kinds, of these."""
        indexed = "lexical_docsize" if self.catalog.visible is None else f"({SEARCHED})"
        total: int = self.connection.execute(f"SELECT count(*) FROM {indexed}").fetchone()[0]
        return total

    def counts(self, terms: list[str]) -> dict[str, int]:
        """Return in how many records each term is; of very many terms, those in the fewest."""
        found = self.holders(terms) if self.catalog.visible is None else self.seen_holders(terms)
        # What is nowhere finds nothing, so of too many terms it goes first.
        kept = sorted(found, key=lambda term: found[term] or math.inf)[:QUERY_TERMS]
        return {term: found[term] for term in kept}

    def holders(self, terms: list[str]) -> dict[str, int]:
        """Return in how many records each term is."""
        stems = self.stems(terms)
        sql = "SELECT term, doc FROM lexical_terms WHERE term IN (...)"
        counts: dict[str, int] = dict(rows_among(self.connection, sql, set(stems)))
        return {term: counts.get(stem, 0) for term, stem in zip(terms, stems, strict=True)}

    def seen_holders(self, terms: list[str]) -> dict[str, int]:
        """Return the same of the records that the caller may see: that others have a word would tell what they say."""
        sql = f"SELECT count(*) {HELD}"
        return {term: self.connection.execute(sql, (f'"{term}"',)).fetchone()[0] for term in terms}

    def stems(self, terms: list[str]) -> list[str]:
        """Return terms as the index has them."""
        for statement in STEMMER:
            self.connection.execute(statement)
        self.connection.execute("DELETE FROM temp.asked")
        self.connection.executemany("INSERT INTO temp.asked (rowid, term) VALUES (?,?)", enumerate(terms))
        stems = dict(self.connection.execute("SELECT doc, term FROM temp.asked_terms").fetchall())
        return [stems.get(place, term) for place, term in enumerate(terms)]

    def share(self, counts: Mapping[str, int], number: int, total: int) -> float:
        """Return the share of a query's terms, weighed by rarity among ``total`` records, that a record holds."""
        rarity = _rarities(counts, total)
        sql = "SELECT 1 FROM lexical WHERE lexical MATCH ? AND rowid = ?"
        held = [term for term in rarity if self.connection.execute(sql, (f'"{term}"', number)).fetchone()]
        return sum(rarity[term] for term in held) / sum(rarity.values())

    def held(self, text: str, other: str) -> float:
        """Return the share of a text's terms, weighed by rarity among the records, that another text holds."""
        rarity = _rarities(self.counts(query_terms(text)), self.total)
        stems, there = self.stems([*rarity]), {*self.stems(query_terms(other))}
        held = sum(rarity[term] for term, stem in zip(rarity, stems, strict=True) if stem in there)
        return held / sum(rarity.values()) if rarity else 0.0


def _rarities(counts: Mapping[str, int], total: int) -> dict[str, float]:
    """Return how rare terms are among ``total`` records, from the number of records that have each."""
    return {term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in counts.items()}


def _flattening(words: int, mean: float) -> float:
    """Return how often a record of some words holds a phrase where BM25 gives it half of what more would ever bring."""
    return BM25_K1 * (1 - BM25_B + BM25_B * words / mean)


def integers(data: bytes) -> list[int]:
    """Return the integers in which FTS5 keeps counts: 7 bits a byte, the high first, with a bit that more follow."""
    found = [0]
    for byte in data:
        found[-1] = found[-1] << 7 | byte & 0x7F
        if byte < MORE:
            found.append(0)
    return found[:-1]


def affordable(counts: Mapping[str, int], pairs: Sequence[str], total: int) -> list[str]:
    """
    Return the terms and pairs to look up: all of them, or in a large store the rarest.

    BM25 reads every record that a word is in: one that is in very many costs most and tells least. Yet it
    tells something, so as long as the store is small nothing is left out.
    """
    known = [pair for pair in pairs if counts.keys() >= set(pair.split())]
    if total < LARGE_INDEX:
        return [*counts, *known]
    by_word = sorted((count, term) for term, count in counts.items())
    by_pair = sorted((sum(counts[word] for word in pair.split()), pair) for pair in known)
    left = max(LEXICAL_POSTINGS, total // 10)
    kept: list[str] = []
    for cost, phrase in by_word + by_pair:
        left -= cost
        if left < 0 and kept:
            break
        kept.append(phrase)
    return kept


def brevity(words: int) -> float:
    """
    Return what the words found in a text count for its length, from 0 to 1.

    BM25 takes less off a long text than it gains by chance: it has most of the common words of any question.
    """
    return float((LONG_WORDS / max(words, LONG_WORDS)) ** LENGTH_POWER)
