"""course — each lesson's program, exercise and solution."""

from harness import ROOT, run, say

COURSE = ROOT.parent / "docs/course"


def test_course():
    """Each lesson's program runs; its exercise as given is refused, and its solution is not."""
    lessons = sorted(p for p in COURSE.iterdir() if p.is_dir())
    assert len(lessons) == 10
    for lesson in lessons:
        words = (lesson / "run").read_text().split()
        races = lesson.name[:2] in ("08", "09")  # whose programs are to fail
        said = run(*words, status=1 if races else 0)
        assert len(said) > 50, lesson
        words = (lesson / "check").read_text().split()
        for file, status in (("exercise.c", 1), ("solution.c", 0)):
            said = run(*(lesson / file if word == "EXERCISE" else word for word in words), status=status)
            assert status == 0 or len(said) > 20, lesson
        titles = [(lesson / "README.md").read_text().split("\n")[0], (COURSE / "README.md").read_text()]
        assert f"]({lesson.name}/README.md)" in titles[1] and titles[0].startswith(f"# {int(lesson.name[:2])}. ")
    say(f"{len(lessons)} lessons")
