// polder-doctor — what of this machine matters to a heap, as found now, and what Polder does about it.
//
// Everything is tried, not looked up, where trying is harmless; and it runs on the heap itself, which says in which modes it
// works, under POLDER_OPTIONS as it is set here. The exit status is 0: nothing here stops Polder.
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <polder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include <polder/os/background_thread.hpp>
#include <polder/os/cgroup.hpp>
#include <polder/os/numa.hpp>
#include <polder/os/printed.hpp>
#include <polder/os/probe.hpp>
#include <polder/os/processors.hpp>
#include <polder/os/topology.hpp>

namespace {

enum class verdict { good, worth_knowing };

void report(verdict v, const char* what, const std::string& found, const std::string& done) {
  printf("%s %-22s %s\n", v == verdict::good ? " ok " : "note", what, found.c_str());
  printf("     %-22s   %s\n", "", done.c_str());
}

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string bytes_text(std::uint64_t n) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  unsigned unit = 0;
  while (unit < 5 && n >= 1024 && n % 1024 == 0) n /= 1024, ++unit;
  return std::to_string(n) + " " + units[unit];
}

std::string limit_text(rlim_t n) { return n == RLIM_INFINITY ? "unlimited" : bytes_text(n); }

// THP files read like `always [madvise] never`.
std::string chosen(const std::string& line) {
  std::size_t open = line.find('['), close = line.find(']');
  return open == std::string::npos || close == std::string::npos ? line : line.substr(open + 1, close - open - 1);
}

polder_modes live() {
  polder_modes m{};
  m.size = sizeof m;
  polder_read_modes(&m);
  return m;
}

std::string options_here() {
  char text[1000];
  polder_options(text, sizeof text);
  return text;
}

// Such as "cgroup=0".
bool works_with(const std::string& option) {
  return ("," + options_here() + ",").find("," + option + ",") != std::string::npos;
}

void kernel_and_libc() {
  utsname name;
  uname(&name);
  report(verdict::good, "system",
         std::string(name.sysname) + " " + name.release + " " + name.machine + ", glibc " + gnu_get_libc_version(),
         "needs Linux and glibc; every optional system call may be refused");
}

void processors() {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  report(verdict::good, "processors",
         std::to_string(polder::os::processors()) + " usable of " + std::to_string(online) + " online",
         "nothing is sized by them: a heap grows with its threads");
}

void nodes() {
  static polder::os::topology machine;
  machine.read();
  bool many = machine.nodes() > 1;
  std::size_t page = std::size_t(sysconf(_SC_PAGESIZE));
  void* p = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool places = p != MAP_FAILED && polder::os::bind(p, page, machine.node_of(machine.current_cpu()));
  report(many ? verdict::worth_knowing : verdict::good, "NUMA nodes",
         std::to_string(machine.nodes()) + " with processors, " + std::to_string(machine.sockets()) +
             (machine.sockets() == 1 ? " socket" : " sockets"),
         !many ? "one node: memory is equally near everywhere"
         : places
             ? "pages lie where they are first touched; the option numa=on keeps a thread's blocks on its node"
             : "mbind is refused: pages lie where they are first touched, and numa=on keeps apart what threads of "
               "different nodes touch");
  if (p != MAP_FAILED) munmap(p, page);
}

void addresses() {
  long page = sysconf(_SC_PAGESIZE);
  report(page == 4096 ? verdict::good : verdict::worth_knowing, "page size", bytes_text(std::uint64_t(page)),
         "read at start; one binary serves 4, 16 and 64 KiB" +
             (live().page_size == std::size_t(page) ? ""
                                                    : ", and this one works with " + bytes_text(live().page_size)));

  // The highest bit an address may have: a hint is honoured where the range exists.
  unsigned bits = 0;
  for (unsigned b = 56; b >= 30 && bits == 0; --b) {
    void* hint = reinterpret_cast<void*>((std::uintptr_t{1} << (b - 1)) + (std::uintptr_t{1} << (b - 2)));
    void* p = mmap(hint, std::size_t(page), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) continue;
    if (reinterpret_cast<std::uintptr_t>(p) >= (std::uintptr_t{1} << (b - 1))) bits = b;
    munmap(p, std::size_t(page));
  }
  report(bits >= 47 ? verdict::good : verdict::worth_knowing, "address width",
         std::to_string(bits) + " bits for programs",
         "the arena takes what fits; beyond it chunks are mapped one by one and found by a radix map");

  std::uint64_t got = 0;
  for (std::uint64_t size = std::uint64_t{32} << 40; size >= (std::uint64_t{1} << 26); size /= 2) {
    void* p = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) continue;
    munmap(p, size);
    got = size;
    break;
  }
  report(got == std::uint64_t{32} << 40 ? verdict::good : verdict::worth_knowing, "reservation",
         got ? bytes_text(got) + " of address space can be had at once" : "less than 64 MiB at once",
         "reserved without access and without charge, down a ladder of sizes; option arena_size bounds it");
}

