"""figures — no test: the figures that selfie/README.md gives."""

import re
import time

from harness import CONCURRENT, binary, run, say, scratch, write


def measure():
    """No test: the figures that the README gives."""
    def timed(what, *arguments, status=0, cwd=None):
        begin = time.perf_counter()
        said = run(*arguments, status=status, cwd=cwd)
        spent = time.perf_counter() - begin
        say(f"{what}: {spent:.2f} s")
        return spent, said

    made = binary()
    timed("selfie compiles itself", "-c", "selfie.c", "-o", scratch / "again.m")
    spent, said = timed("selfie compiles itself on mipster", "-v", "-l", made, "-m", 16, "-c", "selfie.c", "-o", scratch / "again.m")
    millions = int(re.search(rb"(\d+) million", said).group(1))
    say(f"  {millions} million instructions, {millions / spent:.0f} million a second")
    loop = write("loop.c", "int main() { int i; int* p; p = malloc(400); i = 0; "
                 "while (i < 20000000) { *(p + i % 100) = i; i = i + 1; } return 0; }\n")
    spent, said = timed("a loop of loads, stores and divisions", "-v", "-c", loop, "-m", 1)
    millions = int(re.search(rb"(\d+) million", said).group(1))
    say(f"  {millions} million instructions, {millions / spent:.0f} million a second")
    timed("mipster on mipster compiles atoi.c", "-l", made, "-m", 64, "-l", made, "-m", 24, "-c", "examples/atoi.c")
    spent, said = timed("ABA, three contexts, all schedules with a tag",
                        "-c", "treiber_tagged.c", "stack_clients.c", "-x", 1, "all", cwd=CONCURRENT)
    say("  " + said.decode().splitlines()[0])
    spent, said = timed("ABA, three contexts, without",
                        "-c", "treiber.c", "stack_clients.c", "-x", 1, "all", status=1, cwd=CONCURRENT)
    say("  " + said.decode().splitlines()[0])
