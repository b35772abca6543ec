// Symbol closure (requirement 2): every function of the malloc family that this machine's libc exports, and every
// operator new and delete of its C++ library, resolves to the preloaded heap; the heap exports nothing else without a
// prefix; and it needs libc alone. Its thread-local storage is as large as the page says.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "elf_file.hpp"
#include "subject.hpp"

namespace {

using preload::elf_file;

// The path of the object that holds an address.
std::string owner_of(const void* address) {
  Dl_info info;
  char real[PATH_MAX];
  if (address == nullptr || ::dladdr(address, &info) == 0 || ::realpath(info.dli_fname, real) == nullptr)
    return "nobody";
  return real;
}
std::string loaded(const char* begin) {
  struct search {
    const char* begin;
    std::string path;
  } wanted{begin, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto* w = static_cast<search*>(data);
        const char* slash = std::strrchr(info->dlpi_name, '/');
        const char* name = slash == nullptr ? info->dlpi_name : slash + 1;
        if (std::strncmp(name, w->begin, std::strlen(w->begin)) == 0) w->path = info->dlpi_name;
        return 0;
      },
      &wanted);
  return wanted.path;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Everything libc exports whose name speaks of allocation …
bool speaks_of_allocation(const std::string& name) {
  for (const char* part : {"alloc", "memalign", "mallopt", "mallinfo", "free"})
    if (contains(name, part)) return true;
  return false;
}
// … except what is about something else, and the data objects that old hooks hung on.
bool is_about_something_else(const std::string& name) {
  static const std::set<std::string> others{"fallocate",
                                            "fallocate64",
                                            "posix_fallocate",
                                            "posix_fallocate64",
                                            "pkey_alloc",
                                            "pkey_free",
                                            "__sched_cpualloc",
                                            "__sched_cpufree",
                                            "inet6_option_alloc",
                                            "_obstack_allocated_p",
                                            "_obstack_free",
                                            "obstack_free",
                                            "obstack_alloc_failed_handler",
                                            "freeaddrinfo",
                                            "freeifaddrs",
                                            "if_freenameindex",
                                            "freelocale",
                                            "__freelocale",
                                            "globfree",
                                            "globfree64",
                                            "regfree",
                                            "wordfree",
                                            "xdr_free",
                                            "__libc_freeres",
                                            "__libc_alloca_cutoff",
                                            "__libc_allocate_rtsig",
                                            "__libc_allocate_once_slow",
                                            "__libc_scratch_buffer_dupfree",
                                            "malloc_get_state",
                                            "malloc_set_state"};
  return others.count(name) != 0 || contains(name, "_hook") || contains(name, "__libc_alloc_buffer_") ||
         name.rfind("_IO_", 0) == 0 || name.rfind("_dl_", 0) == 0;
}
bool is_operator(const std::string& name) {
  for (const char* begin : {"_Znw", "_Zna", "_Zdl", "_Zda"})
    if (name.rfind(begin, 0) == 0) return true;
  return false;
}

std::set<std::string> defined(const elf_file& file) {
  std::set<std::string> names;
  for (const auto& s : file.symbols())
    if (s.defined && s.global) names.insert(s.name);
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: symbol_closure ALLOWED_UNDEFINED PAGE_THAT_TELLS_OF_IT\n");
    return 2;
  }
  preload::tally tally(2);
  const std::string heap = preload::subject_library();
  const std::string libc = loaded("libc.so"), cxx = loaded("libstdc++.so"), linker = loaded("ld-linux");
  tally.check(!libc.empty() && !cxx.empty(), "libc or libstdc++ not found among the loaded objects");
  if (libc.empty() || cxx.empty()) return tally.result();
  const elf_file libc_file(libc), cxx_file(cxx), heap_file(heap);

  int family = 0;
  for (const auto& s : libc_file.symbols()) {
    if (!s.defined || !s.function || !speaks_of_allocation(s.name) || is_about_something_else(s.name)) continue;
    ++family;
    // cfree is kept for old programs: without its version it is found only where somebody exports it anew
    const std::string owner = owner_of(::dlsym(RTLD_DEFAULT, s.name.c_str()));
    tally.check(owner == heap, s.name + " belongs to " + owner);
  }
  tally.check(family >= 20, "only " + std::to_string(family) + " functions of the malloc family found in " + libc);
  for (const char* own : {"free_sized", "free_aligned_sized", "__posix_memalign"}) {
    const std::string owner = owner_of(::dlsym(RTLD_DEFAULT, own));
    tally.check(owner == heap, std::string(own) + " belongs to " + owner);
  }
  int operators = 0;
  for (const auto& s : cxx_file.symbols()) {
    if (!s.defined || !is_operator(s.name)) continue;
    ++operators;
    const std::string owner = owner_of(::dlsym(RTLD_DEFAULT, s.name.c_str()));
    tally.check(owner == heap, s.name + " belongs to " + owner);
  }
  tally.check(operators == 20, std::to_string(operators) + " operators new and delete found in " + cxx);

  const std::set<std::string> in_libc = defined(libc_file), in_cxx = defined(cxx_file);
  std::set<std::string> in_linker;
  if (!linker.empty()) in_linker = defined(elf_file(linker));
  std::set<std::string> allowed;
  std::ifstream list(argv[1]);
  for (std::string line; std::getline(list, line);)
    if (!line.empty() && line[0] != '#') allowed.insert(line);
  tally.check(!allowed.empty(), std::string("no names in ") + argv[1]);
  for (const auto& s : heap_file.symbols()) {
    if (!s.global) continue;
    if (s.defined) {
      const bool ours = s.name.rfind("polder_", 0) == 0 || s.name == "free_sized" ||
                        s.name == "free_aligned_sized" || s.name == "__posix_memalign";
      tally.check(ours || in_libc.count(s.name) != 0 || in_cxx.count(s.name) != 0,
                  "exports " + s.name + ", which neither libc nor libstdc++ has");
    } else {
      tally.check(allowed.count(s.name) != 0, "needs " + s.name + ", which is not on the list");
      tally.check(s.weak || in_libc.count(s.name) != 0 || in_linker.count(s.name) != 0,
                  "needs " + s.name + ", which libc does not have");
    }
  }

  for (const auto& library : heap_file.needed())
    tally.check(library.rfind("libc.so", 0) == 0, "needs the library " + library);
  const auto* const tls = heap_file.segment(PT_TLS);
  const std::string static_tls =
      std::to_string(tls != nullptr ? tls->p_memsz : 0) + " bytes of thread-local storage";
  tally.check(tls == nullptr || tls->p_memsz <= 64, "has " + static_tls);
  const char* const name = std::getenv("POLDER_TEST_HEAP");
  if (name != nullptr && std::strcmp(name, "polder") == 0) {
    std::ifstream page(argv[2]);
    const std::string told((std::istreambuf_iterator<char>(page)), {});
    tally.check(contains(told, ("has " + static_tls).c_str()),
                "has " + static_tls + ", and " + argv[2] + " says otherwise");
  }
  if (const auto* stack = heap_file.segment(PT_GNU_STACK))
    tally.check((stack->p_flags & PF_X) == 0, "asks for an executable stack");
  tally.check(!heap_file.has_dynamic(DT_TEXTREL), "has text relocations");
  tally.check(heap_file.segment(PT_GNU_RELRO) != nullptr, "has no read-only relocations");
  // the probe itself must use the C++ library, or there is nothing to resolve
  ::operator delete(::operator new(1));
  return tally.result();
}
