"""
The settings of a store: the only module that reads the environment and the config files.

Later wins: defaults, the user's config file, the project's ``config.toml``, the environment, options.
What is unknown or wrong in a file or the environment is left out, and named in each answer; in an option it is refused.
"""

import difflib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from graphmem import constants
from graphmem.errors import BadInput, Unavailable, Usage
from graphmem.kernel.settings.address import ServerAddress, is_server
from graphmem.kernel.settings.folders import user_config
from graphmem.kernel.settings.trust import Asked, asked_for, trust_file, untrusted
from graphmem.kernel.system import foreign, safe_files
from graphmem.kernel.system.surroundings import variables
from graphmem.names import printable


def web_address(text: str) -> str:
    """Return an address that texts may be sent to, or raise ``BadInput``, which shows no password."""
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, is_good = None, False
    if parts is not None and (parts.username is not None or parts.password is not None):
        raise BadInput(
            f"the address of {parts.hostname!r} has a user or a password in it",
            hint=f"the key belongs in {KEY_VARIABLE}",
        )
    if text and not (parts and is_good and text.isascii() and text.isprintable() and not set(text) & set(" ?#\\")):
        raise BadInput(f"the endpoint {_shown(text)} is not a web address", hint="such as http://127.0.0.1:11434")
    return text


def graph_address(text: str) -> str:
    """Return the address of a server of graphs, or raise ``BadInput``, which shows no password."""
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in GRAPH_SCHEMES and (parts.scheme == "unix" or bool(parts.hostname and parts.port != 0))
    except ValueError:
        parts, is_good = None, False
    if parts is not None and parts.password is not None:
        raise BadInput("the address of the graph server has a password in it", hint=f"it belongs in {GRAPH_PASSWORD}")
    if text and not (is_good and text.isascii() and text.isprintable()):
        shown = _shown(text.rpartition("@")[2])
        raise BadInput(f"the address of the graph server is {shown}", hint="such as falkordb://localhost:6379")
    return text


def store_address(text: str) -> str:
    """Return where another store is, or raise ``BadInput``, which shows no password."""
    if is_server(text):
        try:
            ServerAddress.parse(text)
        except Usage as error:
            raise BadInput(error.message, hint=error.hint) from None
    elif text and not os.path.isabs(text):
        raise BadInput(f"{_shown(text)} names no store", hint="an absolute path, or the address of a server")
    return text


def _hook_events(text: str) -> str:
    """Return the events of hooks that are off, or raise ``ValueError``."""
    if not {*text.replace(",", " ").split()} <= {*HOOK_EVENTS}:
        raise ValueError(f"some of {', '.join(HOOK_EVENTS)}, with commas between them")
    return text


def _author_name(text: str) -> str:
    """Return the name that rows give who writes them, or raise ``ValueError``."""
    if text != text.strip() or not printable(text) or len(text) > constants.AUTHOR_CHARACTERS:
        raise ValueError(f"a name of at most {constants.AUTHOR_CHARACTERS} printable characters")
    return text


