"""Chromium without a window takes a picture of a local page: the same picture.

Debian's Chromium brings a malloc of its own in its executable, which comes before any preloaded one. So this shows that the
heap does no harm when it is loaded into Chromium's processes, not that it serves them.
"""

import hashlib

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
        picture = settled_picture(world, profile, page)
    text = world.run("chromium", *FLAGS, profile, "--dump-dom", page.as_uri(), timeout=110)
    return {"picture": picture, "the page's script ran": "the sum is 499500" in text}


def settled_picture(world, profile, page):
    """On a busy machine a picture may be taken before the page's last frame; so what two in a row show is the picture."""
    before = None
    for attempt in range(5):
        path = world.path(f"picture{attempt}.png")
        world.run("chromium", *FLAGS, profile, f"--screenshot={path}", page.as_uri(), timeout=110)
        data = path.read_bytes()
        if not data.startswith(b"\x89PNG") or len(data) < 5000:
            raise driver.Failed(f"no picture: {len(data)} bytes")
        now = hashlib.sha256(data).hexdigest()
        if now == before:
            return now
        before = now
    raise driver.Failed("five pictures of one page, no two in a row alike")


driver.run(
    name="chromium",
    needs=[("chromium", "chromium")],
    serves="chromium",
    proof=["chromium", "--version"],
    produce=produce,
    own_malloc=True,
)
