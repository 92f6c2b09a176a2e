"""Study: the Optuna study that a search keeps its candidates in: a SQLite file, or any database that SQLAlchemy knows.

A trial is written once it is finished, in one transaction, and never before. So a search that is killed loses what it
was at and nothing else, and leaves no trial behind that seems to be running. A file is made under another name first:
it either has its tables or is not there.

The study states what it is a search of; a search of anything else is refused.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from sparsegen.errors import DataError, OptionError, SparsegenError, ToolError
from sparsegen.files import write_atomic
from sparsegen.files.places import require_regular
from sparsegen.search.metrics import Metric
from sparsegen.search.record import FAILED, FINISHED, STOPPED, Record

if TYPE_CHECKING:
    import optuna

NAME = "sparsegen"
ABOUT, OWNER, TESTED = "sparsegen", "sparsegen owner", "sparsegen tested"
"""User attributes of the study: what it is a search of, which run of the command began last, and which candidates the
test rows have judged."""
SQLITE_HEADER = b"SQLite format 3\0"
SECONDS_TO_WAIT = 60
"""For others that write to the same file."""
RELATIONAL = ("sqlite", "postgresql", "mysql", "mariadb", "oracle", "mssql", "cockroachdb")


class Study:
    """The candidates of one search."""

    def __init__(self, study: optuna.Study, metric: Metric, n_features: int, place: str) -> None:
        self._study, self._metric, self._n_features, self._place = study, metric, n_features, place
        self._known: dict[int, Record] = {}

    def records(self) -> list[Record]:
        """Return what is known, by number."""
        for trial in _guarded(self._place, lambda: self._study.get_trials(deepcopy=False)):
            if trial.state.is_finished() and trial.number not in self._known:
                self._known[trial.number] = Record.of_trial(
                    trial.number, trial.params, trial.distributions, trial.user_attrs, self._n_features
                )
        return [self._known[number] for number in sorted(self._known)]

    def add(self, record: Record) -> None:
        """Keep a candidate: all of it or, where this is killed, nothing."""
        import optuna

        states = optuna.trial.TrialState
        state = {FINISHED: states.COMPLETE, STOPPED: states.PRUNED, FAILED: states.FAIL}[record.state]
        values = None if record.score is None else [record.score, float(record.flash), record.time]
        trial = optuna.trial.create_trial(
            state=state,
            values=values,
            params=dict(record.draws),
            distributions=dict(record.distributions),
            user_attrs=record.attributes(),
        )
        _guarded(self._place, lambda: self._study.add_trial(trial))

    @property
    def owner(self) -> object:
        """Which run of the command began last."""
        return _guarded(self._place, lambda: self._study.user_attrs.get(OWNER))

    def own(self, run: str) -> None:
        """State that a run begins."""
        _guarded(self._place, lambda: self._study.set_user_attr(OWNER, run))

    def note_test(self, number: int) -> int:
        """State that the test rows have judged a candidate; return how many different ones they have by now."""
        known = _guarded(self._place, lambda: self._study.user_attrs.get(TESTED, []))
        if not isinstance(known, list) or not all(type(one) is int for one in known):
            raise DataError(f"{self._place} does not say what was tested, or is damaged; name another place")
        if number not in known:
            known = [*known, number]
            _guarded(self._place, lambda: self._study.set_user_attr(TESTED, known))
        return len(set(known))


def require_optuna() -> None:
    """Raise an error that says what to install where Optuna is missing."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise ToolError("a search needs Optuna; install it with: pip install 'sparsegen[search]'") from None