Share = Annotated[float, Field(ge=0, le=1)]
Exponent = Annotated[float, Field(ge=0, le=4)]
Profile = Literal["classic", "learned"]
Secrets = Literal["refuse", "redact", "allow"]
Name = Annotated[str, Field(max_length=1_000)]
Endpoint = Annotated[str, Field(max_length=1_000), AfterValidator(web_address)]
GraphUrl = Annotated[str, Field(max_length=1_000), AfterValidator(graph_address)]
GRAPH_SCHEMES = ("falkordb", "falkordbs", "redis", "rediss", "unix")
GRAPH_PASSWORD = "GRAPHMEM_GRAPH_PASSWORD"  # of the server of graphs; it is in no file
KEY_VARIABLE = "GRAPHMEM_EMBEDDING_KEY"  # of an endpoint; it is in no file
CONFIG_BYTES = 8 * 1024  # of a config file
SHOWN = 80  # characters of a value in a message
# Settings that a project may only lower: raised by a branch, they would let a query take this machine.
BOUNDS = ("cypher.timeout", "cypher.limit", "embedding.wait")
HOOK_EVENTS = ("start", "prompt", "before", "after", "end", "credit", "all")
TOP_LEVEL = {"format", "user_store", "by", "governance"}
OWN = {"ignored", "wrong"}  # of a ``Settings`` itself: no file gives them
# Settings that decide what a write stores: where one of them is wrong, nothing is written.
STORED = ("format", "store.secrets", "retrieval.merge_similarity", "retrieval.variant_similarity")
MOST_WRONG = 10  # of a file, that are named
MOST_LOOKED_UP = 50  # of a file: with more it is no config file, and each costs a millisecond
ENVIRONMENT = "the environment"
ADDRESS = ("endpoint", "dimensions")  # of the model that is named beside them


class SettingsSection(BaseModel):
    """A group of settings: a value, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class WrongSetting(SettingsSection):
    """
    A setting that is left out, for it is unknown or its value is not valid, or a file that cannot be read.

    Args:
        where: the file, or the variable of the environment.
        name: of the setting that was meant, as far as that can be told; empty for a file.
        expected: what would be right.
        is_of_project: it is in the config file of the project.
    """

    where: str
    name: str
    message: str
    expected: str
    is_of_project: bool = False

    @property
    def text(self) -> str:
        """What is wrong, where, and what would be right, in a line."""
        return f"{self.message}; the default is used ({self.expected})"

    @property
    def right(self) -> str:
        """What would be right, as a noun."""
        return self.expected.removeprefix("did you mean ").removesuffix("?")

    @property
    def decides_what_is_stored(self) -> bool:
        """Whether a write could store something else than is meant; of a project's file that is not read, any could."""
        is_section = any(name.startswith(f"{self.name}.") for name in STORED)
        return self.name in STORED or is_section or (self.is_of_project and not self.name)


class Embedding(SettingsSection):
    """Which model makes the vectors."""

    model: Name = constants.DEFAULT_MODEL
    endpoint: Endpoint = ""
    dimensions: Annotated[int, Field(ge=0, le=constants.MOST_DIMENSIONS)] = 0
    background: bool = True
    wait: Annotated[float, Field(ge=0, le=3_600)] = constants.EMBED_S


class Retrieval(SettingsSection):
    """The numbers of scores, tiers, near-duplicates and traversal; each is explained in constants.py."""

    profile: Profile = constants.PROFILE
    half_life_days: Annotated[float, Field(gt=0, le=1_000_000)] = constants.HALF_LIFE_DAYS
    cost_exponent: Exponent = constants.COST_EXPONENT
    recency_exponent: Exponent = constants.RECENCY_EXPONENT
    recency_days: Annotated[float, Field(gt=0, le=1_000_000)] = constants.RECENCY_DAYS
    occasion_similarity: Share = constants.OCCASION_SIMILARITY
    unasked_weight: Share = constants.UNASKED_WEIGHT
    critical: Share = constants.CRITICAL
    productive: Share = constants.PRODUCTIVE
    exploration: Share = constants.EXPLORATION
    rrf_k: Annotated[int, Field(ge=1, le=10_000)] = constants.RRF_K
    candidates: Annotated[int, Field(ge=1, le=10_000)] = constants.CANDIDATES
    lexical_weight: Share = constants.LEXICAL_WEIGHT
    merge_similarity: Share = constants.MERGE_SIMILARITY
    variant_similarity: Share = constants.VARIANT_SIMILARITY
    min_strength: Annotated[float, Field(gt=0, le=1_000)] = constants.MIN_STRENGTH
    similar_threshold: Share = constants.SIMILAR_THRESHOLD
    known: Share = constants.KNOWN
    unsure: Share = constants.UNSURE
    reranker: Name = ""
    rerank: Annotated[int, Field(ge=1, le=1_000)] = constants.RERANK


