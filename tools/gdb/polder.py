"""Commands for gdb, on a running program or a core that has libpolder in it:

    (gdb) source polder.py
    (gdb) polder block ADDRESS      whose memory that is: block, span, size class, LAB; free or live
    (gdb) polder statistics         what polder_read_statistics() would say

Nothing of the program is run: all is read from the heap's tables, by what libpolder's debug information says of them.
"""

import struct

import gdb

GRAIN = 1 << 16  # mem/geometry.hpp
GRAINS_A_CHUNK = 64
LARGE, METADATA, CLASS_MASK, OWNER_SHIFT = 126, 125, 0x7F, 10  # mem/word.hpp
CLASSES_END = 121
WORD = (1 << 64) - 1
STATE_MASK, OWNED = 7, (2, 3, 4)  # sync/lab_state.hpp
RECORDS_A_TABLE = 1024  # mem/huge_blocks.hpp


def loaded(atomic):
    """The value of a polder::atomic<T>, plain<T> or glimpsed<T>."""
    content = atomic.type.strip_typedefs().template_argument(0)
    return atomic.address.cast(content.pointer()).dereference()


def is_free(key, link, secret):
    """Whether a block has the key of a free one, plain or encoded (mem/links.hpp): a live one has either by chance, 2^-64."""
    encoded = (link ^ secret) * (secret | 1) & WORD
    return key in (secret ^ link, encoded ^ encoded >> 32)


def memory(at, count):
    return gdb.selected_inferior().read_memory(at, count).tobytes()


