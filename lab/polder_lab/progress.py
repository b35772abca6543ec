"""Shows how far it is and how long it will still take: a bar on a terminal, a line a phase anywhere else."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn


def clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d}"


class Bar:
    """A context; goes to standard error, so that standard output holds the table alone."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.bar = Progress(TextColumn("{task.fields[phase]}"), BarColumn(bar_width=30), TextColumn("{task.fields[left]} left"),
                            TextColumn("{task.fields[what]}", style="dim"), console=console, transient=True)
        self.task = self.bar.add_task("", total=1.0, phase="", left="?", what="")
        self.live = console.is_terminal

    def __enter__(self) -> Bar:
        if self.live:
            self.bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.live:
            self.bar.stop()

    def phase(self, text: str) -> None:
        self.bar.update(self.task, phase=text)
        if not self.live:
            self.console.print(text, highlight=False)

    def warn(self, text: str) -> None:
        self.console.print(text, style="yellow", highlight=False, markup=False, soft_wrap=True)

    def step(self, what: str, done: float, left: float) -> None:
        self.bar.update(self.task, completed=done, total=max(done + left, 1e-6), left=clock(left), what=what)
