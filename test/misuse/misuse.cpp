// Bad input: each mistake a program can make with free must stop it with SIGABRT and exactly one line on standard error
// that begins "polder: ", names the kind of mistake and the address. Never silent, never a segmentation fault.
//   misuse              runs every case in a process of its own and compares
//   misuse list         names the cases
//   misuse CASE         makes that mistake here and now
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>

#include "../probe/again.hpp"
#include "../probe/block.hpp"
#include "../probe/elsewhere.hpp"
#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"

using namespace polder;
using probe::block;
using probe::elsewhere;
using probe::give_back;
using probe::opaque;

extern "C" {
[[gnu::weak]] void free_sized(void*, std::size_t);
[[gnu::weak]] void free_aligned_sized(void*, std::size_t, std::size_t);
}

// The driver looks for this address in the message.
static void announce(const void* p) {
  char text[64];
  int n = std::snprintf(text, sizeof text, "%p\n", p);
  [[maybe_unused]] auto written = ::write(1, text, std::size_t(n));
}

// Has a foreign thread hold a value, so that the main thread is not the owner; the thread has ended afterwards.
static char* block_of_ended_thread(std::size_t size) {
  struct answer {
    std::size_t size;
    char* p;
  } it{size, nullptr};
  elsewhere([](void* a) { static_cast<answer*>(a)->p = block(static_cast<answer*>(a)->size); }, &it);
  return it.p;
}

// --- freed twice -------------------------------------------------------------------------------------------------

template <std::size_t size>
static void freed_twice() {
  char* p = block(size);
  announce(p);
  give_back(p);
  give_back(p);
}

template <std::size_t size>
static void freed_twice_with_others_between() {
  char* before[10];
  for (auto& b : before) b = block(size);
  char* p = block(size);
  char* after[10];
  for (auto& b : after) b = block(size);
  announce(p);
  give_back(p);
  for (auto* b : before) give_back(b);
  for (auto* b : after) give_back(b);
  give_back(p);
}

// Frees so much between that the span of p may be empty by then.
static void freed_twice_in_an_empty_span() {
  constexpr int many = 3000;
  static char* all[many];
  for (auto& b : all) b = block(64);
  announce(all[many / 2]);
  for (auto* b : all) give_back(b);
  give_back(all[many / 2]);
}

template <std::size_t size>
static void freed_twice_by_another_thread() {
  // What starting a thread allocates must not land on the freed block: then it would be live again, and no mistake.
  elsewhere([](void*) {}, nullptr);
  char* p = block(size);
  announce(p);
  give_back(p);
  elsewhere([](void* q) { give_back(q); }, p);
}

template <std::size_t size>
static void freed_by_another_thread_then_by_owner() {
  char* p = block(size);
  announce(p);
  elsewhere([](void* q) { give_back(q); }, p);
  give_back(p);
  // Where a remote free is posted, the owner learns of it when it next looks.
  for (int i = 0; i < 10000; i++) give_back(block(size));
  ::malloc_trim(0);
}

static void freed_twice_after_its_thread_ended() {
  char* p = block_of_ended_thread(64);
  announce(p);
  give_back(p);
  give_back(p);
  ::malloc_trim(0);
}

static void freed_twice_aligned() {
  void* p = opaque(::memalign(4096, 5000));
  announce(p);
  give_back(p);
  give_back(p);
}

static void freed_twice_after_trim() {
  char* p = block(300 << 10);
  announce(p);
  give_back(p);
  ::malloc_trim(0);
  give_back(p);
}

static void deleted_twice() {
  auto* p = opaque(static_cast<char*>(::operator new(48)));
  announce(p);
  auto* same = opaque(p);
  ::operator delete(p);
  ::operator delete(same);
}

// --- not the start of a block ------------------------------------------------------------------------------------

template <std::size_t size, std::size_t offset>
static void freed_inside() {
  char* p = block(size) + offset;
  announce(p);
  give_back(p);
}

static void freed_inside_someone_elses() {
  char* p = block_of_ended_thread(128) + 32;
  announce(p);
  give_back(p);
  ::malloc_trim(0);
}

// --- not memory of the heap --------------------------------------------------------------------------------------

static void freed_stack() {
  alignas(64) char here[256] = {};
  announce(here);
  give_back(here);
}

alignas(64) static char standing[256];
static void freed_static() {
  announce(standing);
  give_back(standing);
}

static void freed_mapping() {
  void* p = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  announce(p);
  give_back(p);
}

static void freed_unmapped() {
  void* p = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::munmap(p, 1 << 20);
  announce(p);
  give_back(p);
}

