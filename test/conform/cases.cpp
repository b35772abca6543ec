// The probes that ask cases of ../conformance: there a heap must answer as glibc does, here only what a standard or a
// manual demands is looked at, and what an allocator is free to choose is not.
#include <fnmatch.h>

#include <algorithm>
#include <bitset>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "../conformance/ask.hpp"
#include "probe.hpp"

namespace polder::conform {
namespace {

using conformance::catalogue;
using conformance::probe_case;

constexpr unsigned seconds_a_case = 100;

const catalogue& table() {
  static catalogue filled;
  if (filled.size() == 0) conformance::add_all(filled);
  return filled;
}

template <class F>
void for_each_part(std::string_view text, std::string_view separator, F f) {
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
}

// A word that begins with ^ must stand at the beginning, one that ends in $ at the end.
bool has(std::string_view text, std::string_view word) {
  const bool begins = word.starts_with('^'), ends = word.ends_with('$');
  word.remove_prefix(begins);
  word.remove_suffix(ends);
  if (begins && ends) return text == word;
  return begins ? text.starts_with(word) : ends ? text.ends_with(word) : text.find(word) != text.npos;
}
bool names_any(const char* words, std::string_view text) {
  bool any = false;
  if (words == nullptr) return false;
  for_each_part(words, "|", [&](std::string_view word) { any = any || has(text, word); });
  return any;
}

// Static, for a probe may be short of memory.
std::string_view without_forgiven(const char* answer, const char* forgives) {
  static char kept[2000];
  std::size_t used = 0;
  for_each_part(answer, "; ", [&](std::string_view part) {
    if (names_any(forgives, part)) return;
    if (used != 0) used += std::size_t(std::snprintf(kept + used, sizeof kept - used, "; "));
    used += std::size_t(std::snprintf(kept + used, sizeof kept - used, "%.*s", int(part.size()), part.data()));
  });
  return used == 0 ? std::string_view("ok") : std::string_view(kept, used);
}

constexpr expectation calloc_zero[] = {{"calloc after*"}, {"calloc from*"}, {"calloc beside*"}};
constexpr expectation realloc_keeps[] = {
    {"realloc from*"}, {"realloc creeping*"}, {"realloc growing*"}, {"realloc of a block from*"}};
constexpr expectation realloc_fails[] = {{"realloc of * fails", "old block intact", "damaged|block, "}};
constexpr expectation apart[] = {{"mixed life*"}};
constexpr expectation calloc_overflow[] = {{"calloc overflow*", "calloc: NULL"}};
constexpr expectation aligned_alloc[] = {{"aligned_alloc: alignment [1-9][0-9]*"}};
constexpr expectation new_aligned[] = {{"new*aligned*: all sizes"}};
constexpr expectation new_forms[] = {{"new: all*"},     {"new, *: all sizes"},     {"new nothrow: all sizes"},
                                     {"new[[]]: all*"}, {"new[[]], *: all sizes"}, {"new[[]] nothrow: all sizes"}};
constexpr expectation new_throws[] = {{"new*nothrow: 2^62", "NULL"},
                                      {"new*nothrow: PTRDIFF*", "NULL"},
                                      {"new*: 2^62", "bad_alloc"},
                                      {"new*: PTRDIFF*", "bad_alloc"}};
constexpr expectation new_size_max[] = {{"new*: SIZE_MAX"}};
constexpr expectation new_handler[] = {{"new*: new_handler is called again", "handler called 3 times"},
                                       {"new*nothrow: new_handler throws", "NULL"},
                                       {"new*: new_handler throws", "the handler's own exception"}};
constexpr expectation handler_makes_room[] = {{"new*: new_handler makes room", "room was made"}};
constexpr expectation free_sized[] = {{"free_sized"}};
constexpr expectation free_aligned_sized[] = {{"free_aligned_sized"}};

constexpr expectation enomem[] = {{"n=*: malloc", "NULL, errno ENOMEM"},
                                  {"n=*: calloc*", "NULL, errno ENOMEM"},
                                  {"n=*: realloc(*", "NULL, errno ENOMEM"},
                                  {"calloc overflow*", "errno ENOMEM"},
                                  {"n=*: aligned_alloc(16*", "NULL, errno ENOMEM"},
                                  {"n=*: posix_memalign*", "NULL, errno ENOMEM"}};
constexpr expectation free_errno[] = {{"free keeps errno*"}};
constexpr expectation einval[] = {{"posix_memalign(8) of 40", "^0, "},
                                  {"posix_memalign(*) of 40", "^EINVAL, pointer untouched$"}};
constexpr expectation posix_memalign[] = {{"posix_memalign: alignment 8,*"},
                                          {"posix_memalign: alignment [1-9][0-9]*"}};
constexpr expectation exchange[] = {{"asprintf of*", "length", "length -|NULL|lost"},
                                    {"strdup*"},
                                    {"open_memstream*", "bytes", "NULL|lost"},
                                    {"getline*", "bytes", "NULL|lost|smaller"},
                                    {"scanf*", "^1 read", "NULL|lost"},
                                    {"realpath*"},
                                    {"scandir*", "glob 0", "failed|NULL|lost"},
                                    {"tsearch*", "hcreate", "failed|no hcreate"},
                                    {"regcomp*"}};
constexpr expectation limit_null[] = {{"exhaust by malloc*"},
                                      {"exhaust by calloc*"},
                                      {"exhaust by realloc*"},
                                      {"exhaust by posix*"},
                                      {"one block of*"},
                                      {"a limit set*"},
                                      {"libc and libstdc++*", "^bad_alloc 1; afterwards 5000$"}};
constexpr expectation limit_realloc[] = {{"realloc by * until full", "errno ENOMEM", "damaged|not felt|cannot"}};
constexpr expectation limit_again[] = {{"exhaust by *, then by*"}, {"freed is reused*"}};

constexpr expectation align_16[] = {{"16-aligned*"}};
constexpr expectation zero_unique[] = {{"size 0: malloc", "they differ", "NULL"},
                                       {"size 0: calloc*", "they differ", "NULL"},
                                       {"size 0: realloc(*", "they differ", "NULL"}};
constexpr expectation realloc_zero[] = {{"realloc(p,0) of*", "realloc(p,0): NULL"}};
constexpr expectation too_large[] = {{"n=PTRDIFF_MAX+1:*", "NULL"}, {"n=SIZE_MAX*", "NULL"}};
constexpr expectation memalign[] = {{"memalign: alignment [1-9][0-9]*"}};
constexpr expectation page_calls[] = {{"valloc and pvalloc*", "kept", "not on a page|usable < n|overlap|NULL"}};
constexpr expectation usable_size[] = {
    {"malloc_usable_size(NULL)", "^0$"}, {"malloc_usable_size up*"}, {"whole usable size*"}};
constexpr expectation reallocarray[] = {
    {"reallocarray overflow*", "NULL, errno ENOMEM; old block intact", "damaged|block, "}};
constexpr expectation success_errno[] = {{"success keeps errno*"}};
constexpr expectation mallopt[] = {{"mallopt M_MXFAST 64", "^1$"},
                                   {"mallopt M_MMAP_MAX 0", "^1$"},
                                   {"mallopt M_TRIM*", "^1$"},
                                   {"mallopt M_ARENA_MAX*", "^1$"}};
constexpr expectation mallinfo[] = {{"mallinfo*follows*", "grows; falls", "does not"}};
constexpr expectation trim[] = {{"malloc_trim*", "much to give: 1$"}};
constexpr expectation info[] = {{"malloc_info(0)", "^0; a document$"}};
constexpr expectation stats[] = {{"malloc_stats", "writes lines"}};
constexpr expectation libc_names[] = {{"__libc_*alloc *", "kept by realloc", "not zero|lost|not aligned|NULL"},
                                      {"__libc_memalign*", "kept by realloc", "not aligned|lost|NULL"},
                                      {"__libc_free*"}};
constexpr expectation cfree[] = {{"cfree*"}};
constexpr expectation mixed[] = {{"new freed by free*"}};
constexpr expectation limit_use[] = {{"exhaust by malloc of*"}};

const demand probes[] = {
    {"calloc-zero", "c", "memory from calloc is zero, also where it was used before", "C17 7.22.3.2",
     "calloc forgets the end", 240, nullptr, calloc_zero},
    {"calloc-overflow", "c", "calloc(n, m) is NULL when n × m overflows", "C17 7.22.3.2; WG14 DR 266",
     "calloc multiplies", 120, nullptr, calloc_overflow},
    {"realloc-keeps", "c", "realloc keeps the contents, shrinking and growing, of aligned blocks too",
     "C17 7.22.3.5", "realloc loses a byte", 240, nullptr, realloc_keeps, "errno changed|16-aligned|usable"},
    {"realloc-fails", "c", "a realloc that fails leaves the old block as it was", "C17 7.22.3.5",
     "a failed realloc writes", 120, nullptr, realloc_fails},
    {"blocks-apart", "c", "blocks are disjoint: 20,000 steps of a mixed life, every byte checked", "C17 7.22.3",
     "blocks are 16 bytes short", 240, nullptr, apart},
    {"aligned_alloc", "c", "aligned_alloc obeys every power of two from 16 to 1 MiB, at every size", "C17 7.22.3.1",
     "alignment ends at a page", 120, nullptr, aligned_alloc, "usable|size 0: NULL"},
    {"new-forms", "c", "operator new and new[], plain and nothrow, at all sizes, with plain and sized deletes",
     "C++20 [new.delete], [basic.stc.dynamic.allocation]", "16 bytes are 8-aligned", 120, nullptr, new_forms,
     "usable|^0: not aligned|^1: not aligned|^8: not aligned"},
    {"new-aligned", "c", "the same with an align_val_t of 256, with aligned deletes",
     "C++20 [new.delete], [basic.stc.dynamic.allocation]", "alignment ends at a line", 120, nullptr, new_aligned,
     "usable"},
    {"new-throws", "c", "operator new throws bad_alloc, its nothrow forms answer NULL", "C++20 [new.delete.single]",
     "new answers NULL", 120, nullptr, new_throws},
    {"new-size-max", "c", "they do so for SIZE_MAX bytes too, where rounding up wraps around",
     "C++20 [new.delete.single]", "huge is small", 120, nullptr, new_size_max},
    {"new-handler", "c", "the new_handler is called until it gives up, and may throw", "C++20 [new.delete.single]",
     "new_handler is called once", 120, nullptr, new_handler},
    {"new-handler-makes-room", "c", "what the new_handler frees serves the very same new, under RLIMIT_AS",
     "C++20 [new.handler]", "new_handler is called once", 120, nullptr, handler_makes_room},
    {"free_sized", "c", "free_sized frees what malloc, calloc and realloc gave", "C23 7.24.3.4",
     "sized frees do nothing", 120, nullptr, free_sized, "errno"},
    {"free_aligned_sized", "c", "free_aligned_sized frees what aligned_alloc gave", "C23 7.24.3.5",
     "sized frees do nothing", 120, nullptr, free_aligned_sized, "errno"},

    {"enomem", "posix", "what cannot be had is NULL with errno ENOMEM", "POSIX.1-2017 malloc, calloc, realloc",
     "no ENOMEM", 120, nullptr, enomem},
    {"free-errno", "posix", "free does not change errno", "POSIX.1-2024 free; glibc 2.33", "free changes errno",
     120, nullptr, free_errno},
    {"posix_memalign-einval", "posix",
     "posix_memalign answers EINVAL for what is no alignment, and leaves the pointer",
     "POSIX.1-2017 posix_memalign", "any alignment will do", 120, nullptr, einval},
    {"posix_memalign", "posix", "posix_memalign obeys every power of two from 8 to 1 MiB, at every size",
     "POSIX.1-2017 posix_memalign", "alignment ends at a page", 120, nullptr, posix_memalign,
     "usable|size 0: NULL"},
    {"libc-blocks", "posix",
     "blocks that libc made (getline, strdup, asprintf, …) can be freed and grown, and the reverse",
     "POSIX.1-2017 getline, strdup, open_memstream", "realloc loses a byte", 120, nullptr, exchange,
     "16-aligned|errno"},
    {"limit-null", "posix",
     "under RLIMIT_AS memory ends with NULL and ENOMEM, or bad_alloc: no abort; blocks stay whole",
     "POSIX.1-2017 setrlimit; malloc", "no memory is an abort", 240, nullptr, limit_null, "only "},
    {"limit-realloc", "posix", "a realloc that meets RLIMIT_AS leaves the block whole",
     "POSIX.1-2017 setrlimit; realloc", "no memory is an abort", 240, nullptr, limit_realloc, "only |recovered"},
    {"limit-again", "memory",
     "what is freed under RLIMIT_AS can be had again: a third of the limit, over and over, in other sizes too",
     "none; C17 7.22.3.3 says made available", "large blocks are not freed", 240, nullptr, limit_again},

    {"align-16", "glibc", "every block is 16-aligned, the smallest too",
     "glibc manual, 3.2.3.6 Aligned Memory Blocks", "8 bytes are 8-aligned", 240, nullptr, align_16,
     "usable|overlaps"},
    {"zero-unique", "glibc", "malloc(0) is a block of its own, not NULL", "malloc(3)", "size 0 is NULL", 120,
     nullptr, zero_unique},
    {"realloc-zero", "glibc", "realloc(p, 0) frees p and answers NULL", "malloc(3)", "realloc to 0 is a block", 120,
     nullptr, realloc_zero},
    {"ptrdiff-max", "glibc", "every call refuses more than PTRDIFF_MAX", "malloc(3), NOTES; glibc 2.30",
     "huge is small", 120, nullptr, too_large},
    {"memalign", "glibc", "memalign obeys every power of two from 16 to 1 MiB, at every size", "posix_memalign(3)",
     "alignment ends at a page", 120, nullptr, memalign, "usable|size 0: NULL"},
    {"valloc", "glibc", "valloc and pvalloc give whole pages on page boundaries", "posix_memalign(3)",
     "a page is a line", 120, nullptr, page_calls},
    {"usable-size", "glibc",
     "malloc_usable_size is at least what was asked, all of it is the caller's, and realloc keeps it",
     "malloc_usable_size(3)", "usable size lies|usable size of NULL is 10", 120, nullptr, usable_size},
    {"reallocarray", "glibc", "reallocarray refuses n × m that overflows and leaves the block", "malloc(3)",
     "reallocarray multiplies", 120, nullptr, reallocarray},
    {"success-errno", "beyond", "a call that succeeds does not change errno (C permits it to)",
     "none; glibc does so", "success changes errno", 120, nullptr, success_errno},
    {"mallopt", "glibc", "mallopt takes glibc's parameters and answers 1", "mallopt(3)",
     "mallopt refuses|mallopt answers -1", 120, nullptr, mallopt},
    {"mallinfo", "glibc", "mallinfo and mallinfo2 grow with what is allocated and fall with what is freed",
     "mallinfo(3)", "mallinfo counts nothing|mallinfo only grows", 120, nullptr, mallinfo},
    {"malloc_trim", "glibc", "malloc_trim answers 1 when there is much to give back", "malloc_trim(3)",
     "malloc_trim does nothing", 120, nullptr, trim},
    {"malloc_info", "glibc", "malloc_info writes an XML document", "malloc_info(3)", "malloc_info is silent", 120,
     nullptr, info},
    {"malloc_stats", "glibc", "malloc_stats writes to standard error", "malloc_stats(3)", "malloc_stats is silent",
     120, nullptr, stats},
    {"libc-names", "beyond", "__libc_malloc and its family belong to the same heap", "none; old programs call them",
     "realloc loses a byte", 120, nullptr, libc_names, "16-aligned"},
    {"cfree", "beyond", "cfree, where it is there, frees, and keeps errno", "cfree(3), before glibc 2.26",
     "cfree changes errno", 120, nullptr, cfree},
    {"new-is-malloc", "beyond", "delete frees malloc's blocks and free frees new's",
     "none; C++ leaves it undefined, programs do it", "realloc loses a byte", 120, nullptr, mixed},
    {"limit-use", "beyond", "a third of 64 MiB of address space can be used, in blocks of 64 bytes to 7 MiB",
     "none", "a small address space is refused", 240, nullptr, limit_use},
};

const expectation* expectation_of(const demand& asked, const probe_case& c) {
  for (const auto& e : asked.expected)
    if (::fnmatch(e.pattern, c.id, 0) == 0) return &e;
  return nullptr;
}

}  // namespace

std::span<const demand> case_probes() { return probes; }

int answer_case(const char* id) { return conformance::answer_one(table(), id); }

void ask_cases(const demand& asked) {
  unsigned count = 0, absent = 0;
  std::bitset<64> has_a_case;  // by expectation
  for (const probe_case& c : table()) {
    const expectation* expected = expectation_of(asked, c);
    if (expected == nullptr) continue;
    const auto answer = conformance::ask(c, seconds_a_case);
    if (answer.hung()) probe::end(probe::verdict::hung, "%s: no end in %u s", c.id, seconds_a_case);
    if (std::strncmp(answer.text, "DIED", 4) == 0)
      probe::end(probe::verdict::crashed, "%s: %s", c.id,
                 answer.text + (answer.signal != 0 ? std::strlen("DIED of ") : std::strlen("DIED ")));
    count++;
    has_a_case[std::size_t(expected - asked.expected.data())] = true;
    if (std::strcmp(answer.text, "absent") == 0) {
      absent++;
      continue;
    }
    const auto text = without_forgiven(answer.text, asked.forgives);
    const bool met =
        expected->has == nullptr ? text == "ok" : has(text, expected->has) && !names_any(expected->lacks, text);
    if (!met) probe::end(probe::verdict::wrong, "%s: %.*s", c.id, int(text.size()), text.data());
  }
  for (std::size_t i = 0; i != asked.expected.size(); ++i)
    if (!has_a_case[i])
      probe::end(probe::verdict::crashed, "%s: no case is called %s", asked.name, asked.expected[i].pattern);
  if (absent == count) probe::end(probe::verdict::not_applicable, "the function is not there");
  note("%u cases", count);
}

}  // namespace polder::conform