void limits() {
  rlimit as{RLIM_INFINITY, RLIM_INFINITY}, data{RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_AS, &as);
  getrlimit(RLIMIT_DATA, &data);
  report(as.rlim_cur == RLIM_INFINITY ? verdict::good : verdict::worth_knowing, "RLIMIT_AS (ulimit -v)",
         limit_text(as.rlim_cur),
         as.rlim_cur == RLIM_INFINITY ? "the whole ladder is open"
                                      : "the arena is chosen to leave most of it to the program");
  report(data.rlim_cur == RLIM_INFINITY ? verdict::good : verdict::worth_knowing, "RLIMIT_DATA (ulimit -d)",
         limit_text(data.rlim_cur),
         data.rlim_cur == RLIM_INFINITY ? "only memory made accessible counts, in step with use"
                                        : "the arena is an eighth of it: what was opened there counts for good");

  std::string mode = first_line("/proc/sys/vm/overcommit_memory");
  report(mode == "2" ? verdict::worth_knowing : verdict::good, "overcommit_memory",
         mode.empty() ? "not told" : mode,
         mode == "2"
             ? "strict: reserved space is not charged, accessible space is, so it is made accessible in small steps"
             : "accessible memory is charged when it is touched");
  std::string maps = first_line("/proc/sys/vm/max_map_count");
  report(!maps.empty() && atol(maps.c_str()) < 65530 ? verdict::worth_knowing : verdict::good, "max_map_count",
         maps.empty() ? "not told" : maps,
         "the arena is few mappings; a refused call leaves memory in use, never lost");

  std::size_t group = polder::os::cgroup_memory_limit();
  report(group != polder::os::no_limit ? verdict::worth_knowing : verdict::good, "container's limit",
         (group != polder::os::no_limit ? bytes_text(group) : "none") +
             (works_with("cgroup=0") ? ", not looked for by the heap" : ""),
         "looked for at start, in cgroups of version 1 and 2; the heap's target is seven eighths of it, unless "
         "cgroup=0");
}

std::string or_none(std::size_t bytes) { return bytes != 0 ? bytes_text(bytes) : "none"; }

void heap_here() {
  polder_modes m = live();
  polder_statistics s{};
  s.size = sizeof s;
  polder_read_statistics(&s);
  report(verdict::good, "heap", std::string(polder_heap()) + " " + polder_version(), options_here());
  report(s.limit != 0 ? verdict::worth_knowing : verdict::good, "limit", or_none(s.limit),
         "the hard cap: what is free goes back, then malloc returns NULL; option limit or polder_set_limit");
  report(s.target != 0 ? verdict::worth_knowing : verdict::good, "target",
         or_none(s.target) + (works_with("cgroup=0") ? ", and a container's limit was not looked for"
                              : m.cgroup_limit == 0  ? ", and no container's limit was found"
                              : s.target < m.cgroup_limit
                                  ? ", of a container's limit of " + bytes_text(m.cgroup_limit)
                                  : ", above a container's limit of " + bytes_text(m.cgroup_limit)),
         "above it nothing spare is kept; option target or polder_set_target");

  // The heap's own thread comes where several have allocated; whether it could is found by starting another like it.
  static polder::os::background_thread trial;
  bool off = m.background == POLDER_BACKGROUND_OFF;
  bool may = trial.start([](void*) {}, nullptr);
  report(off || may ? verdict::good : verdict::worth_knowing, "background thread",
         off   ? "off by option"
         : may ? "may run"
               : std::string("refused: ") + strerror(trial.refusal()),
         off || !may ? "memory goes back while somebody allocates, and by malloc_trim"
                     : "it gives memory back where several threads have allocated and all sleep");
}

void huge_pages() {
  std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string mode = line.empty() ? "not in this kernel" : chosen(line);
  static const char* const done[] = {"asked for nowhere", "left to the system", "asked for everywhere",
                                     "asked for where the heap is large and dense; thp=off: nowhere",
                                     "asked for in vain: the kernel has none"};
  report(mode == "always" ? verdict::worth_knowing : verdict::good, "huge pages (THP)", mode,
         mode == "never" || line.empty() ? "none can be had; a heap that grows is faulted in page by page"
                                         : done[live().huge_pages]);
}

void system_calls() {
  bool expedited = live().membarrier != 0;
  report(expedited ? verdict::good : verdict::worth_knowing, "membarrier", expedited ? "registered" : "refused",
         expedited ? "memory of idle threads can be claimed by others"
                   : "memory of idle threads stays theirs until they run or end");

  auto rseq_size = static_cast<const unsigned*>(dlsym(RTLD_DEFAULT, "__rseq_size"));
  bool rseq = rseq_size && *rseq_size > 0;
  report(verdict::good, "rseq", rseq ? "registered by glibc" : "not registered", "not used");

  std::size_t page = std::size_t(sysconf(_SC_PAGESIZE));
  void* p = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p != MAP_FAILED) {
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
    bool populate = madvise(p, page, MADV_POPULATE_WRITE) == 0, is_off = works_with("populate=0");
    report(populate ? verdict::good : verdict::worth_knowing, "populate",
           !populate ? "refused"
           : is_off  ? "MADV_POPULATE_WRITE works, off by option"
                     : "MADV_POPULATE_WRITE works",
           populate && !is_off ? "classes that grow are faulted in many pages at a time"
                               : "pages are faulted in one by one");
    bool lazily = madvise(p, page, MADV_FREE) == 0;
    report(verdict::good, "lazy release", lazily ? "MADV_FREE works" : "MADV_FREE refused",
           "used only with the option release=free; the default shows in RSS at once");
    munmap(p, page);
  }
}

void tracers() {
  report(polder::os::probe::there ? verdict::good : verdict::worth_knowing, "probes (USDT)",
         polder::os::probe::there ? "built in" : "not built in: <sys/sdt.h> was missing (systemtap-sdt-dev)",
         "slow paths alone have them; docs/how-to/tools.md");
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    fputs("polder: doctor takes no arguments\n", stderr);
    return 2;
  }
  kernel_and_libc();
  processors();
  nodes();
  addresses();
  limits();
  huge_pages();
  system_calls();
  heap_here();
  tracers();
  return polder::os::printed("polder");
}
