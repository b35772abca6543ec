#pragma once
// documented_calls — the system calls a heap may make once it is warm, and those of its beginning (requirement 17). Who sandboxes a
// program on Polder has to allow these and nothing more for its sake: docs/how-to/lifecycle.md, "Sandboxes", names them all.
#include <sys/syscall.h>

namespace polder::faults {

inline constexpr long documented_calls[] = {
    SYS_mmap,               // more address space, huge blocks
    SYS_munmap,             // huge blocks given back
    SYS_mprotect,           // commits more of the arena, and the first page of a place for a huge block
    SYS_madvise,            // decay, prefault
    SYS_mremap,             // realloc of huge blocks
    SYS_membarrier,         // claims an idle thread's cache
    SYS_sched_getaffinity,  // once, when the heap begins
    SYS_prlimit64,          // reads RLIMIT_AS when more of the arena is opened
    SYS_clock_gettime,      // decay; the vDSO normally answers
    SYS_getpid,             // whose threads those are of which the next two tell
    SYS_gettid,             // a thread that allocates for the first time: its number
    SYS_tgkill,             // signal 0: is a thread that was not seen for long still there?
    SYS_futex,  // after a refused mremap: is its place still ours? Do large blocks hold zeroes? The thread below sleeps on one
    SYS_rt_sigprocmask,  // the heap profile: can this page of the stack be read? And before the thread below is started,
                         // and in the child of a fork, where the heaps of the papers see to what other threads had
    // The thread that gives memory back (background=0: there is none): its start and its name; whether it has capabilities, and
    // if so, or where root started the process, whether the others still have its rights.
    SYS_clone, SYS_prctl, SYS_capget, SYS_openat, SYS_read, SYS_close,
    SYS_mbind,    // numa=on, several nodes: where the pages of what is committed are to lie
    SYS_getcpu,   // and on which node the thread runs; rseq or the vDSO normally answers
    SYS_pread64,  // with openat and close, when there is room for huge pages: how much of large blocks is touched
};

// And while it begins, which is at the first malloc of the process, or before.
inline constexpr long calls_at_the_beginning[] = {
    SYS_sysinfo,  // how much to reserve
    SYS_prctl,    // names what is reserved
    // The container's limit (cgroup=0: nobody asks); the machine's nodes (numa=on).
    SYS_openat,
    SYS_read,
    SYS_close,
};

// And with profile=, where the files are written.
inline constexpr long profile_calls[] = {
    SYS_rt_sigprocmask,   // a page of the stack; no SIGXFSZ while a file is written
    SYS_rt_sigtimedwait,  // what came of it is taken back
    SYS_getcwd,           // where the process begins: what the files' name is relative to
    SYS_rt_sigaction,     // profile_signal
    // The files, and what is mapped where.
    SYS_openat,
    SYS_read,
    SYS_write,
    SYS_close,
};

// And with timeline=, from its first event to its file.
inline constexpr long timeline_calls[] = {
    SYS_gettid,
    SYS_prctl,  // a thread's name
    SYS_flock,  // does another process look at the file this moment?
    SYS_kill,   // signal 0: does the process live that has begun it?
    // The file, without SIGXFSZ; the command's line, and names that threads were given since.
    SYS_getcwd,
    SYS_rt_sigprocmask,
    SYS_rt_sigtimedwait,
    SYS_openat,
    SYS_lseek,
    SYS_read,
    SYS_ftruncate,
    SYS_write,
    SYS_close,
};

// What the test itself and libc's threads need beside.
inline constexpr long tolerated_calls[] = {
    SYS_exit_group, SYS_exit, SYS_write, SYS_rt_sigreturn, SYS_clone3, SYS_set_robust_list, SYS_rseq,
};

// What a C library makes of its own to begin a program, and to end it.
inline constexpr long loader_calls[] = {
    SYS_execve,          SYS_brk,        SYS_newfstatat, SYS_fstat,
#if defined(SYS_access)
    SYS_access,
#endif
    SYS_faccessat,       SYS_readlinkat,
#if defined(SYS_arch_prctl)
    SYS_arch_prctl,
#endif
    SYS_set_tid_address, SYS_getrandom,  SYS_lseek,      SYS_rt_sigaction,
#if defined(SYS_alarm)
    SYS_alarm,
#endif
    SYS_setitimer,
};

}  // namespace polder::faults
