"""corpus — programs that the language has, and programs that it has not."""

from harness import ROOT, binary, run, say, scratch


def test_corpus__accept():
    """Each program of the corpus ends with the status that its first line says."""
    programs = sorted((ROOT / "corpus/accept").glob("*.c"))
    assert len(programs) >= 12
    for program in programs:
        status = int(program.read_text().split("\n")[0].split()[-1])
        run("-c", program, "-m", 2, "ab", "1", status=status, cwd=scratch)
        run("-l", binary(), "-m", 32, "-c", program, "-m", 2, "ab", "1", status=status, cwd=scratch)
    say(f"{len(programs)} programs, each by selfie and by selfie on mipster")


def test_corpus__reject():
    """Each program of the corpus is refused in the words that stand beside it: file, line, what was expected."""
    programs = sorted((ROOT / "corpus/reject").glob("*.c"))
    assert len(programs) >= 20
    messages = 0
    for program in programs:
        said = run("-c", program.name, status=1, cwd=program.parent).decode()
        wanted = program.with_suffix(".expected").read_text()
        assert said == wanted, f"{program.name}:\n{said}\nwanted\n{wanted}"
        messages += said.count("\n") - 1
    assert run("-l", binary(), "-m", 32, "-c", "types.c", status=1, cwd=ROOT / "corpus/reject").decode() == \
        (ROOT / "corpus/reject/types.expected").read_text()
    say(f"{len(programs)} programs, {messages} messages")
