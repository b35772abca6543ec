"""Lua: strings, tables, closures and coroutines under a garbage collector that works hard; 25 MB live."""

import driver


def produce(world):
    return {"said": world.run("lua5.4", driver.SOURCES / "tables.lua", world.size(120, 1200))}


driver.run(name="lua", needs=[("lua5.4", "lua5.4")], serves=r"lua5\.4", proof=["lua5.4", "-v"], produce=produce)