class Span:
    """One record of the span table (mem/span.hpp). keeps: lab::keeps of its owner."""

    def __init__(self, value, cls, keeps):
        self.free = int(loaded(value["free"]))
        self.used = int(loaded(value["used"]))
        self.bumped, self.usable, self.block_size = (
            int(value[field]) for field in ("bumped", "usable", "block_size"))
        self.hot = str(loaded(value["state"])).endswith("hot")
        self.returned = int(loaded(value["returned"]))
        self.more = keeps >> (cls - 1) & 1 if self.hot else 0

    @property
    def blocks_used(self):
        return self.used - self.more

    def is_returned(self, offset, page):
        """Whether a block lies on a page that was given back."""
        last = (offset + self.block_size - 1) // page
        return any(self.returned >> at & 1 for at in range(offset // page, last + 1))

    @property
    def capacity(self):
        return self.usable // self.block_size


class Heap:
    """The flagship's tables as they are now."""

    def __init__(self):
        try:
            instance = gdb.parse_and_eval("'polder::face::instance'")  # quoted: the program may have a polder:: of its own
            core = loaded(instance["core_"])
        except gdb.error as e:
            raise gdb.GdbError(f"polder: no Polder in this program, or its debug information is missing ({e})") from e
        if int(core) == 0:
            raise gdb.GdbError("polder: the heap has not begun yet")
        self.core = core.dereference()
        self.arena = self.core["arena_"]
        self.secret = int(self.core["secret_"])
        self.base = int(self.arena["base_"])
        self.main_chunks = int(self.arena["main_chunks_"])
        self.main_open = int(loaded(self.arena["main_open_"]))
        self.extra_open = int(loaded(self.arena["extra_open_"]))
        self.page = int(self.arena["page_"])
        self.words = int(self.arena["words_"])
        self.spans = self.arena["spans_"]

    # ---- grains

    def extra_base(self, chunk):
        """Where the grains of an extra chunk lie and how many there are; (0, 0) while it is closed."""
        record = self.arena["records_end_"][-chunk - 1]
        return int(loaded(record["base"])), int(loaded(record["grains"]))

    def chunks(self):
        yield from range(self.main_open)
        for chunk in range(self.main_chunks, self.main_chunks + self.extra_open):
            if self.extra_base(chunk)[0]:
                yield chunk

    def grain_of(self, at):
        offset = at - self.base
        if 0 <= offset < self.main_open * GRAINS_A_CHUNK * GRAIN:
            return offset // GRAIN
        for chunk in range(self.main_chunks, self.main_chunks + self.extra_open):
            base, grains = self.extra_base(chunk)
            if base and base <= at < base + grains * GRAIN:
                return chunk * GRAINS_A_CHUNK + (at - base) // GRAIN
        return None

    def address_of(self, grain):
        chunk = grain // GRAINS_A_CHUNK
        if chunk < self.main_chunks:
            return self.base + grain * GRAIN
        return self.extra_base(chunk)[0] + grain % GRAINS_A_CHUNK * GRAIN

    def words_of(self, first, count):
        return struct.unpack(f"{count}I", memory(self.words + 4 * first, 4 * count))

    def run_before(self, grain):
        """The large block that covers a grain of which the table says nothing: its first grain and its length."""
        for first in range(grain - 1, max(grain - 512, 0) - 1, -1):
            word = self.words_of(first, 1)[0]
            if word & CLASS_MASK:
                length = self.run_length(first)
                return (first, length) if word & CLASS_MASK == LARGE and first + length > grain else None
        return None

    def run_length(self, first):
        return struct.unpack("I", memory(int(self.spans[first].address), 4))[0]  # mem::large_run

    # ---- huge blocks

    def huge_blocks(self):
        """Address, length and whether it is live, of each mapping."""
        table = self.core["huge_"]["records_"]
        made = int(loaded(table["made_"]))
        for number in range(1, made + 1):
            record = loaded(table["directory_"][number // RECORDS_A_TABLE])[number % RECORDS_A_TABLE]
            base, size, user = (int(loaded(record[field])) for field in ("base", "bytes", "user"))
            if base:
                yield base, size, user

    def lab(self, number):
        lab_type = self.core["lab_blocks_"].dereference().type.strip_typedefs().template_argument(0).target()
        per_grain = GRAIN // lab_type.sizeof
        return loaded(self.core["lab_blocks_"][number // per_grain])[number % per_grain]

    def span(self, grain, cls, owner):
        return Span(self.spans[grain], cls, int(loaded(self.lab(owner)["keeps"])))

    # ---- what is at an address

    def describe(self, at):
        grain = self.grain_of(at)
        if grain is None:
            for base, size, user in self.huge_blocks():
                if user and base <= at < base + size:
                    return self.within("huge block", user, base + size - user, at) + ", live"
            return "not memory of this heap"
        word = self.words_of(grain, 1)[0]
        cls, owner = word & CLASS_MASK, word >> OWNER_SHIFT
        if cls == METADATA:
            return "the heap's own: LABs"
        if cls == LARGE:
            start = self.address_of(grain)
            return self.within("large block", start, self.run_length(grain) * GRAIN, at) + ", live"
        if cls == 0 or cls >= CLASSES_END or owner == 0:  # without an owner a class is a free grain's, which is a list of blocks
            if run := self.run_before(grain):
                start = self.address_of(run[0])
                return self.within("large block", start, run[1] * GRAIN, at) + ", live"
            return "free memory of the heap"
        return self.describe_small(grain, cls, owner, at)

    def describe_small(self, grain, cls, owner, at):
        span, start = self.span(grain, cls, owner), self.address_of(grain)
        place = (f"span {start:#x} (class {cls}, owner LAB {owner}, "
                 f"{span.blocks_used} of {span.capacity} blocks used{', hot' if span.hot else ''})")
        offset = at - start
        if offset >= span.usable:
            return f"past the last block of {place}"
        block = start + offset // span.block_size * span.block_size
        key, link = struct.unpack("2Q", memory(block, 16))
        if block - start >= span.bumped:
            state = "never handed out"
        elif is_free(key, link, self.secret) or span.is_returned(block - start, self.page):
            state = "free"
        else:
            state = "live"
        return self.within("block", block, span.block_size, at) + f", {state}, in {place}"

    @staticmethod
    def within(kind, start, size, at):
        byte = f", byte {at - start} of it" if at != start else ""
        return f"{kind} {start:#x} of {size} bytes{byte}"

    # ---- statistics

    def statistics(self):
        """As core::read_statistics has them (heap/polder/statistics.cpp)."""
        found = dict.fromkeys(("allocated", "active", "large", "spans", "labs", "threads", "refills", "remote_frees", "posts"), 0)
        block_sizes = {}
        for chunk in self.chunks():
            for i, word in enumerate(self.words_of(chunk * GRAINS_A_CHUNK, GRAINS_A_CHUNK)):
                grain, cls, owner = chunk * GRAINS_A_CHUNK + i, word & CLASS_MASK, word >> OWNER_SHIFT
                if cls == LARGE:
                    size = self.run_length(grain) * GRAIN
                    for figure in ("large", "allocated", "active"):
                        found[figure] += size
                elif 0 < cls < CLASSES_END and owner:
                    span = self.span(grain, cls, owner)
                    block_sizes[cls] = span.block_size
                    found["allocated"] += span.blocks_used * span.block_size
                    found["active"] += GRAIN - span.returned.bit_count() * self.page
                    found["spans"] += 1
        for _, size, user in self.huge_blocks():
            if user:
                for figure in ("large", "allocated", "active"):
                    found[figure] += size
        guarded = self.core["guarded_"]
        for figure in ("large", "allocated", "active"):
            found[figure] += int(loaded(guarded["live_"])) * int(guarded["page_"])
        # Of what was freed elsewhere than its span lies, by class: what was sent, and what has come home.
        waiting = {}
        alone = self.core["sent_without_lab_"]
        classes = range(1, alone.type.range()[1] + 1)
        for cls in classes:
            waiting[cls] = int(loaded(alone[cls]))
            found["remote_frees"] += waiting[cls]
        found["labs"] = int(loaded(self.core["labs_"]))
        for number in range(1, found["labs"] + 1):
            lab = self.lab(number)
            word = int(loaded(lab["door"]["state_"]))
            found["threads"] += word & STATE_MASK in OWNED
            for figure in ("refills", "posts"):
                found[figure] += int(loaded(lab[figure]))
            if int(loaded(lab["held"])) != 0:  # blocks in quarantine (heap/polder/quarantine.hpp)
                held = loaded(lab["held"]).dereference()
                found["allocated"] -= sum(int(loaded(held["sizes_"][i])) for i in range(int(loaded(held["count_"]))))
            for cls in classes:
                sent = int(loaded(lab["sent"][cls]))
                waiting[cls] += sent - int(loaded(lab["home"][cls]))
                found["remote_frees"] += sent
        found["allocated"] -= sum(waiting[cls] * size for cls, size in block_sizes.items())
        return found


class Polder(gdb.Command):
    """Polder's heap: `polder block ADDRESS`, `polder statistics`."""

    def __init__(self):
        super().__init__("polder", gdb.COMMAND_DATA, prefix=True)


class Block(gdb.Command):
    """polder block ADDRESS -- whose memory that is: block, span, size class, LAB; free or live."""

    def __init__(self):
        super().__init__("polder block", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError("polder block: which address?")
        at = int(gdb.parse_and_eval(argument)) & ((1 << 64) - 1)
        print(f"{at:#x}: {Heap().describe(at)}")


class Statistics(gdb.Command):
    """polder statistics -- what polder_read_statistics() would say, read from the tables."""

    def __init__(self):
        super().__init__("polder statistics", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        for figure, count in Heap().statistics().items():
            print(f"{figure:<14}{count}")


Polder()
Block()
Statistics()
