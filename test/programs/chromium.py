"""Chromium without a window takes a picture of a local page, and the page draws one by itself: the same picture.

A picture of the window may be taken before the page's last frame, on a busy machine; so of it only size and kind are looked at,
and what must be the same is the whole page as its script left it: with the pixels that it drew and read back, and the places of all
elements.

Debian's Chromium brings a malloc of its own in its executable, which comes before any preloaded one. So this shows that the
heap does no harm when it is loaded into Chromium's processes, not that it serves them.
"""

import re
import struct

import driver

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --disable-extensions --disable-default-apps --hide-scrollbars --force-device-scale-factor=1 --window-size=800,600 "
    "--disable-dev-shm-usage --virtual-time-budget=3000"
).split()


def produce(world):
    page = world.write("page.html", (driver.SOURCES / "page.html").read_text())
    profile = f"--user-data-dir={world.path('profile')}"
    for _ in range(world.size(1, 10)):
        path = world.path("picture.png")
        world.run("chromium", *FLAGS, profile, f"--screenshot={path}", page.as_uri(), timeout=110)
        size = size_of_picture(path.read_bytes())
        path.unlink()
    text = world.run("chromium", *FLAGS, profile, "--dump-dom", page.as_uri(), timeout=110)
    if not re.search(r"data:image/png;base64,[\w+/=]{1000,}", text) or text.count('"width":') < 300:
        raise driver.Failed("the page's script drew nothing, or found nothing")
    return {"the window": size, "the page": text, "the page's script ran": "the sum is 499500" in text}


def size_of_picture(data):
    if not data.startswith(b"\x89PNG") or len(data) < 5000:
        raise driver.Failed(f"no picture: {len(data)} bytes")
    return struct.unpack(">II", data[16:24])


driver.run(
    name="chromium",
    needs=[("chromium", "chromium")],
    serves="chromium",
    proof=["chromium", "--version"],
    produce=produce,
    own_malloc=True,
)
