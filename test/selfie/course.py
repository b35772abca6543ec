"""course — each lesson's program, exercise and solution."""

import re

from harness import ROOT, run, say, write

COURSE = ROOT.parent / "docs/course"


def checked(words, file, status):
    return run(*(file if word == "EXERCISE" else word for word in words), status=status)


def ends_early(text):
    """Each procedure calls exit(0) before its first statement."""
    return re.sub(r"(?m)(^\w.*\) \{)((?:\n(?: *//.*| *int\*? \w+;)?$)*)", r"\1\2 exit(0);", text)


def test_course():
    """Each lesson's program runs; its exercise as given is refused, and its solution is not. A program that ends itself is no solution."""
    lessons = sorted(p for p in COURSE.iterdir() if p.is_dir())
    assert len(lessons) >= 10
    for lesson in lessons:
        words = (lesson / "run").read_text().split()
        fails = (lesson / "fails").exists()  # says how its program does
        said = run(*words, status=1 if fails else 0)
        assert len(said) > 50, lesson
        words = (lesson / "check").read_text().split()
        explored = "-x" in words
        for file, status in (("exercise.c", 1), ("solution.c", 0 if explored else 100)):
            said = checked(words, lesson / file, status)
            assert status != 1 or len(said) > 20, lesson
            assert not re.search(rb"(found|expected) *$", said, re.MULTILINE), said
        file = write("ends.c", ends_early((lesson / "solution.c").read_text()))
        checked(words, file, (1, 3) if explored else 0)
        titles = [(lesson / "README.md").read_text().split("\n")[0], (COURSE / "README.md").read_text()]
        assert f"]({lesson.name}/README.md)" in titles[1] and titles[0].startswith(f"# {int(lesson.name[:2])}. ")
    say(f"{len(lessons)} lessons")
