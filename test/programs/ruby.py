"""Ruby: objects under GC stress, threads, fibers, zlib, JSON, and forks whose children collect and compact."""

import driver


def produce(world):
    return {"said": world.run("ruby", driver.SOURCES / "objects.rb", world.size(2, 40))}


driver.run(name="ruby", needs=[("ruby", "ruby")], serves=r"ruby.*", proof=["ruby", "--disable=gems", "-v"], produce=produce)
