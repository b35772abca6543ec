"""Peers that are certainly not the best of a row leave its later rounds to the others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from polder_lab import campaign, experiment
from polder_lab.experiment import Earlier, Experiment, Keeper, Terms
from polder_lab.heap import SYSTEM, Heap
from polder_lab.instrument import TIME
from polder_lab.interval import FEWEST_ROUNDS
from polder_lab.launch import Launcher, Run
from polder_lab.outcome import Cell, RowOutcome, beaten
from polder_lab.row import Row

ROUNDS = 10
SECONDS = {SYSTEM.name: [1.0], "near": [0.9, 1.12], "far": [2.0], "mine": [3.0]}
HEAPS = [SYSTEM, Heap("near", "peer"), Heap("far", "peer"), Heap("mine", "polder")]


def run(seconds: float) -> Run:
    return Run(seconds, seconds, seconds, 0.0, 1 << 20, 100, 0, "")


def cell(seconds: list[float], rounds: int = ROUNDS, trouble: str = "") -> Cell:
    return Cell({number: run(seconds[number % len(seconds)]) for number in range(rounds)}, trouble)


def outcome(**others: Cell) -> RowOutcome:
    return RowOutcome(Row("one", "command", ("true",)), {**{name: cell(seconds) for name, seconds in SECONDS.items()}, **others})


PEERS = [heap.name for heap in HEAPS[:3]]


def test_who_is_certainly_behind_the_best_peer_is_beaten() -> None:
    assert beaten(outcome(), PEERS, ROUNDS) == {"far"}


def test_nobody_is_before_there_is_an_interval() -> None:
    assert beaten(outcome(), PEERS, FEWEST_ROUNDS - 1) == set()
    assert beaten(outcome(), PEERS, FEWEST_ROUNDS) == {"far"}


def test_who_failed_is_the_best_of_nothing() -> None:
    assert beaten(outcome(near=cell([0.1], trouble="crashes: SIGSEGV")), PEERS, ROUNDS) == {"far"}
    assert beaten(outcome(near=cell([0.1])), PEERS, ROUNDS) == {SYSTEM.name, "far"}


class Kept(Keeper):
    def __init__(self) -> None:
        self.runs: list[tuple[int, str]] = []

    def ran(self, instrument: str, number: int, row: Row, heap: Heap, run: Run) -> None:
        self.runs.append((number, heap.name))


class Silent:
    def phase(self, text: str) -> None: ...

    def step(self, what: str, done: float, left: float) -> None: ...


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs take no time, and the time that they tell is that of SECONDS."""
    counts: dict[str, int] = {}

    def launch(self: Experiment, row: Row, heap: Heap, *rest: Any) -> Run:
        count = counts[heap.name] = counts.get(heap.name, -1) + 1
        return run(SECONDS[heap.name][count % len(SECONDS[heap.name])])

    monkeypatch.setattr(Experiment, "launch", launch)
    monkeypatch.setattr(Experiment, "warm_up", lambda self: None)
    monkeypatch.setattr(experiment, "warm", lambda size: None)


def measured(launcher: Launcher, terms: Terms, earlier: Iterable[Earlier] = ()) -> dict[str, set[int]]:
    """Of each heap the rounds of the one row."""
    kept = Kept()
    Experiment([Row("one", "command", ("true",))], HEAPS, terms, launcher, Silent(), keeper=kept, earlier=earlier).run()
    return {heap.name: {number for number, name in kept.runs if name == heap.name} for heap in HEAPS}


@pytest.mark.usefixtures("quick")
def test_the_beaten_run_no_longer(launcher: Launcher) -> None:
    terms = Terms(rounds=ROUNDS, minutes=1, limit=1, seed=1)
    every = set(range(ROUNDS))
    assert measured(launcher, terms) == dict.fromkeys(SECONDS, every)
    ended = set(range(FEWEST_ROUNDS))
    assert measured(launcher, Terms(rounds=ROUNDS, minutes=1, limit=1, seed=1, contest=True)) == {
        SYSTEM.name: every, "near": every, "far": ended, "mine": every}


@pytest.mark.usefixtures("quick")
def test_their_time_is_the_others(launcher: Launcher) -> None:
    """A round without `far` takes 5 s for 7, so there is room for more."""
    asked = {"rounds": None, "minutes": 70 / 60, "limit": 1, "seed": 1, "most": 40}
    all_run = measured(launcher, Terms(**asked))  # type: ignore[arg-type]
    best_run = measured(launcher, Terms(**asked, contest=True))  # type: ignore[arg-type]
    assert len(best_run["mine"]) > len(all_run["mine"]) > len(best_run["far"]) == FEWEST_ROUNDS


@pytest.mark.usefixtures("quick")
def test_what_goes_on_later_does_not_ask_them_again(launcher: Launcher) -> None:
    terms = Terms(rounds=ROUNDS, minutes=1, limit=1, seed=1, contest=True)
    earlier = [Earlier(TIME.name, number, "one", name, run(SECONDS[name][number % len(SECONDS[name])]))
               for name in SECONDS for number in range(8) if name != "far" or number < FEWEST_ROUNDS]
    later = {8, 9}
    assert measured(launcher, terms, earlier) == {SYSTEM.name: later, "near": later, "far": set(), "mine": later}


def test_a_field_is_a_contest_and_other_suites_are_none(tmp_path: Path) -> None:
    def terms(suite: str) -> Terms:
        return campaign.Settings("usual", [], [], [1], None, ["time"], 1, None, 60, False, 0, 60, suite).terms

    assert terms("peers").contest
    assert not terms("structures").contest
    assert not terms("").contest
