"""Memory as a run leaves it to the next one.

The host of a virtual machine may take free memory back after a second or two, and a run that then touches it waits for the host: as
seen on one, 4.8 ms for a huge page that takes 0.2 ms otherwise. Who runs behind another that has just ended would be spared
that, and who asks for huge pages would pay more of it than who finds single ones in the kernel's lists. So as much as a row
is known to take is touched and given back right before each run of it. Where nobody takes memory away that costs a tenth of a
second for each gigabyte and changes nothing.
"""

from __future__ import annotations

import contextlib
import mmap

from polder_lab.room import room

HUGE_PAGE = 2 << 20
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
MORE = 1.25  # than was seen: another heap may take more than those so far


def warm(bytes_: int) -> None:
    """Touches about so much memory, in huge pages where there are some, but no more than half of what is left: the kernel would
    promise it, and end us for it."""
    size = min(int(bytes_ * MORE), room() // 2) // HUGE_PAGE * HUGE_PAGE + HUGE_PAGE
    with contextlib.suppress(OSError, ValueError, MemoryError), mmap.mmap(-1, size, flags=PRIVATE) as memory:
        with contextlib.suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
        pages = range(0, size, mmap.PAGESIZE)
        memory[:: mmap.PAGESIZE] = b"\1" * len(pages)