@contextmanager
def quietly() -> Iterator[None]:
    """Keep Optuna's log of every trial to itself inside the block."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def open_study(
    place: str | Path | None,
    about: Mapping[str, Any],
    metric: Metric,
    n_features: int,
    *,
    by_content: bool = False,
    is_known: bool = False,
) -> Study:
    """Return the study at a place, a new one where there is none; ``None`` keeps it in memory.

    ``about`` says what it is a search of. With ``by_content`` a place may hold the studies of several searches. A study
    that ``is_known`` must be there.
    """
    import optuna

    name = f"{NAME} {_digest(about)}" if by_content else NAME
    wanted = optuna.study.StudyDirection
    directions = [wanted.MAXIMIZE if metric.larger_is_better else wanted.MINIMIZE, wanted.MINIMIZE, wanted.MINIMIZE]
    if place is None:
        study = optuna.create_study(study_name=name, directions=directions)
        return Study(study, metric, n_features, "memory")
    url = str(place)
    shown = masked(url)
    if "://" not in url:
        path = Path(place)
        shown = str(path)
        if is_known and not path.exists():
            raise OptionError(f"there is no study {shown}; search before you pick, or name the study")
        _require_file(path)
        url = _sqlite_url(path)
    elif _split(url).scheme.partition("+")[0] not in RELATIONAL:
        raise OptionError(
            f"the study {shown} is of a kind that is not kept in tables; name a file, or a database such as "
            "postgresql://host/name"
        )

    def opened() -> optuna.Study:
        settings: dict[str, Any] = {"pool_pre_ping": True}
        if url.startswith("sqlite"):
            settings = {"connect_args": {"timeout": SECONDS_TO_WAIT}}
        storage = optuna.storages.RDBStorage(url, engine_kwargs=settings)
        found = optuna.create_study(storage=storage, study_name=name, directions=directions, load_if_exists=True)
        if ABOUT not in found.user_attrs:
            found.set_user_attr(ABOUT, dict(about))
            found.set_metric_names([metric.name, "flash", "time"])
        return found

    study = _guarded(shown, opened)
    _require_same(study.user_attrs.get(ABOUT), about, shown)
    return Study(study, metric, n_features, shown)


def masked(url: str) -> str:
    """Return a URL without what may be secret: the password, and whatever follows a question mark."""
    parts = _split(url)
    if not parts.scheme:
        return url
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # a bracket that is not closed, for one; what follows it may be secret
        raise OptionError("the place of the study is no file and no URL; write it as postgresql://host/name") from None


def _digest(about: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]


def _sqlite_url(path: Path) -> str:
    from sqlalchemy.engine import URL

    return URL.create("sqlite", database=str(path.absolute())).render_as_string(hide_password=False)


def _require_file(path: Path) -> None:
    """Raise an error where a file is no study; where there is none, make one at once."""
    import optuna

    try:
        if not path.exists():
            with tempfile.TemporaryDirectory(prefix="sparsegen-") as folder:
                fresh = Path(folder) / "study.db"
                storage = optuna.storages.RDBStorage(_sqlite_url(fresh))
                storage.engine.dispose()
                content = fresh.read_bytes()
            with suppress(OptionError):  # another search was quicker
                write_atomic(path, content, ours=lambda beginning: False)
        require_regular(path)
        with path.open("rb") as file:
            header = file.read(len(SQLITE_HEADER))
    except OSError as error:
        raise OptionError(f"the study {path} cannot be used ({error.strerror or error}); name another place") from None
    if header != SQLITE_HEADER:
        raise DataError(f"{path} is no study of a search, or is damaged; name another file for the study")
    try:
        with closing(sqlite3.connect(path, timeout=SECONDS_TO_WAIT)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.Error as error:
        raise DataError(f"{path} is damaged ({str(error)[:80]}); name another file for the study") from None
    if "studies" not in tables or "trials" not in tables:
        raise DataError(f"{path} is a database, but holds no Optuna study; name another file for the study")


def _require_same(stored: object, about: Mapping[str, Any], shown: str) -> None:
    """Raise an error where a study is one of something else, which says of what."""
    if not isinstance(stored, dict):
        raise DataError(f"{shown} holds a study that sparsegen did not write; name another place for the study")
    wanted = json.loads(json.dumps(dict(about)))
    differing = [name for name in wanted if stored.get(name) != wanted[name]]
    if not differing:
        return
    name = differing[0]
    before, now = (" ".join(json.dumps(one.get(name)).split())[:40] for one in (stored, wanted))
    told = "of other rows" if name in ("data", "test data") else f"with {name} {before}, not {now}"
    raise DataError(f"{shown} holds a search {told}; name another place for the study, or search as before")


def _guarded(shown: str, work: Any) -> Any:
    """Return what a storage gives; whatever goes wrong in it becomes one sentence, without what the URL hides."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that names of metrics are experimental, and SQLAlchemy's of a URL
            return work()
    except ImportError as error:
        driver = error.name or "of its kind of database"
        raise OptionError(f"the study {shown} needs a driver that is not installed: {driver}") from None
    except SparsegenError:
        raise
    except Exception as error:  # Optuna and SQLAlchemy raise a dozen types on what anybody may have put into a database
        kind = type(getattr(error, "orig", None) or error).__name__
        raise DataError(
            f"the study {shown} cannot be used ({kind}): it is damaged, of another version of Optuna, or out of reach; "
            "name another place for the study"
        ) from None