template <std::uintptr_t address>
static void freed_number() {
  void* p = reinterpret_cast<void*>(address);
  announce(p);
  give_back(p);
}

// In the middle of a page: at its beginning a block may begin that somebody has, as the C++ library's for exceptions, which lies
// where the system maps it.
template <std::uintptr_t distance>
static void freed_far_from_a_block() {
  auto near = reinterpret_cast<std::uintptr_t>(block(64)) & ~std::uintptr_t{4095};
  void* p = reinterpret_cast<void*>(near + distance + 2048);
  announce(p);
  give_back(p);
}

static void freed_function() {
  void* p = opaque(reinterpret_cast<void*>(&freed_unmapped));
  announce(p);
  give_back(p);
}

// --- writes into free blocks -------------------------------------------------------------------------------------

// Allocates from where p lay until the heap must have looked at it.
static void allocate_past(std::size_t size) {
  for (int i = 0; i < 20000; i++) block(size);
}

template <std::size_t size, std::size_t from, std::size_t bytes>
static void written_after_free() {
  char* keep[4];
  for (auto& k : keep) k = block(size);
  char* p = block(size);
  block(size);
  announce(p);
  give_back(p);
  auto* q = opaque(p);
  for (std::size_t i = from; i < from + bytes; i++) q[i] = 0x41;
  allocate_past(size);
}

static void overflowed_into_free() {
  constexpr std::size_t size = 64, many = 200;
  static char* all[many];
  for (auto& b : all) b = block(size);
  for (std::size_t i = 0; i < many; i++) {
    for (std::size_t k = 0; k < many; k++) {
      // Some heaps have a few bytes of their own between two blocks.
      const std::size_t room = ::malloc_usable_size(all[i]);
      if (all[k] < all[i] + room || all[k] > all[i] + room + 16) continue;
      char* before = opaque(all[i]);
      announce(all[k]);
      give_back(all[k]);
      for (char* at = before + room; at != all[k] + 16; at++) *at = 0x42;
      allocate_past(size);
      return;
    }
  }
  probe::fail("no two blocks lie side by side");
}

static void link_aimed_at_the_stack() {
  char* p = block(64);
  char* other = block(64);
  give_back(other);
  announce(p);
  give_back(p);
  alignas(16) static char target[128];
  *reinterpret_cast<void**>(opaque(p)) = target;
  for (int i = 0; i < 20000; i++) {
    char* got = block(64);
    if (got >= target && got < target + sizeof target) probe::fail("malloc returned an attacker's address");
  }
}

// --- sizes that are not the block's ------------------------------------------------------------------------------

template <std::size_t size, std::size_t claimed>
static void deleted_with_wrong_size() {
  auto* p = opaque(static_cast<char*>(::operator new(size)));
  announce(p);
  ::operator delete(p, opaque(claimed));
}

static void freed_sized_wrong() {
  char* p = block(100);
  announce(p);
  if (!opaque(&free_sized)) probe::fail("no free_sized here");
  free_sized(p, 1000);
}

static void freed_aligned_sized_wrong() {
  void* p = opaque(::aligned_alloc(256, 512));
  announce(p);
  if (!opaque(&free_aligned_sized)) probe::fail("no free_aligned_sized here");
  free_aligned_sized(p, 256, 20000);
}

static void freed_aligned_sized_too_small() {
  void* p = opaque(::aligned_alloc(64, 640));
  announce(p);
  if (!opaque(&free_aligned_sized)) probe::fail("no free_aligned_sized here");
  free_aligned_sized(p, 64, 64);
}

static void deleted_aligned_too_small() {
  constexpr std::align_val_t wide{64};
  auto* p = opaque(static_cast<char*>(::operator new(640, wide)));
  announce(p);
  ::operator delete(p, opaque(std::size_t{64}), wide);
}

// --- realloc and usable size -------------------------------------------------------------------------------------

template <std::size_t size>
static void reallocated_after_free() {
  char* p = block(size);
  announce(p);
  give_back(p);
  opaque(std::realloc(opaque(p), size * 3));
}

static void reallocated_inside() {
  char* p = block(256) + 64;
  announce(p);
  opaque(std::realloc(opaque(p), 1000));
}

static void reallocated_foreign() {
  announce(standing);
  opaque(std::realloc(opaque(standing + 0), 1000));
}

static void measured_foreign() {
  announce(standing);
  opaque(::malloc_usable_size(opaque(standing + 0)));
}

static void measured_inside() {
  char* p = block(256) + 16;
  announce(p);
  opaque(::malloc_usable_size(p));
}