class StoreSettings(SettingsSection):
    """How the store is held."""

    lock_timeout: Annotated[float, Field(ge=0, le=86_400)] = constants.LOCK_TIMEOUT_S
    secrets: Secrets = "refuse"


class LedgerSettings(SettingsSection):
    """Where the rows are."""

    place: Literal["branch", "ref"] = "branch"


class Cypher(SettingsSection):
    """The bounds of a user's query."""

    timeout: Annotated[float, Field(gt=0, le=constants.CYPHER_MOST_S)] = constants.CYPHER_TIMEOUT_S
    limit: Annotated[int, Field(ge=1, le=constants.CYPHER_MOST_ROWS)] = constants.CYPHER_ROW_LIMIT


class TeamSettings(SettingsSection):
    """A memory in a server."""

    require: Literal["any", "disk", "standby"] = "any"


class StoresSettings(SettingsSection):
    """The stores that are asked beside that of the project."""

    organisation: Annotated[str, Field(max_length=1_000), AfterValidator(store_address)] = ""


class GraphSettings(SettingsSection):
    """The server with the graphs of many projects."""

    url: GraphUrl = ""


class Hooks(SettingsSection):
    """Which events of coding agents are answered."""

    note_edits: bool = False
    off: Annotated[str, AfterValidator(_hook_events)] = ""

    @property
    def off_kinds(self) -> frozenset[str]:
        """The kinds of events that are not answered."""
        kinds = frozenset(self.off.replace(",", " ").split())
        return frozenset(("start", "prompt", "before", "after", "end")) if "all" in kinds else kinds

    @property
    def is_silent(self) -> bool:
        """Whether a pass is not reported to have been helped by what a hook showed."""
        return "credit" in self.off.replace(",", " ").split()


class Harvest(SettingsSection):
    """What becomes of candidates."""

    hand_out: bool = False


class ServiceSettings(SettingsSection):
    """The service that answers commands faster."""

    autostart: bool = False


class Settings(SettingsSection):
    """All settings of a store."""

    format: Annotated[int, Field(ge=1, le=1_000_000)] = constants.FORMAT
    embedding: Embedding = Field(default_factory=Embedding)
    retrieval: Retrieval = Field(default_factory=Retrieval)
    store: StoreSettings = Field(default_factory=StoreSettings)
    ledger: LedgerSettings = Field(default_factory=LedgerSettings)
    cypher: Cypher = Field(default_factory=Cypher)
    team: TeamSettings = Field(default_factory=TeamSettings)
    stores: StoresSettings = Field(default_factory=StoresSettings)
    graph: GraphSettings = Field(default_factory=GraphSettings)
    service: ServiceSettings = Field(default_factory=ServiceSettings)
    hooks: Hooks = Field(default_factory=Hooks)
    harvest: Harvest = Field(default_factory=Harvest)
    by: Annotated[str, AfterValidator(_author_name)] | None = None  # of who writes; None: git's, empty: nobody's
    user_store: bool = True  # whether the user's own store is asked beside the project's
    governance: bool = False  # whether a write is refused on a branch that it does not belong on
    ignored: tuple[str, ...] = ()  # what a project asked for and may not have
    wrong: tuple[WrongSetting, ...] = ()  # what is left out of files and the environment


def load_settings(
    project: Path | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
    environment: Mapping[str, Any] | None = None,
) -> Settings:
    """
    Return the settings that hold for a store.

    Args:
        project: the store's ``config.toml``; it may be missing.
        options: values that win over all others, by section and key.
        environment: what ``from_environment`` returned earlier; None to read the environment now.

    Raises:
        BadInput: an option is invalid.
    """
    values, _, ignored, wrong = gathered(project, options, environment)
    return _validated({**values, "ignored": ignored, "wrong": wrong})


