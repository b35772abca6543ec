"""Java: threads that use the native heap by direct buffers, zlib and the compiler itself; a program run from its source."""

import driver


def produce(world):
    # The JVM tells of an error in a file it may write, and of options in the environment on stderr.
    options = ["-Xmx512m", "-XX:ErrorFile=/dev/stderr", "-XX:-UsePerfData"]
    source = world.write("Threads.java", (driver.SOURCES / "Threads.java").read_text())
    return {"said": world.run("java", *options, source, world.size(3, 40), timeout=250)}


driver.run(
    name="java",
    needs=[("java", "default-jdk-headless"), ("javac", "default-jdk-headless")],
    serves="java",
    proof=["java", "-Xshare:auto", "-version"],
    produce=produce,
)