static void measured_after_free() {
  char* p = block(64);
  announce(p);
  give_back(p);
  opaque(::malloc_usable_size(p));
}

// -----------------------------------------------------------------------------------------------------------------

struct mistake {
  const char* name;
  void (*make)();
  const char* kinds;             // any of these, separated by |
  const char* others = nullptr;  // also any of these, but of the flagship, which never forgets memory that it had
};

static constexpr const char* twice = "double free";
static constexpr const char* stray = "invalid free|misaligned free";
static constexpr const char* alien = "free of a foreign pointer|invalid free";
static constexpr const char* damage = "corrupted free block";
static constexpr const char* mismatch = "size mismatch";

static constexpr const char* gone = "invalid free|free of a foreign pointer";

static constexpr mistake mistakes[] = {
    {"freed_twice_16", freed_twice<16>, twice},
    {"freed_twice_64", freed_twice<64>, twice},
    {"freed_twice_1", freed_twice<1>, twice},
    {"freed_twice_8k", freed_twice<8192>, twice},
    {"freed_twice_32k", freed_twice<32768>, twice},
    {"freed_twice_256k", freed_twice<(256 << 10)>, twice},
    {"freed_twice_2m", freed_twice<(2 << 20)>, twice},
    {"freed_twice_16m", freed_twice<(16 << 20)>, "double free|free of a foreign pointer|invalid free"},
    {"freed_twice_with_others_between_32", freed_twice_with_others_between<32>, twice},
    {"freed_twice_with_others_between_4k", freed_twice_with_others_between<4096>, twice, gone},
    {"freed_twice_with_others_between_128k", freed_twice_with_others_between<(128 << 10)>, twice},
    {"freed_twice_in_an_empty_span", freed_twice_in_an_empty_span, "double free|invalid free"},
    {"freed_twice_by_another_thread_64", freed_twice_by_another_thread<64>, twice},
    {"freed_twice_by_another_thread_256k", freed_twice_by_another_thread<(256 << 10)>, twice},
    {"freed_by_another_thread_then_by_owner_64", freed_by_another_thread_then_by_owner<64>, twice},
    {"freed_by_another_thread_then_by_owner_8k", freed_by_another_thread_then_by_owner<8192>, twice},
    {"freed_twice_after_its_thread_ended", freed_twice_after_its_thread_ended, twice},
    {"freed_twice_aligned", freed_twice_aligned, twice},
    {"freed_twice_after_trim", freed_twice_after_trim, "double free|invalid free|free of a foreign pointer"},
    {"deleted_twice", deleted_twice, twice},
    {"freed_inside_64_by_16", freed_inside<64, 16>, stray},
    {"freed_inside_64_by_32", freed_inside<64, 32>, stray},
    {"freed_inside_1000_by_512", freed_inside<1000, 512>, stray},
    {"freed_inside_20k_by_4k", freed_inside<20000, 4096>, stray},
    {"freed_inside_300k_by_64k", freed_inside<(300 << 10), (64 << 10)>, stray, gone},
    {"freed_inside_300k_by_16", freed_inside<(300 << 10), 16>, stray},
    {"freed_inside_16m_by_4m", freed_inside<(16 << 20), (4 << 20)>, "invalid free|free of a foreign pointer"},
    {"freed_inside_16m_by_16", freed_inside<(16 << 20), 16>, "invalid free|free of a foreign pointer"},
    {"freed_inside_someone_elses", freed_inside_someone_elses, stray},
    {"freed_misaligned_by_1", freed_inside<64, 1>, "misaligned free"},
    {"freed_misaligned_by_8", freed_inside<64, 8>, "misaligned free"},
    {"freed_misaligned_large_by_8", freed_inside<(300 << 10), 8>, "misaligned free"},
    {"freed_misaligned_huge_by_1", freed_inside<(16 << 20), 1>, "misaligned free"},
    {"freed_stack", freed_stack, alien},
    {"freed_static", freed_static, alien},
    {"freed_function", freed_function, "free of a foreign pointer|invalid free|misaligned free"},
    {"freed_mapping", freed_mapping, alien},
    {"freed_unmapped", freed_unmapped, alien},
    {"freed_number_16", freed_number<16>, alien},
    {"freed_number_4096", freed_number<4096>, alien},
    {"freed_number_non_canonical", freed_number<0x4141414141414140>, alien},
    {"freed_number_kernel", freed_number<0xffff888000000000>, alien},
    {"freed_number_top", freed_number<0xfffffffffffffff0>, alien},
    {"freed_1g_from_a_block", freed_far_from_a_block<(1 << 30)>, alien},
    {"freed_1m_from_a_block", freed_far_from_a_block<(1 << 20)>, alien},
    {"written_after_free_16_first", written_after_free<16, 0, 16>, damage},
    {"written_after_free_64_first_8", written_after_free<64, 0, 8>, damage},
    {"written_after_free_64_all", written_after_free<64, 0, 64>, damage},
    {"written_after_free_2k_all", written_after_free<2048, 0, 2048>, damage},
    {"overflowed_into_free", overflowed_into_free, damage},
    {"link_aimed_at_the_stack", link_aimed_at_the_stack, damage},
    {"deleted_with_wrong_size_64_as_256", deleted_with_wrong_size<64, 256>, mismatch},
    {"deleted_with_wrong_size_256_as_64", deleted_with_wrong_size<256, 64>, mismatch},
    {"deleted_with_wrong_size_64_as_1m", deleted_with_wrong_size<64, (1 << 20)>, mismatch},
    {"deleted_with_wrong_size_1m_as_64", deleted_with_wrong_size<(1 << 20), 64>, mismatch},
    {"deleted_with_wrong_size_16m_as_1m", deleted_with_wrong_size<(16 << 20), (1 << 20)>, mismatch},
    {"freed_sized_wrong", freed_sized_wrong, mismatch},
    {"freed_aligned_sized_wrong", freed_aligned_sized_wrong, mismatch},
    {"freed_aligned_sized_too_small", freed_aligned_sized_too_small, mismatch},
    {"deleted_aligned_too_small", deleted_aligned_too_small, mismatch},
    {"reallocated_after_free_64", reallocated_after_free<64>, "double free|invalid free"},
    {"reallocated_after_free_256k", reallocated_after_free<(256 << 10)>, "double free|invalid free"},
    {"reallocated_inside", reallocated_inside, stray},
    {"reallocated_foreign", reallocated_foreign, alien},
    {"measured_foreign", measured_foreign, alien},
    {"measured_inside", measured_inside, stray},
    {"measured_after_free", measured_after_free, "double free|invalid free"},
};