def gathered(
    project: Path | None,
    options: Mapping[str, Mapping[str, object]] | None = None,
    environment: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, str], tuple[str, ...], tuple[WrongSetting, ...]]:
    """
    Return the values that are not the defaults by section and key, and what gave each by its name.

    Then what of the project has no effect, and what is wrong in files and the environment.

    Args:
        project, options, environment: as ``load_settings`` takes them.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    ignored: list[str] = []
    wrong: list[WrongSetting] = []

    def lay(found: Mapping[str, Any], origin: Callable[[str], str]) -> None:
        for section, keys in found.items():
            # Who names another model does not mean one behind the same address.
            if section == "embedding" and isinstance(keys, Mapping) and "model" in keys and section in values:
                values[section] = {key: one for key, one in values[section].items() if key not in ADDRESS}
            values[section] = {**values.get(section, {}), **keys} if isinstance(keys, Mapping) else keys
        origins.update((name, origin(name)) for name in _names_of(found))

    if user_config().is_file():
        found, bad = _read_leniently(user_config(), _user_bytes)
        wrong += bad or _without_wrong(found, str(user_config()))
        lay(found, lambda name: str(user_config()))
    if project is not None and safe_files.is_file(project):
        found, bad = _read_leniently(project, lambda: _project_bytes(project))
        bad = bad or _without_wrong(found, str(project))
        wrong += (one.model_copy(update={"is_of_project": True}) for one in bad)
        ignored = [*_without_untrusted(project, found), *_without_raises(found, _validated(values))]
        lay(found, lambda name: str(project))
    given = {
        name: dict(found) if isinstance(found, Mapping) else found
        for name, found in (from_environment() if environment is None else environment).items()
    }
    wrong += _without_wrong(given, ENVIRONMENT)
    lay(given, variable_of)
    lay(options or {}, lambda name: f"--{name.partition('.')[2].replace('_', '-')}")
    return values, {name: origins[name] for name in _names_of(values)}, tuple(ignored), tuple(wrong)


def _names_of(found: Mapping[str, Any]) -> list[str]:
    """Return the names of settings, such as ``retrieval.known``."""
    return [
        name
        for section, keys in found.items()
        for name in ([f"{section}.{key}" for key in keys] if isinstance(keys, Mapping) else [section])
    ]


def variable_of(name: str) -> str:
    """Return the variable of the environment that gives a setting."""
    return "GRAPHMEM_GRAPH" if name == "graph.url" else f"GRAPHMEM_{name.replace('.', '_').upper()}"


def settings_stamp(project: Path) -> tuple[tuple[int, int, int] | None, ...]:
    """Return what changes when one of the files changes that settings come from."""
    found: list[tuple[int, int, int] | None] = []
    for path in (project, user_config(), trust_file()):
        try:
            stat = os.lstat(path)
        except OSError:
            found.append(None)
        else:
            found.append((stat.st_size, stat.st_mtime_ns, stat.st_ino))
    return tuple(found)


def _project_bytes(project: Path) -> bytes:
    """Return the beginning of a project's config file: one byte more than such a file may have."""
    with safe_files.opened(project) as file:
        return file.read(CONFIG_BYTES + 1)


def _user_bytes() -> bytes:
    """Return the beginning of the user's config file, as of a project's."""
    with user_config().open("rb") as file:
        return file.read(CONFIG_BYTES + 1)


def _read_leniently(path: Path, read: Callable[[], bytes]) -> tuple[dict[str, Any], list[WrongSetting]]:
    """Return the content of a config file, or nothing and what is wrong with it."""
    try:
        found = _parsed_toml(path, read())
    except BadInput as error:
        return {}, [WrongSetting(where=str(path), name="", message=error.message, expected=error.hint or "")]
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror})"
        return {}, [WrongSetting(where=str(path), name="", message=message, expected="a file that this user may read")]
    return found, []


