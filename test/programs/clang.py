"""clang++ compiles this project: the same object bytes."""

import shutil

import compilation
import driver

names = ["clang++"] + [f"clang++-{version}" for version in range(22, 13, -1)]


def found():
    return next((name for name in names if shutil.which(name, path=driver.SYSTEM_PATH)), "clang++")


def produce(world):
    return compilation.objects(found(), [])(world)


driver.run(
    name="clang",
    needs=[(lambda: shutil.which(found(), path=driver.SYSTEM_PATH) is not None, "clang")],
    serves=r"clang(-\d+|\+\+)?",
    proof=lambda base: [found(), "--version"],
    prepare=compilation.prepare,
    produce=produce,
)
