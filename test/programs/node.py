"""Node.js: worker threads that trade buffers, zlib and brotli on the thread pool, crypto, JSON, streams."""

import driver


def produce(world):
    return {"said": world.run("node", driver.SOURCES / "workers.js", world.size(3, 40), timeout=200)}


driver.run(name="node", needs=[("node", "nodejs")], serves="node(js)?", proof=["node", "--version"], produce=produce)
