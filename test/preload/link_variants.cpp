// The heap linked in, not preloaded (requirement 2): from the archive, from the objects, or all of it static. Every
// function of the family must be the heap's, and with -static none of libc's own malloc may have come along.
#include <polder.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "../conformance/calls.hpp"
#include "elf_file.hpp"
#include "subject.hpp"

namespace subject = conformance::subject;

int main() {
  preload::tally tally(2);
  auto ours = [&](const char* what, void* p) {
    tally.check(p != nullptr && polder_owns(p) != 0, std::string(what) + " is not the heap's");
    subject::free(p);
  };
  ours("malloc", subject::malloc(100));
  ours("malloc of 10M", subject::malloc(10 << 20));
  ours("calloc", subject::calloc(3, 100));
  ours("realloc", subject::realloc(subject::malloc(10), 5000));
  ours("reallocarray", subject::reallocarray(nullptr, 10, 10));
  ours("aligned_alloc", subject::aligned_alloc(64, 640));
  ours("memalign", subject::memalign(4096, 100));
  ours("valloc", subject::valloc(100));
  ours("pvalloc", subject::pvalloc(100));
  void* p = nullptr;
  tally.check(subject::posix_memalign(&p, 1024, 100) == 0, "posix_memalign fails");
  ours("posix_memalign", p);
  ours("new", subject::new_plain(100));
  ours("new[]", subject::new_array(100));
  ours("new aligned", subject::new_plain(100, std::align_val_t(512)));
  ours("new nothrow", subject::new_plain(100, std::nothrow));
  char* text = nullptr;
  tally.check(::asprintf(&text, "%d", 12345) == 5, "asprintf fails");
  ours("asprintf", text);
  ours("strdup", conformance::opaque(&::strdup)("a text"));

  try {
    subject::new_plain(std::size_t{1} << 62);
    tally.check(false, "new of 2^62 does not throw");
  } catch (const std::bad_alloc&) {
  }
  for (int i = 0; i < 100; ++i)
    std::thread([] { std::vector<std::string> words(100, std::string(100, 'w')); }).join();
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (std::size_t n = 1; n < 1 << 20; n *= 3) subject::free(subject::malloc(n));
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    tally.check(status == 0, "a forked child fails");
  }

  // glibc's malloc.o brings these local names; nothing else does
  const preload::elf_file self(preload::self_path());
  const auto all = self.symbols(SHT_SYMTAB);
  tally.check(!all.empty(), "this program is stripped, and cannot be looked at");
  for (const auto& s : all)
    tally.check(!(s.defined && (s.name == "_int_malloc" || s.name == "_int_free" || s.name == "ptmalloc_init")),
                s.name + " of libc's malloc is linked in");
  return tally.result();
}