def _without_wrong(found: dict[str, Any], where: str) -> list[WrongSetting]:
    """
    Take out of settings what is unknown or has no valid value; return the first of these, and how many more.

    With very many nothing is left.
    """
    wrong: list[WrongSetting] = []
    for section, keys in [*found.items()]:
        is_whole = section in TOP_LEVEL or section not in sections() or not isinstance(keys, Mapping)
        for key in ("",) if is_whole else [*keys]:
            name = f"{section}.{key}" if key else section
            part = {section: {key: keys[key]} if key else keys}
            try:
                _refuse_unknown(part, where)
                _validated(part, where)
            except BadInput as error:
                if len(wrong) == MOST_LOOKED_UP:
                    found.clear()
                    message = f"{where} has more than {MOST_LOOKED_UP} wrong settings, and none of it counts"
                    return [WrongSetting(where=where, name="", message=message, expected="settings that there are")]
                wrong.append(_left_out(name, where, error))
                _taken_out(found, name) if key else found.pop(section)
    wrong.sort(key=lambda one: not one.decides_what_is_stored)
    if len(wrong) > MOST_WRONG:
        last = wrong[MOST_WRONG - 1]
        more = f"{last.message} (and {len(wrong) - MOST_WRONG:,} more)"
        wrong = [*wrong[: MOST_WRONG - 1], last.model_copy(update={"message": more})]
    return wrong


def _left_out(name: str, where: str, error: BadInput) -> WrongSetting:
    """Return what is wrong with a setting; of the environment, by the names of variables."""
    nearest = name if name in sections() else _nearest_of(name)
    message, expected = error.message, error.hint or ""
    if where == ENVIRONMENT:
        where = variable_of(name)
        message = message.replace(f"setting {name!r} in {ENVIRONMENT}", where)
        expected = expected.replace(f"did you mean {nearest}?", f"did you mean {variable_of(nearest)}?")
    return WrongSetting(where=where, name=nearest or name, message=message, expected=expected)


def _nearest_of(name: str) -> str:
    """Return the setting that was probably meant by an unknown name; empty where none is near."""
    known = [*TOP_LEVEL, *(f"{section}.{key}" for section, model in sections().items() for key in model.model_fields)]
    return next(iter(difflib.get_close_matches(name[:SHOWN], known, n=1)), "")


def _without_untrusted(project: Path, found: dict[str, Any]) -> list[str]:
    """Take settings out that need the trust of this user and do not have it; return a line for each."""
    asked = asked_for(found)
    why = untrusted(project, asked) if asked else None
    return [f"{name} = {_shown(_taken_out(found, name))} of the project; {why}" for name in asked if why]


def _without_raises(found: dict[str, Any], bounds: Settings) -> list[str]:
    """Take settings of a project out that are above what holds without it; return a line for each."""
    lines = []
    for name in BOUNDS:
        section, _, key = name.partition(".")
        keys, bound = found.get(section), getattr(getattr(bounds, section), key)
        value = keys.get(key) if isinstance(keys, Mapping) else None
        if value is not None and not (isinstance(value, int | float) and value <= bound):
            _taken_out(found, name)
            lines.append(f"{name} = {_shown(value)} of the project, which may lower it from {bound:g} and not raise it")
    if found.pop("by", None) is not None:
        lines.append("by of the project, which cannot say who its users are: it belongs in the user's own config file")
    for name in ("graph", "stores"):
        if found.pop(name, None) is not None:
            lines.append(f"{name} of the project, which cannot name servers: it belongs in the user's own config file")
    if found.get("user_store") not in (None, False) and not bounds.user_store:
        del found["user_store"]
        lines.append("user_store of the project, which may turn it off and not on")
    return lines


def _taken_out(found: dict[str, Any], name: str) -> object:
    """Take a setting out, and return its value."""
    section, _, key = name.partition(".")
    return found[section].pop(key)