static bool names_a_kind(const char* message, const char* kinds) {
  char list[256];
  std::snprintf(list, sizeof list, "%s", kinds);
  for (char* kind = std::strtok(list, "|"); kind; kind = std::strtok(nullptr, "|")) {
    if (std::strstr(message, kind)) return true;
  }
  return false;
}

// Why the outcome is wrong; nullptr if it is right.
static const char* wrong(const mistake& m, const probe::outcome& result) {
  if (result.timed_out) return "did not end in time";
  if (WIFEXITED(result.status)) return WEXITSTATUS(result.status) == 0 ? "went unnoticed" : "exited";
  if (result.signal() != SIGABRT) return strsignal(result.signal());
  if (result.err_size == 0) return "no message";
  if (std::strncmp(result.err, "polder: ", 8) != 0) return "the message does not begin with \"polder: \"";
  if (std::strchr(result.err, '\n') != result.err + result.err_size - 1) return "not exactly one line";
  const char* heap = std::getenv("POLDER_TEST_HEAP");
  const bool forgets = m.others && heap && std::strcmp(heap, "polder") != 0;
  if (!names_a_kind(result.err, m.kinds) && !(forgets && names_a_kind(result.err, m.others)))
    return "the message names another kind";
  char address[64];
  std::snprintf(address, sizeof address, "%s", result.out);
  address[std::strcspn(address, "\n")] = 0;
  if (address[0] == 0 || !std::strstr(result.err, address)) return "the message does not give the address";
  return nullptr;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    for (auto& m : mistakes) {
      if (std::strcmp(argv[1], "list") == 0) {
        probe::say("%s", m.name);
      } else if (std::strcmp(argv[1], m.name) == 0) {
        m.make();
        return 0;
      }
    }
    return std::strcmp(argv[1], "list") == 0 ? 0 : 2;
  }
  unsigned failures = 0;
  for (auto& m : mistakes) {
    const char* args[] = {m.name, nullptr};
    const char* settings[] = {nullptr};
    auto result = probe::run_again(args, settings, 20);
    if (const char* why = wrong(m, result)) {
      result.err[std::strcspn(result.err, "\n")] = 0;
      result.out[std::strcspn(result.out, "\n")] = 0;
      probe::say("%-42s FAILED: %s; wanted %s at %.20s; said \"%s\"", m.name, why, m.kinds, result.out, result.err);
      failures++;
    }
  }
  probe::say("%u of %zu mistakes not stopped as they should be", failures, std::size(mistakes));
  return failures ? 1 : 0;
}
