"""What commands share: words of options, where output goes."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from polder_lab import table
from polder_lab.complaint import Complaint, nearest
from polder_lab.heap import Heap
from polder_lab.launch import NOT_INHERITED


class Commands(click.Group):
    """A group whose commands are loaded when they are called: what some need takes longer to load than others to run."""

    def __init__(self, *arguments: Any, modules: Mapping[str, str] | None = None, **more: Any) -> None:
        """modules: "MODULE:ATTRIBUTE" by the command's name, of those that are not added."""
        super().__init__(*arguments, **more)
        self.modules = modules or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.modules, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.modules:
            module, _, attribute = self.modules[cmd_name].partition(":")
            found: click.Command = getattr(import_module(f"polder_lab.command.{module}"), attribute)
            return found
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # of a command that has nothing to show for what it has done
            say("polder: interrupted", "yellow")
            sys.exit(130)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise Complaint(f"there is no command '{args[0]}'; nearest: {', '.join(nearest(args[0], self.list_commands(ctx)))}")
        return super().resolve_command(ctx, args)


MOST = 10**9

build_option = click.option("--build", type=click.Path(path_type=Path), metavar="FOLDER",
                            help="The build to measure or to ask.  [default: build/release]")


class Amount(click.FloatRange):
    """Of seconds, or minutes. What is no number is within every range, and a clock cannot count to infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        amount = float(super().convert(value, param, ctx))
        if math.isnan(amount) or amount > MOST:
            self.fail(f"{value} is not a number up to {MOST:,}.", param, ctx)
        return amount


def say(text: str, style: str | None = None) -> None:
    Console(stderr=True).print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def words(text: str) -> list[str]:
    return [word for word in (part.strip() for part in text.split(",")) if word]


def thread_counts(text: str) -> list[int]:
    try:
        counts = [int(word) for word in words(text)]
    except ValueError:
        counts = []
    if not counts or min(counts) < 1:
        raise Complaint(f"--threads wants numbers such as 1,2,8, not '{text}'")
    return list(dict.fromkeys(counts))


def terminal() -> Console:
    console = Console(highlight=False)
    return Console(highlight=False, width=max(table.WIDTH + 20, console.width))


def must_be_writable(file: Path | None, option: str = "--json") -> None:
    """Before hours are spent on what could not be written."""
    if file is None or (option == "--json" and str(file) == "-"):
        return
    folder = file.resolve().parent
    if not folder.is_dir():
        raise Complaint(f"{option}: there is no folder {folder}")
    if file.is_dir():
        raise Complaint(f"{option}: {file} is a folder")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise Complaint(f"{option}: {file} may not be written")


def tell(told: str, json_file: Path | None, show: Callable[[], None]) -> None:
    """What was found, as JSON in the file that --json named or, where it named standard output, instead of what is shown. It
    is shown also where the file could not be written after all."""
    if json_file and str(json_file) == "-":
        sys.stdout.write(told + "\n")
        return
    show()
    if json_file:
        try:
            json_file.write_text(told + "\n")
        except OSError as why:
            raise Complaint(f"--json: cannot write {json_file}: {why.strerror}") from why


def brief(about: dict[str, Any]) -> str:
    return (f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, {about['distribution']}, {about['libc']}, "
            f"huge pages {about['transparent_huge_pages'] or 'unknown'}, commit {about['commit'][:10] or 'unknown'}"
            f"{' with changes' if about['uncommitted_changes'] else ''}"
            f"{', POLDER_OPTIONS=' + about['polder_options'] if about['polder_options'] else ''}")


def must_have_polder(heaps: Sequence[Heap], left_out: Sequence[str]) -> None:
    """Among all heaps; else nothing that is found would be about Polder, and all would seem well."""
    if "polder" not in [heap.name for heap in heaps]:
        raise Complaint(next((line for line in left_out if line.startswith("polder: ")), "polder: not built: no registry names it"))


def forget_inherited() -> list[str]:
    """Takes what is never handed on to a measured command out of our own helpers' environment too; their names."""
    return [name for name in sorted(os.environ) if NOT_INHERITED.fullmatch(name) and os.environ.pop(name)]


def hand_nothing_on(to: str) -> None:
    """The same, and it is said."""
    for name in forget_inherited():
        say(f"not handed on to {to}: {name}", "yellow")
