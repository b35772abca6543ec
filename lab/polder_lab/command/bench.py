"""polder bench: experiments that are kept, with many subjects."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.table import Table

from polder_lab import campaign, journal, machine, overview, place, self_test, table
from polder_lab import heap as heaps_of
from polder_lab import suite as suites
from polder_lab.campaign import MODES, Recorder, Settings
from polder_lab.command.shared import Amount, Commands, brief, build_option, forget_inherited, say, terminal, thread_counts, words
from polder_lab.complaint import Complaint, unknown
from polder_lab.experiment import Experiment
from polder_lab.instrument import PASSES, TIME, instruments
from polder_lab.launch import Launcher, build_launcher
from polder_lab.outcome import Outcome
from polder_lab.place import Place
from polder_lab.program import PROGRAMS
from polder_lab.progress import Bar
from polder_lab.report import units
from polder_lab.workload import listed

# What a continued experiment can still be told; the rest its file says.
WITH_RESUME = {"resume", "name", "out", "build", "rounds", "minutes", "until"}


@click.group("bench", cls=Commands, modules={"report": "report:report"})
def bench() -> None:
    """The laboratory: workloads and programs under many heaps, kept for the report."""


@bench.command("list")
@click.option("--json", "as_json", is_flag=True)
@build_option
def list_rows(as_json: bool, build: Path | None) -> None:
    """The workloads with their presets, the programs, the suites, and the subjects."""
    where = place.find(build.resolve() if build else None)
    if not where.bench.exists():
        raise Complaint(f"the workloads are not built: {where.bench} is missing")
    workloads = listed(where)
    if as_json:
        told = {"workloads": [{"name": w.name, "title": w.title, "group": w.group, "paper": w.paper, "what": w.what, "shows": w.shows,
                               "parameters": w.parameters, "presets": w.presets} for w in workloads],
                "programs": [{"name": p.name, "what": p.summary, "package": p.package, "present": p.executable() is not None}
                             for p in PROGRAMS],
                "subjects": [h.as_json() for h in heaps_of.catalogue(where)],
                "suites": [{"name": s.name, "title": s.title, "what": s.what, "over": s.over} for s in suites.ALL]}
        sys.stdout.write(json.dumps(told, indent=1) + "\n")
        return
    grid = Table(box=None, pad_edge=False, header_style="dim")
    grid.add_column("row", no_wrap=True)
    grid.add_column("what it is")
    grid.add_column("presets")
    for w in workloads:
        grid.add_row(w.name, w.what, " ".join(w.presets))
    for p in PROGRAMS:
        there = p.executable() is not None
        grid.add_row(p.name, p.summary + ("" if there else f" (apt-get install {p.package})"), "", style=None if there else "dim")
    terminal().print(grid)
    for suite in suites.ALL:
        terminal().print(f"\n--suite {suite.name}: {suite.what}, over {suite.over}", soft_wrap=True)
    found = heaps_of.catalogue(where)
    terminal().print("\nsubjects: " + ", ".join(h.name for h in found if h.present), soft_wrap=True)
    if missing := [h.name for h in found if not h.present]:
        terminal().print("missing: " + ", ".join(missing) + "  (./polder list heaps says why)", style="dim", soft_wrap=True)


@bench.command("run")
@click.option("--quick", is_flag=True, help="Under ten minutes: small parameters, 2 threads, few rounds, at most six rivals.")
@click.option("--full", is_flag=True, help="Over night: the papers' presets as well, 1, 2, 8 and 32 threads, up to 20 rounds.")
@click.option("--suite", default="", metavar="NAME", help="Rows that are compared with each other, instead of all workloads and programs.")
@click.option("--heaps", default="", metavar="A,B", help="Names or .so paths.  [default: all that are present, no sheets]")
@click.option("--only", multiple=True, metavar="PATTERN", help="Rows: part of a name, or * ?; larson/8, larson:scalloc.")
@click.option("--threads", default="", metavar="1,2,8", help="Thread counts of the workloads.")
@click.option("--preset", metavar="NAME", help="The workloads that have this preset, with it.")
@click.option("--rounds", type=click.IntRange(min=1), help="How often.  [default: as many as fit]")
@click.option("--minutes", type=Amount(min=0, min_open=True), help="How long; kept to.  [default: 9.2, 60, 540]")
@click.option("--until", metavar="2%",
              help="A row is done when the intervals of all its ratios are this tight, to either side. Not with rows against rows.")
@click.option("--pass", "passes", default="", metavar="A,B", help=f"Of {', '.join(PASSES)}.  [default: time,latency,memory]")
@click.option("--limit", type=Amount(min=0, min_open=True), metavar="SECONDS", help="When a run counts as hanging.")
@click.option("--seed", type=int, help="Of the random order and of the workloads.  [default: by the clock]")
@click.option("--name", metavar="NAME", help="Of the file of records.  [default: the date]")
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Where it goes.  [default: results]")
@click.option("--resume", is_flag=True, help="Continue an interrupted experiment: the newest, or --name.")
@build_option
@click.pass_context
def run_command(context: click.Context, /, name: str | None, out: Path | None, resume: bool, build: Path | None, **asked: Any) -> None:
    """Measure every row under every heap, and keep every repetition."""
    inherited = forget_inherited()
    where = place.find(build.resolve() if build else None)
    folder = (out or where.results).resolve()
    records: list[journal.Record] = []
    if resume:
        given = {n for n in context.params if context.get_parameter_source(n) is ParameterSource.COMMANDLINE}
        if extra := sorted(given - WITH_RESUME):
            option = "pass" if extra[0] == "passes" else extra[0]
            raise Complaint(f"--resume goes on as the experiment began: --{option} does not go with it")
        file = folder / f"{name}{journal.SUFFIX}" if name else journal.newest(folder)
        records = journal.read(file)
        settings = continued(campaign.settings_of(records[0]), asked)
    else:
        settings = chosen(asked)
        said = [settings.suite, "" if settings.mode == "usual" else settings.mode]
        name = name or "-".join([datetime.now().strftime("%Y-%m-%d-%H%M%S"), *(word for word in said if word)])
        file = folder / f"{name}{journal.SUFFIX}"
        if "/" in name or file.exists():
            raise Complaint(f"there is {file} already: --resume continues it, or take another --name" if "/" not in name
                            else f"--name is a file's name, not '{name}'; --out says where it goes")
    if inherited:
        say(f"not handed on to what is measured: {', '.join(inherited)}", "yellow")
    outcome = conduct(settings, records, file, where)
    show(outcome, file, where, settings)
    sys.exit(130 if outcome.interrupted else 0)


def chosen(asked: dict[str, Any]) -> Settings:
    if asked["quick"] and asked["full"]:
        raise Complaint("--quick or --full, not both")
    name = "quick" if asked["quick"] else "full" if asked["full"] else "usual"
    mode, suite = MODES[name], suites.find(asked["suite"]) if asked["suite"] else None
    if suite is not None and asked["preset"] is not None:
        raise Complaint(f"--preset does not go with --suite: {suite.name} says the parameters of its rows")
    size = suite.sizes[name] if suite else None
    passes = words(asked["passes"]) or list(suite.passes if suite else mode.passes)
    for one in passes:
        if one not in PASSES:
            raise unknown("pass", one, PASSES)
    punctual = name == "quick" or asked["minutes"] is not None
    return Settings(mode=name, heaps=words(asked["heaps"]), only=[p for text in asked["only"] for p in words(text)],
                    threads=thread_counts(asked["threads"]) if asked["threads"] else list(size.threads if size else mode.threads),
                    preset=asked["preset"], suite=asked["suite"],
                    passes=[p for p in PASSES if p in passes], seed=time.time_ns() % 2**31 if asked["seed"] is None else asked["seed"],
                    rounds=asked["rounds"], minutes=asked["minutes"] or (size or mode).minutes, punctual=punctual,
                    until=tightness(asked["until"], asked["suite"]), limit=asked["limit"] or mode.limit)


def continued(settings: Settings, asked: dict[str, Any]) -> Settings:
    if asked["rounds"] is not None:
        settings = replace(settings, rounds=asked["rounds"])
    if asked["minutes"] is not None:
        settings = replace(settings, minutes=asked["minutes"], punctual=True)
    return replace(settings, until=tightness(asked["until"], settings.suite)) if asked["until"] else settings


def tightness(text: str | None, suite: str) -> float:
    """Rows end by their ratios to the system's malloc. Rows that are compared with each other say nothing by those, and one that
    ended early would take its rounds from all that are set against it."""
    if text is None:
        return 0
    if suite and isinstance(suites.find(suite), suites.Suite):
        raise Complaint(f"--until does not go with --suite {suite}: its rows are compared with each other, and one would end first")
    try:
        value = float(text.removesuffix("%")) / 100
    except ValueError:
        value = 0
    if not 0 < value < 1:
        raise Complaint(f"--until wants a share such as 2%, not '{text}'")
    return value


def conduct(settings: Settings, records: list[journal.Record], file: Path, where: Place) -> Outcome:
    heaps, absent = campaign.subjects(settings, where)
    with tempfile.TemporaryDirectory(prefix="polder-bench-") as scratch_name:
        scratch = Path(scratch_name)
        selection = campaign.rows_of(settings, where, scratch)
        rows = selection.rows
        if records:
            known = {s["name"] for s in records[0]["subjects"]}, {r["id"] for r in records[0]["rows"]}
            heaps, rows = [h for h in heaps if h.name in known[0]], [r for r in rows if r.id in known[1]]
            campaign.unchanged(records[0], heaps, rows, where)
        usable, unusable = instruments(settings.passes, rows, where, campaign.repeats_of(settings))
        if not usable:
            raise Complaint("no pass is possible:" + "".join(f"\n  {name}: {why}" for name, why in unusable.items()))
        launcher = Launcher(build_launcher(where.own), folder_in(scratch, "runs"))
        first = {} if records else campaign.experiment_record(file.stem, settings, where, heaps, selection)
        opened = journal.Journal(file, again=True) if records else journal.begin(file, first)
        with closing(opened) as kept, Bar(Console(stderr=True)) as bar:
            seen = frozenset(r["what"] for r in records if r["record"] == "absent")
            recorder = Recorder(kept, campaign.before(records), scratch, bar.warn, seen)
            for line in [*absent, *selection.left_out, *(f"the pass {name}: {why}" for name, why in unusable.items())]:
                recorder.absent(*line.split(": ", 1))
            outcome = Experiment(rows, heaps, settings.terms, launcher, bar, instruments=usable, keeper=recorder,
                                 earlier=campaign.earlier(records), harness=where.harness).run()
            recorder.end(outcome.interrupted)
    return outcome


def folder_in(scratch: Path, name: str) -> Path:
    (scratch / name).mkdir()
    return scratch / name


def show_comparisons(file: Path, console: Console) -> None:
    from polder_lab.report import compared_text  # here, since the report takes longer to load than the other commands to run

    compared_text.show(file, console)


def show_against_peers(file: Path, console: Console) -> None:
    from polder_lab.report import peers_text  # as above

    peers_text.show(file, console)


def show(outcome: Outcome, file: Path, where: Place, settings: Settings) -> None:
    console, suite = terminal(), settings.suite
    if outcome.rows and any(cell.runs for result in outcome.rows for cell in result.cells.values()):
        if not suite:
            overview.show(outcome, console)
        elif isinstance(suites.find(suite), suites.Field):
            show_against_peers(file, console)
        else:
            show_comparisons(file, console)
    elif TIME.name not in settings.passes:
        console.print("No table: the pass time was not asked for. The report has what the others found.", soft_wrap=True)
    for title, heap, trouble in outcome.troubles:
        console.print(f"FAILED    {title} under {heap} {trouble}", style="bold red", markup=False, soft_wrap=True)
    if outcome.interrupted:
        console.print("Interrupted: --resume continues it.", style="yellow")
    console.print(brief(machine.describe(where)), style="dim", markup=False, soft_wrap=True)
    console.print(f"\n{file}   ({units.several(outcome.rounds, 'round')}, {outcome.seconds / 60:.1f} minutes)\nnext: ./polder bench report",
                  soft_wrap=True)


@bench.command("export")
@click.argument("records", type=click.Path(path_type=Path), required=False, metavar="[RECORDS]")
@click.option("--csv", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--parquet", type=click.Path(path_type=Path), metavar="FILE")
@build_option
def export_command(records: Path | None, csv: Path | None, parquet: Path | None, build: Path | None) -> None:
    """Every repetition as a line of a table, of the newest experiment or of the file RECORDS."""
    from polder_lab import export  # here, since polars takes longer to load than the other commands to run

    if csv is None and parquet is None:
        raise Complaint("export as what? --csv FILE or --parquet FILE")
    lines = export.frame(journal.read(records or journal.newest(place.find(build).results)))
    for kind, file in (("--csv", csv), ("--parquet", parquet)):
        if file is None:
            continue
        if not file.resolve().parent.is_dir():
            raise Complaint(f"{kind}: there is no folder {file.resolve().parent}")
        try:
            lines.write_csv(file) if kind == "--csv" else lines.write_parquet(file)
        except (OSError, export.Unwritable) as why:
            raise Complaint(f"{kind}: cannot write {file}: {why}") from why
        say(f"{file}: {lines.height} repetitions, {lines.width} columns")


@bench.command("check")
@click.option("--rounds", type=click.IntRange(min=6), default=12, show_default=True)
@click.option("--heap", default="polder", show_default=True, metavar="NAME", help="Measured against itself; a name or a .so path.")
@click.option("--seed", type=int, help="Of the random order.  [default: by the clock]")
@build_option
def check_command(rounds: int, heap: str, seed: int | None, build: Path | None) -> None:
    """Does the laboratory measure the heaps, and not itself? What the harness costs, and one library against itself."""
    forget_inherited()
    where = place.find(build.resolve() if build else None)
    if not where.bench.exists():
        raise Complaint(f"the workloads are not built: {where.bench} is missing")
    one = heaps_of.find(heap, where)
    if not one.present:
        raise Complaint(f"{heap} is not there: {one.library}")
    seed = time.time_ns() % 2**31 if seed is None else seed
    quiet = machine.Quiet()
    with tempfile.TemporaryDirectory(prefix="polder-check-") as scratch, Bar(Console(stderr=True)) as bar:
        launcher = Launcher(build_launcher(where.own), Path(scratch))
        found = self_test.costs(where, launcher, rounds, random.Random(seed), bar)
        compared = self_test.a_against_a(where, launcher, one, rounds, seed, bar)
    console = terminal()
    for cost in found:
        console.print(f"{cost.what}: {percent(cost.ratio.value)} ({percent(cost.ratio.low)} … {percent(cost.ratio.high)}) of a run, "
                      f"its own processor time {cost.own_share:.2%}: {cost.verdict}", soft_wrap=True)
    for twin in compared.rows:
        second = f"; once more {twin.again.value:.3f}  {table.span(twin.again)}" if twin.again else ""
        excludes = f"  excludes 1{second}" if self_test.differs(twin.ratio) else ""
        console.print(f"  {twin.title:<36} {twin.ratio.value:.3f}  {table.span(twin.ratio)}{excludes}", soft_wrap=True)
    most = f"more than {self_test.AA_EXCLUDED} of {self_test.AA_ROWS} is too many"
    console.print(f"A/A, {one.name} against itself: {compared.first} of {len(compared.rows)} intervals exclude 1.0"
                  + (f", {compared.differing} of them again" if len(compared.outcomes) > 1 else "")
                  + ("" if compared.well else f": {most}"), soft_wrap=True)
    console.print(f"others used {quiet.others_share():.0%} of the machine meanwhile; {units.several(rounds, 'round')}, seed {seed}",
                  style="dim")
    troubles = [trouble for outcome in compared.outcomes for trouble in outcome.troubles]
    for title, name, trouble in troubles:
        console.print(f"FAILED    {title} under {name} {trouble}", style="bold red", markup=False, soft_wrap=True)
    bad = troubles or not compared.well or any(cost.verdict.startswith("ABOVE") for cost in found)
    sys.exit(130 if any(outcome.interrupted for outcome in compared.outcomes) else 1 if bad else 0)


def percent(value: float | None) -> str:
    return "?" if value is None else f"{(value - 1) * 100:+.2f} %"
