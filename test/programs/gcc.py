"""g++ compiles this project, with debug information: the same object bytes."""

import compilation
import driver

driver.run(
    name="gcc",
    needs=[("g++", "g++")],
    serves="cc1plus",
    proof=["g++", "-fsyntax-only", "-x", "c++", "/dev/null"],
    prepare=compilation.prepare,
    produce=compilation.objects("g++", ["-g"]),
)
