"""``sparsegen search``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import progress_bars, say
from sparsegen.cli.found import print_found
from sparsegen.cli.limits import parse_limits
from sparsegen.cli.options import (
    DataFile,
    DroppedColumns,
    Force,
    GroupColumn,
    Json,
    KeptColumns,
    LabelColumn,
    Missing,
    Quiet,
    Verbose,
    column_names,
    exclude,
)
from sparsegen.errors import DataError, OptionError

if TYPE_CHECKING:
    from sparsegen.search.find import Found

STUDY_SUFFIX = ".study.db"
BUDGET_FLAGS = ("--flash", "--ram", "--latency")


@app.command()
def search(
    data_file: DataFile,
    label: LabelColumn = None,
    group: GroupColumn = None,
    features: KeptColumns = None,
    drop: DroppedColumns = None,
    missing: Missing = "error",
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Device to run on; see: sparsegen list devices.")
    ] = None,
    part: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead: a real part, such as stm32f103c8, with its memory.")
    ] = None,
    clock: Annotated[
        str | None, typer.Option(metavar="HZ", help="Clock, such as 72MHz.", show_default="the part's")
    ] = None,
    flash: Annotated[
        str | None, typer.Option(metavar="BYTES", help="Most flash, code included: 4K.", show_default="the part's")
    ] = None,
    ram: Annotated[
        str | None, typer.Option(metavar="BYTES", help="Most RAM, the input included: 256.", show_default="the part's")
    ] = None,
    latency: Annotated[
        str | None, typer.Option(metavar="TIME", help="Most time of a prediction: 1ms, 250us.", show_default=False)
    ] = None,
    metric: Annotated[
        str, typer.Option(metavar="accuracy|balanced|f1|logloss", help="What is to be good.")
    ] = "accuracy",
    time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How long the search may take in all: 90s, 10m, 1h.", show_default="10m"),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="How many candidates to try in all.", show_default="as many as there is time for")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes to train in.")] = 1,
    engine: Annotated[
        str | None, typer.Option(metavar="URL", help="Train on a Dask cluster instead: dask://host:8786.")
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Where the search is kept and goes on: a SQLite file, or a database that many machines share.",
            show_default="DATA.study.db beside the model",
        ),
    ] = None,
    pick: Annotated[
        int | None, typer.Option(metavar="N", help="Write this candidate of the study; search no further.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Methods to try.", show_default="slmc,spsvm")
    ] = None,
    kernels: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Kernels to try.", show_default="rbf,laplacian,linear")
    ] = None,
    dtypes: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Number formats to try.", show_default="all")
    ] = None,
    reads: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="f32|raw-int16|raw-uint8",
            help="What integer C may read.",
            show_default="f32, and raw integers where all values are such",
        ),
    ] = None,
    test_size: Annotated[
        float | None, typer.Option(help="Share of the rows that the search never sees.", show_default="0.25")
    ] = None,
    test_data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Test on this file instead.", show_default=False)
    ] = None,
    final: Annotated[
        bool, typer.Option("--final", help="After the test, train again on all rows; the accuracy is that before.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of split, training and search.")] = 0,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the model goes.")] = Path("best.safetensors"),
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw score, flash and time of all candidates.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="HTML", help="Write a page about the model and the front.")
    ] = None,
    force: Force = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Search for the best model within a budget of flash, RAM and time, and test it on rows the search never saw."""
    exclude("--features", features, "--drop", drop)
    exclude("--test-size", test_size, "--test-data", test_data)
    if device is None and part is None:
        raise OptionError("say what the model is for: --device, such as cortex-m3, or --part, such as stm32f103c8")
    limits = parse_limits(part, clock, flash, ram, latency, flags=BUDGET_FLAGS)
    (on,) = limits.devices(None if device is None else [device]) or ("",)

    from sparsegen import data
    from sparsegen.bench import part_of
    from sparsegen.budget.amounts import parse_seconds
    from sparsegen.devices import DEVICES
    from sparsegen.files import require_writable, write_atomic
    from sparsegen.search.find import find_best

    places = {"-o": output, "--plot": plot, "--report": report, "--study": _study_file(study)}
    wanted = {flag: path for flag, path in places.items() if path is not None}
    for flag, path in wanted.items():
        same = next(other for other, place in wanted.items() if place.absolute() == path.absolute())
        if same != flag:
            raise OptionError(f"{same} and {flag} are both {path}; name a file for each")
        if flag != "--study":
            require_writable(path, force=force)
    if report is not None:
        from sparsegen.report.vega import require_vega

        require_vega()
    share: dict[str, Any] = {} if test_size is None else {"test_size": test_size}
    seconds = None if time is None else parse_seconds(time)
    with progress_bars(), _told_what_trains_values():
        train_set, test_set = data.read_train_and_test(
            data_file,
            label,
            test_path=test_data,
            seed=seed,
            group=group,
            keep=column_names(features),
            drop=column_names(drop),
            missing=missing,
            **share,
        )
        found = find_best(
            train_set,
            test_set,
            device=on,
            budget=limits.budget,
            profile=part_of(DEVICES[on], limits.profile, limits.clock_hz),
            metric=metric,
            methods=_names("--methods", methods),
            kernels=_names("--kernels", kernels),
            dtypes=_names("--dtypes", dtypes),
            inputs=_names("--input", reads),
            seed=seed,
            seconds=seconds,
            trials=trials,
            jobs=jobs,
            engine=engine,
            study=output.with_name(data_file.stem + STUDY_SUFFIX) if study is None else study,
            study_by_content=study is None,
            pick=pick,
            final=final,
        )
        found.winner.model.save(output, force=force)
        if plot is not None:
            from sparsegen.search.plot import draw

            write_atomic(plot, draw(found.front), force=force)
        if report is not None:
            write_atomic(report, _page(found, data_file), force=force)
    print_found(found, output, as_json, verbose=verbose)
    for written, what in ((plot, "drawn in"), (report, "page in")):
        if written is not None and not as_json:
            say(f"{what} {written}")


@contextmanager
def _told_what_trains_values() -> Iterator[None]:
    """Name the command for labels that are measurements: a search has no option for them."""
    try:
        yield
    except DataError as error:
        task = error.change.pop("task", None)
        if task is None:
            raise
        raise DataError(f"{error}: sparsegen train --task {task}", change=error.change) from None


def _study_file(study: str | None) -> Path | None:
    """Return the file that a study is kept in; ``None`` where it is in a database or not named."""
    return None if study is None or "://" in study else Path(study)


def _page(found: Found, data_file: Path) -> bytes:
    """Return the page about what was found."""
    from sparsegen.report import report as make_page

    winner = found.winner
    return make_page(
        winner.report.tested,
        winner.test_set,
        train_set=winner.train_set,
        front=found.front,
        devices=[found.front.device],
        profile=winner.cost.profile,
        numbers=winner.candidate.format,
        pick_command=f"sparsegen search {shlex.quote(data_file.name)} ... --pick",
    )


def _names(flag: str, text: str | None) -> list[str] | None:
    """Return the names in a comma-separated list; ``None`` where there is none."""
    if text is None:
        return None
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise OptionError(f"{flag} names nothing; leave it out to try the usual ones")
    return names
