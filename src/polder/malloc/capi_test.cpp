#include <gtest/gtest.h>
#include <polder.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

TEST(capi, a_batch_is_as_many_blocks_of_that_size) {
  for (const std::size_t size : {0, 1, 16, 100, 5000, 100'000}) {
    std::vector<void*> blocks(100);
    ASSERT_EQ(polder_malloc_batch(size, blocks.size(), blocks.data()), blocks.size());
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
    for (void* p : blocks) {
      ASSERT_GE(polder_usable_size(p), size);
      std::memset(p, 0x5a, size);
    }
    for (std::size_t i = 0; i < blocks.size(); i += 7) polder_free(blocks[i]), blocks[i] = nullptr;
    polder_free_batch(blocks.data(), blocks.size());
  }
  polder_free_batch(nullptr, 0);
  EXPECT_EQ(polder_malloc_batch(16, 0, nullptr), 0u);
}

TEST(capi, a_batch_takes_blocks_of_any_size_and_origin) {
  std::vector<void*> blocks;
  for (std::size_t size = 1; size < 3'000'000; size = size * 3 / 2 + 1) {
    blocks.push_back(polder_malloc(size));
    blocks.push_back(polder_aligned_alloc(4096, size));
    blocks.push_back(polder_calloc(size, 1));
  }
  polder_free_batch(blocks.data(), blocks.size());
}

TEST(capi, a_batch_that_cannot_be_had_in_full_says_so) {
  void* blocks[3];
  errno = 0;
  volatile std::size_t n = SIZE_MAX;
  EXPECT_EQ(polder_malloc_batch(n, 3, blocks), 0u);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(capi, posix_memalign_returns_what_is_wrong_and_keeps_errno) {
  for (const std::size_t alignment : {16, 64, 4096}) {
    void* p = &p;
    errno = EDOM;
    volatile std::size_t n = SIZE_MAX;
    EXPECT_EQ(polder_posix_memalign(&p, alignment, n), ENOMEM);
    EXPECT_EQ(polder_posix_memalign(&p, alignment, n / 2 - alignment), ENOMEM);
    EXPECT_EQ(polder_posix_memalign(&p, alignment + 1, 1), EINVAL);
    EXPECT_EQ(p, &p);
    EXPECT_EQ(errno, EDOM);
  }
}

TEST(capi, at_least_tells_the_usable_size) {
  for (std::size_t size = 0; size < 70'000; size += 111) {
    const polder_allocation a = polder_allocate_at_least(size);
    ASSERT_NE(a.ptr, nullptr);
    EXPECT_GE(a.size, size);
    EXPECT_EQ(a.size, polder_usable_size(a.ptr));
    std::memset(a.ptr, 1, a.size);
    polder_free_sized(a.ptr, size % 2 == 0 ? size : a.size);
  }
  errno = 0;
  volatile std::size_t n = SIZE_MAX;
  EXPECT_EQ(polder_allocate_at_least(n).ptr, nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(capi, a_sized_free_takes_the_size_that_realloc_was_given) {
  for (const std::size_t from : {10, 100, 5000, 100'000}) {
    for (const std::size_t to : {10, 90, 100, 4000, 5000, 60'000, 200'000}) {
      polder_free_sized(polder_realloc(polder_malloc(from), to), to);
    }
  }
}

TEST(capi, owns) {
  void* const p = polder_malloc(100);
  int local = 0;
  EXPECT_EQ(polder_owns(p), 1);
  EXPECT_EQ(polder_owns(&local), 0);
  EXPECT_EQ(polder_owns(nullptr), 0);
  polder_free(p);
}

TEST(capi, statistics_hold_their_invariant_and_see_a_block) {
  polder_statistics before{};
  before.size = sizeof before;
  ASSERT_EQ(polder_read_statistics(&before), 0);
  EXPECT_EQ(before.size, sizeof before);
  constexpr std::size_t big = 64 << 20;
  void* const p = polder_malloc(big);
  std::memset(p, 1, big);
  polder_statistics after{};
  after.size = sizeof after;
  ASSERT_EQ(polder_read_statistics(&after), 0);
  EXPECT_GE(after.allocated, before.allocated + big);
  EXPECT_LE(after.allocated, after.active);
  EXPECT_LE(after.active, after.resident);
  EXPECT_LE(after.resident, after.mapped);
  EXPECT_LE(after.mapped, after.reserved);
  polder_free(p);
}

// What polder_write_statistics writes.
std::string written(int format) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  std::string all;
  std::thread reader([&] {
    char piece[1000];
    for (ssize_t n; (n = ::read(ends[0], piece, sizeof piece)) > 0;) all.append(piece, std::size_t(n));
  });
  errno = 77;
  EXPECT_EQ(polder_write_statistics(ends[1], format), 0);
  EXPECT_EQ(errno, 77);
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  return all;
}

TEST(capi, statistics_are_written_in_each_format) {
  void* const p = polder_malloc(48);
  const std::string text = written(POLDER_FORMAT_TEXT), json = written(POLDER_FORMAT_JSON),
                    prometheus = written(POLDER_FORMAT_PROMETHEUS);
  polder_free(p);
  EXPECT_EQ(text.rfind("polder: ", 0), 0u);
  EXPECT_NE(text.find("\npolder: class of 48 bytes: spans 1, "), text.npos);
  EXPECT_NE(text.find("\npolder: lab 1: thread "), text.npos);
  EXPECT_EQ(json.rfind("{\"version\": \"" POLDER_VERSION "\", \"heap\": \"polder\",", 0), 0u);
  EXPECT_EQ(json.substr(json.size() - 2), "}\n");
  EXPECT_NE(json.find("{\"block_size\": 48, \"spans\": 1, "), json.npos);
  EXPECT_NE(prometheus.find("\npolder_allocated_bytes{heap=\"polder\"} "), prometheus.npos);
  EXPECT_NE(prometheus.find("\npolder_class_spans{heap=\"polder\",class=\"48\"} 1\n"), prometheus.npos);
  EXPECT_NE(prometheus.find("\n# TYPE polder_refills_total counter\n"), prometheus.npos);
  EXPECT_NE(prometheus.find("\npolder_lab_inbox_bytes{heap=\"polder\",lab=\"1\"} "), prometheus.npos);
}

TEST(capi, statistics_that_cannot_be_written) {
  EXPECT_EQ(polder_write_statistics(-1, 3), EINVAL);
  EXPECT_EQ(polder_write_statistics(-1, -1), EINVAL);
  for (const int format : {POLDER_FORMAT_TEXT, POLDER_FORMAT_JSON, POLDER_FORMAT_PROMETHEUS})
    EXPECT_EQ(polder_write_statistics(-1, format), EBADF);
}

TEST(capi, statistics_of_another_version) {
  struct {
    polder_statistics all;
    char later[16];
  } room;
  std::memset(&room, 0x5a, sizeof room);
  room.all.size = sizeof room;  // a caller newer than the library
  EXPECT_EQ(polder_read_statistics(&room.all), 0);
  EXPECT_EQ(room.all.size, sizeof room.all);
  EXPECT_EQ(room.later[0], 0x5a);
  room.all.size = 2 * sizeof(std::size_t);  // an older one
  room.all.active = 12345;
  EXPECT_EQ(polder_read_statistics(&room.all), 0);
  EXPECT_EQ(room.all.active, 12345u);
  room.all.size = 1;
  EXPECT_EQ(polder_read_statistics(&room.all), EINVAL);
  EXPECT_EQ(polder_read_statistics(nullptr), EINVAL);
}

std::size_t held() {
  polder_statistics s{};
  s.size = sizeof s;
  EXPECT_EQ(polder_read_statistics(&s), 0);
  return s.committed;
}

TEST(capi, a_cap_is_kept_and_read_back) {
  polder_trim(0);  // what others left could serve it
  constexpr std::size_t big = 64 << 20;
  EXPECT_EQ(polder_set_limit(held() + big / 2), 0);
  polder_statistics s{};
  s.size = sizeof s;
  ASSERT_EQ(polder_read_statistics(&s), 0);
  EXPECT_EQ(s.limit, s.committed + big / 2);
  errno = 0;
  void* p = polder_malloc(big);
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(polder_set_limit(0), 0);
  p = polder_malloc(big);
  EXPECT_NE(p, nullptr);
  polder_free(p);
}

struct asked {
  void* spare = nullptr;
  int times = 0;
  std::size_t wanted = 0;

  static int give_it_up(std::size_t wanted, void* self) {
    auto& a = *static_cast<asked*>(self);
    ++a.times;
    a.wanted = wanted;
    polder_free(polder_malloc(100));
    EXPECT_EQ(polder_malloc(std::size_t{1} << 40), nullptr);  // and nobody is asked within
    if (a.spare == nullptr) return 0;
    polder_free(a.spare);
    a.spare = nullptr;
    return 1;
  }
};

TEST(capi, who_watches_the_cap_is_asked_until_it_gives_up) {
  constexpr std::size_t big = 64 << 20;
  asked a{.spare = polder_malloc(big)};
  EXPECT_EQ(polder_set_limit(held() + big / 2), 0);
  EXPECT_EQ(polder_on_limit(asked::give_it_up, &a), 0);
  void* const p = polder_malloc(big);
  EXPECT_NE(p, nullptr);
  EXPECT_EQ(a.times, 1);
  EXPECT_GE(a.wanted, big);
  EXPECT_EQ(polder_malloc(big), nullptr);
  EXPECT_EQ(a.times, 2);
  EXPECT_EQ(polder_on_limit(nullptr, nullptr), 0);
  EXPECT_EQ(polder_malloc(big), nullptr);
  EXPECT_EQ(a.times, 2);
  EXPECT_EQ(polder_set_limit(0), 0);
  polder_free(p);
}

TEST(capi, who_watches_the_target_is_told_of_each_crossing) {
  constexpr std::size_t big = 64 << 20;
  static std::vector<std::size_t> told;
  told.clear();
  told.reserve(10);
  EXPECT_EQ(polder_set_target(held() + big / 2), 0);
  EXPECT_EQ(polder_on_target([](std::size_t committed,
                                void* to) { static_cast<std::vector<std::size_t>*>(to)->push_back(committed); },
                             &told),
            0);
  polder_statistics s{};
  s.size = sizeof s;
  ASSERT_EQ(polder_read_statistics(&s), 0);
  for (int i = 0; i != 2; ++i) {
    void* const p = polder_malloc(big);
    EXPECT_NE(p, nullptr);
    void* const q = polder_malloc(big);
    EXPECT_NE(q, nullptr);
    ASSERT_EQ(told.size(), std::size_t(i) + 1);
    EXPECT_GT(told.back(), s.target);
    polder_free(p);
    polder_free(q);
  }
  EXPECT_EQ(polder_on_target(nullptr, nullptr), 0);
  EXPECT_EQ(polder_set_target(0), 0);
}

// A thread that only frees gets a LAB for that, and memory for more of them may be what crosses the target.
TEST(capi, a_free_keeps_errno_whatever_who_watches_the_target_does) {
  constexpr unsigned threads = 24;
  static std::atomic<unsigned> told, changed, ready, go, done;
  void* blocks[threads];
  for (void*& p : blocks) p = polder_malloc(100);
  std::vector<std::thread> crew;
  for (void* const p : blocks)
    crew.emplace_back([p] {
      ++ready;
      go.wait(0);
      errno = 77;
      polder_free(p);
      changed += errno != 77;
      ++done, done.notify_all();
      go.wait(1);
    });
  while (ready != threads) std::this_thread::yield();
  EXPECT_EQ(polder_on_target([](std::size_t, void*) { ++told, errno = 5; }, nullptr), 0);
  polder_trim(0);
  EXPECT_EQ(polder_set_target(held()), 0);
  go = 1, go.notify_all();
  for (unsigned now; (now = done) != threads;) done.wait(now);
  go = 2, go.notify_all();
  for (std::thread& t : crew) t.join();
  EXPECT_NE(told, 0u);
  EXPECT_EQ(changed, 0u);
  EXPECT_EQ(polder_on_target(nullptr, nullptr), 0);
  EXPECT_EQ(polder_set_target(0), 0);
}

TEST(capi, modes) {
  polder_modes m{};
  m.size = sizeof m;
  ASSERT_EQ(polder_read_modes(&m), 0);
  EXPECT_EQ(m.size, sizeof m);
  EXPECT_GE(m.page_size, 4096u);
  EXPECT_NE(m.background, POLDER_BACKGROUND_OFF);
  EXPECT_EQ(m.background_error != 0, m.background == POLDER_BACKGROUND_REFUSED);
  m.size = 2 * sizeof(std::size_t);  // of an older caller
  m.huge_pages = 77;
  EXPECT_EQ(polder_read_modes(&m), 0);
  EXPECT_EQ(m.huge_pages, 77);
  m.size = 1;
  EXPECT_EQ(polder_read_modes(&m), EINVAL);
  EXPECT_EQ(polder_read_modes(nullptr), EINVAL);
}

TEST(capi, options_are_text_as_snprintf_would_give_it) {
  const std::size_t length = polder_options(nullptr, 0);
  std::vector<char> text(length + 1, '?');
  EXPECT_EQ(polder_options(text.data(), text.size()), length);
  EXPECT_EQ(std::strlen(text.data()), length);
  EXPECT_NE(std::string(text.data()).find("decay_ms="), std::string::npos);
  char little[5] = "????";
  EXPECT_EQ(polder_options(little, sizeof little), length);
  EXPECT_EQ(std::string(little), std::string(text.data(), 4));
}

TEST(capi, names_itself) {
  EXPECT_STREQ(polder_heap(), "polder");
  EXPECT_STREQ(polder_version(), POLDER_VERSION);
}

TEST(capi, gives_memory_back) {
  std::vector<void*> blocks(2000);
  ASSERT_EQ(polder_malloc_batch(16'000, blocks.size(), blocks.data()), blocks.size());
  for (void* p : blocks) std::memset(p, 1, 16'000);
  polder_free_batch(blocks.data(), blocks.size());
  EXPECT_GT(polder_trim(0), std::size_t{16} << 20);
}

}  // namespace
