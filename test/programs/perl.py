"""Perl: hashes, regular expressions, sorting, forks, and interpreter threads, which clone one another's whole heaps."""

import driver


def produce(world):
    return {"said": world.run("perl", driver.SOURCES / "words.pl", world.size(2, 60))}


driver.run(name="perl", needs=[("perl", "perl")], serves=r"perl(5.*)?", proof=["perl", "-v"], produce=produce)
