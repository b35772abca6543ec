"""The rivals: who they are, where they come from.

A rival comes from a crate, compiled here (crate.py), or from a Debian package (debian.py); from the crate when both are
there, for it is the newer one. A name means one allocator, or one major version where two are in use. To add one: an
entry below and, for a crate, a feature of that name in lab/peers/Cargo.toml. Those that say `secure_of` are builds of another
one that look for a program's mistakes; `./polder mistakes` compares them.
"""

from __future__ import annotations

from polder_lab.peer.described import Crate, Inside, Peer

SNMALLOC = {f"sn_{name}": name for name in (
    "malloc", "free", "calloc", "cfree", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign", "valloc",
    "pvalloc", "malloc_usable_size", "free_sized", "free_aligned_sized")}

PEERS: tuple[Peer, ...] = (
    Peer("jemalloc", "jemalloc", "2006", "Evans' allocator, of FreeBSD: arenas, thread caches, decay.",
         Crate("tikv-jemalloc-sys", r"\+([0-9.]+)-"), "libjemalloc2", ("libjemalloc.so.2", "libjemalloc.so")),
    Peer("mimalloc2", "mimalloc 2", "2019", "Microsoft's allocator: free lists sharded by page, pages by segment.",
         Crate("libmimalloc-sys", Inside("c_src/mimalloc/v2/include/mimalloc.h", r"MI_MALLOC_VERSION\s+(\d+)"),
               flags="-fvisibility=hidden"),
         "libmimalloc2.0", ("libmimalloc.so.2", "libmimalloc.so"), also=("mimalloc",)),
    Peer("mimalloc3", "mimalloc 3", "2025", "The same without segments: pages in arenas, found by a map, any thread may take one over.",
         Crate("libmimalloc-sys", Inside("c_src/mimalloc/v3/include/mimalloc.h", r"MI_MALLOC_VERSION\s+(\d+)"),
               flags="-fvisibility=hidden")),
    Peer("tcmalloc", "tcmalloc of gperftools", "2005", "Thread-caching malloc: thread caches over central lists and a page heap.",
         package="libtcmalloc-minimal4", files=("libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so")),
    # The crate asks for its methods under names of its own; without that it has malloc and operator new as Google's. Since
    # glibc 2.35 registers restartable sequences for itself, tcmalloc would fall back to caches for threads.
    Peer("tcmalloc-google", "Google's tcmalloc", "2020", "Caches for each processor by restartable sequences, heap by huge pages.",
         Crate("libtcmalloc-sys", r"(.*)", flags="-UTCMALLOC_INTERNAL_METHODS_ONLY"),
         settings=(("GLIBC_TUNABLES", "glibc.pthread.rseq=0"),)),
    Peer("tbb", "tbbmalloc of oneTBB", "2007", "Intel's scalable allocator, descended from McRT-Malloc.",
         package="libtbbmalloc2", files=("libtbbmalloc_proxy.so.2", "libtbbmalloc_proxy.so")),
    Peer("snmalloc", "snmalloc", "2019", "Microsoft Research: remote frees as messages in batches to the owner.",
         Crate("snmalloc-sys", r"([0-9.]+)", names=SNMALLOC)),
    Peer("rpmalloc", "rpmalloc", "2017", "Jansson's allocator: spans by size class, caches for threads and for all.",
         Crate("rpmalloc-sys", Inside("rpmalloc/CHANGELOG", r"^([0-9.]+)"), flags="-DENABLE_OVERRIDE=1")),
    Peer("scudo", "scudo", "2016", "LLVM's hardened allocator, Android's malloc: checksummed headers, random order, quarantine.",
         package="libclang-rt-19-dev|libclang-rt-18-dev|libclang-rt-16-dev|libclang-rt-15-dev",
         files=("libclang_rt.scudo_standalone-{machine}.so",), secure="as it is"),
    # It writes alignas, which is a keyword of C only since gcc 13.
    Peer("hardened", "hardened_malloc", "2018", "GrapheneOS's allocator: slabs apart from metadata, canaries, quarantines, guard pages.",
         Crate("hardened-malloc-sys", r"^[0-9]+\.[0-9]+\.(\d+)", flags="-include stdalign.h"), secure="as it is"),
    Peer("glibc-checks", "glibc with its checks", "2021", "The C library's malloc with libc_malloc_debug before it.",
         package="libc6", files=("libc_malloc_debug.so.0",), settings=(("GLIBC_TUNABLES", "glibc.malloc.check=3"),),
         secure="libc_malloc_debug.so, glibc.malloc.check=3", secure_of="system"),
    Peer("jemalloc-debug", "jemalloc, debugging", "2006", "jemalloc with its assertions and safety checks.",
         Crate("tikv-jemalloc-sys", r"\+([0-9.]+)-"), settings=(("MALLOC_CONF", "junk:true,abort_conf:true"),),
         secure="--enable-debug, junk:true", secure_of="jemalloc"),
    # Without the word from outside mimalloc would keep to itself most of what it notices.
    Peer("mimalloc2-secure", "mimalloc 2, secure", "2019", "mimalloc 2 with encoded lists, guard pages, padding, checked frees.",
         Crate("libmimalloc-sys", Inside("c_src/mimalloc/v2/include/mimalloc.h", r"MI_MALLOC_VERSION\s+(\d+)"),
               flags="-fvisibility=hidden"), settings=(("MIMALLOC_SHOW_ERRORS", "1"),),
         secure="MI_SECURE=4, MIMALLOC_SHOW_ERRORS=1", secure_of="mimalloc2"),
    Peer("mimalloc3-secure", "mimalloc 3, secure", "2025", "The same of mimalloc 3.",
         Crate("libmimalloc-sys", Inside("c_src/mimalloc/v3/include/mimalloc.h", r"MI_MALLOC_VERSION\s+(\d+)"),
               flags="-fvisibility=hidden"), settings=(("MIMALLOC_SHOW_ERRORS", "1"),),
         secure="MI_SECURE=4, MIMALLOC_SHOW_ERRORS=1", secure_of="mimalloc3"),
    Peer("tcmalloc-debug", "tcmalloc of gperftools, debugging", "2005", "Marks around every block, freed ones held back and looked at.",
         package="libtcmalloc-minimal4", files=("libtcmalloc_minimal_debug.so.4",), secure="libtcmalloc_minimal_debug.so",
         secure_of="tcmalloc"),
    # The crate's feature changes nothing but a name where cc compiles it.
    Peer("snmalloc-checks", "snmalloc with its checks", "2019", "snmalloc with signed lists, random places, checked frees.",
         Crate("snmalloc-sys", r"([0-9.]+)", flags="-DSNMALLOC_CHECK_CLIENT", names=SNMALLOC), secure="SNMALLOC_CHECK_CLIENT",
         secure_of="snmalloc"),
)
