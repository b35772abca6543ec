// capi — the part of polder.h that is more than another name for a function of the C library.
#include <polder.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <polder/base/config.hpp>
#include <polder/heap/options_text.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/malloc/public.hpp>
#include <polder/malloc/report.hpp>

using namespace polder;
using namespace polder::face;

extern "C" {

POLDER_PUBLIC size_t polder_malloc_batch(size_t size, size_t count, void** blocks) noexcept {
  const size_t had = instance.allocate_batch(size, count, blocks);
  if (had < count) errno = ENOMEM;
  return had;
}

POLDER_PUBLIC void polder_free_batch(void** blocks, size_t count) noexcept {
  instance.deallocate_batch(blocks, count);
}

POLDER_PUBLIC struct polder_allocation polder_allocate_at_least(size_t size) noexcept {
  void* const p = instance.allocate(size);
  if (p == nullptr) [[unlikely]] {
    errno = ENOMEM;
    return {nullptr, 0};
  }
  return {p, instance.usable_size(p)};
}

POLDER_PUBLIC int polder_owns(const void* p) noexcept { return p != nullptr && instance.owns(p); }

POLDER_PUBLIC size_t polder_trim(size_t keep) noexcept { return instance.trim(keep); }

POLDER_PUBLIC int polder_read_statistics(struct polder_statistics* into) noexcept {
  if (into == nullptr || into->size < sizeof into->size) return EINVAL;
  const heap::statistics s = instance.read_statistics();
  const struct polder_statistics all = {
      .size = std::min(into->size, sizeof all),
      .allocated = s.allocated,
      .active = s.active,
      .resident = s.resident,
      .mapped = s.mapped,
      .reserved = s.reserved,
      .metadata = s.metadata,
      .cached = s.cached,
      .large = s.large,
      .peak = s.peak,
      .threads = s.threads,
      .labs = s.labs,
      .spans = s.spans,
      .refills = s.refills,
      .remote_frees = s.remote_frees,
      .posts = s.posts,
      .committed = s.committed,
      .limit = s.limit,
      .target = s.target,
      .waiting = s.waiting,
      .free_not_returned = s.free_not_returned,
  };
  std::memcpy(into, &all, all.size);
  return 0;
}

POLDER_PUBLIC int polder_write_statistics(int fd, int format) noexcept {
  switch (format) {
    case POLDER_FORMAT_TEXT: return write_statistics(fd, heap::stats_format::text);
    case POLDER_FORMAT_JSON: return write_statistics(fd, heap::stats_format::json);
    case POLDER_FORMAT_PROMETHEUS: return write_statistics(fd, heap::stats_format::prometheus);
    default: return EINVAL;
  }
}

POLDER_PUBLIC size_t polder_options(char* buffer, size_t size) noexcept {
  os::line_text text;
  write_options(text, instance.effective_options(), own_options);
  if (size != 0) {
    const size_t copied = std::min(size - 1, text.text().size());
    std::memcpy(buffer, text.text().data(), copied);
    buffer[copied] = '\0';
  }
  return text.text().size();
}

POLDER_PUBLIC const char* polder_heap(void) noexcept { return chosen_heap.data(); }

POLDER_PUBLIC const char* polder_version(void) noexcept { return POLDER_VERSION; }

}  // extern "C"
