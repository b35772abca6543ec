"""The front door's own words: nearest names, choosing tests, packages. Nothing here builds or installs."""

import subprocess

import pytest

from tree import ROOT


def sh(text, *words):
    parts = "".join(f'. "$root/tools/door/{part}.sh"\n' for part in ("say", "packages", "build", "python", "run", "test"))
    return subprocess.run(["sh", "-euc", f"root={ROOT}\n{parts}{text}", "sh", *words], capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize(("word", "said"), [
    ("compar", "; did you mean compare?"),
    ("tset", "; did you mean test?"),
    ("comp", "; did you mean compare?"),
    ("zzzzzzzz", "; there is: compare, run, test"),
])
def test_nearest(word, said):
    assert sh('nearest "$@"', word, "test", "run", "compare").stdout == said


LISTING = "release fork.churn@polder\nrelease fork.churn@other\nrelease unit.mem\nasan unit.mem\n"


@pytest.mark.parametrize(("names", "chosen"), [
    ([], LISTING.splitlines()),
    (["unit"], ["release unit.mem", "asan unit.mem"]),
    (["fork.churn"], ["release fork.churn@polder", "release fork.churn@other"]),
    (["@other", "fork.churn@other"], ["release fork.churn@other"]),
])
def test_choosing(tmp_path, names, chosen):
    (tmp_path / "list").write_text(LISTING)
    assert sh('choose_tests "$@"', str(tmp_path / "list"), *names).stdout.splitlines() == chosen


def test_a_name_that_means_nothing(tmp_path):
    (tmp_path / "list").write_text(LISTING)
    run = sh('choose_tests "$@"', str(tmp_path / "list"), "unit", "frok")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "polder: no test 'frok'; did you mean fork?\n"


def test_no_test_at_all(tmp_path):
    (tmp_path / "list").write_text("")
    assert sh('choose_tests "$@"', str(tmp_path / "list")).returncode == 1


def test_a_package_list_has_comments(tmp_path):
    (tmp_path / "packages").write_text("# of Debian\na|b  # or b\n\nc\n")
    assert sh('packages_in "$1"', str(tmp_path / "packages")).stdout.split() == ["a|b", "c"]


@pytest.mark.parametrize(("arguments", "said"), [
    (["compar"], "no command 'compar'; did you mean compare?"),
    (["run"], "run: what?"),
    (["run", "--hep", "x"], "no option '--hep'; did you mean --heap?"),
    (["test", "--lst"], "no option '--lst'; did you mean --list?"),
    (["test", "--preset", "relase"], "no preset 'relase'; did you mean release?"),
])
def test_wrong_words_at_the_door(arguments, said):
    run = subprocess.run([ROOT / "polder", *arguments], capture_output=True, text=True, timeout=30)
    assert run.returncode == 2
    assert said in run.stderr