def _shown(value: object) -> str:
    """Return a value of a file for a message, whatever its size."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of more digits than Python prints
        return "a value too large to be shown"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def needs_trust(project: Path) -> dict[str, Asked]:
    """Return the settings of a project's config file that count only when it is trusted, by section and key."""
    return asked_for(_parsed_toml(project, _project_bytes(project))) if safe_files.is_file(project) else {}


def read_toml(path: Path, data: bytes) -> dict[str, Any]:
    """Return the content of a config file whose keys are all known."""
    found = _parsed_toml(path, data)
    _refuse_unknown(found, str(path))
    return found


def _parsed_toml(path: Path, data: bytes) -> dict[str, Any]:
    """Return the content of a config file, or raise ``BadInput`` where it is not TOML, or too long."""
    hint = "it holds [sections] of TOML, such as [retrieval] with known = 0.5"
    if len(data) > CONFIG_BYTES:
        raise BadInput(f"{path} has more than {CONFIG_BYTES:,} bytes", hint=hint)
    try:
        return foreign.toml(data.decode("utf-8-sig"))
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise BadInput(f"{path} is not TOML: {str(error)[:200]}", hint=hint) from None


def _refuse_unknown(found: Mapping[str, Any], where: str) -> None:
    """Raise ``BadInput`` for a section or key that no setting has."""
    for section, keys in found.items():
        field = Settings.model_fields.get(section)
        if field is None or section in OWN:
            raise unknown(section, [name for name in Settings.model_fields if name not in OWN], where)
        if section in TOP_LEVEL:
            continue
        known = list(sections()[section].model_fields)
        if not isinstance(keys, Mapping):
            raise BadInput(
                f"{section!r} in {where} is not a section", hint=f"write it as [{section}] with its keys below"
            )
        for key in keys:
            if key not in known:
                raise unknown(f"{section}.{key}", [f"{section}.{name}" for name in known], where)


def sections() -> dict[str, type[SettingsSection]]:
    """Return the model of each section of the settings."""
    fields = {name: field.annotation for name, field in Settings.model_fields.items()}
    return {name: of for name, of in fields.items() if isinstance(of, type) and issubclass(of, SettingsSection)}


def unknown(name: str, known: list[str], where: str) -> BadInput:
    """Report that a key is unknown, and which one was meant."""
    name = name[:SHOWN]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
    return BadInput(f"setting {name!r} in {where} is unknown", hint=hint)


def from_environment() -> dict[str, Any]:
    """Return the settings that ``GRAPHMEM_<SECTION>_<KEY>`` name; other variables belong to other programs."""
    found: dict[str, Any] = {}
    if (by := variables().get("GRAPHMEM_BY")) is not None:
        found["by"] = by
    if (url := variables().get("GRAPHMEM_GRAPH")) is not None:
        found["graph"] = {"url": url}
    for section in sections():
        prefix = f"GRAPHMEM_{section.upper()}_"
        for variable, value in variables().items():
            if variable.startswith(prefix) and variable not in (KEY_VARIABLE, GRAPH_PASSWORD):
                found.setdefault(section, {})[variable.removeprefix(prefix).lower()] = value
    return found


def graph_password() -> str:
    """Return the password for the server of graphs, which only the environment has; empty for none."""
    return variables().get(GRAPH_PASSWORD, "")


def endpoint_key() -> str:
    """Return the key for the endpoint, which only the environment has; empty for none."""
    key = variables().get(KEY_VARIABLE, "").strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise Unavailable(f"{KEY_VARIABLE} has characters that no key has")
    return key


def _validated(values: Mapping[str, Any], where: str = "") -> Settings:
    """Return the settings, or raise an error that names the invalid value, and the place that it comes from."""
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        place = f" in {where}" if where else ""
        raise BadInput(
            f"setting {name!r}{place} is {_shown(first['input'])}",
            hint=first["msg"].removeprefix("Value error, ").removeprefix("Input should be "),
        ) from None
