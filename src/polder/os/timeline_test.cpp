#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/recorded_test.hpp>

namespace polder::os {
namespace {

using timeline::kind;

bool exists(const std::string& file) { return ::access(file.c_str(), F_OK) == 0; }

// A folder of its own for each test, and no recording after it.
class timeline_recorder : public testing::Test {
 protected:
  timeline_recorder() {
    std::string name = testing::TempDir() + "timeline-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    file = folder_ + "/it";
  }
  ~timeline_recorder() override {
    timeline::stop();
    static_cast<void>(std::system(("rm -rf '" + folder_ + "'").c_str()));
  }

  // What f says on standard error meanwhile, in a child; its ending is checked.
  template <class F>
  std::string said_by(F f) {
    const std::string heard = folder_ + "/heard";
    EXPECT_EQ(fine, forked([&] {
                const int to = ::open(heard.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
                ::dup2(to, STDERR_FILENO);
                return f();
              }));
    std::stringstream all;
    all << std::ifstream(heard).rdbuf();
    return all.str();
  }

  const std::string& folder() const { return folder_; }

  std::string file;

 private:
  std::string folder_;
};

TEST_F(timeline_recorder, off_keeps_nothing) {
  EXPECT_FALSE(timeline::on());
  timeline::mark(kind::epoch_advance, 1);
  { timeline::span s{kind::batch_free, 1}; }
  EXPECT_FALSE(timeline::stop());
  ASSERT_TRUE(timeline::start({.file = file}));
  EXPECT_TRUE(timeline::on());
  EXPECT_FALSE(timeline::start({.file = file})) << "it is on already";
  ASSERT_TRUE(timeline::stop());
  EXPECT_FALSE(timeline::on());
  const recorded r(file);
  EXPECT_TRUE(r.whole);
  EXPECT_EQ(0u, r.events.size());
}

TEST_F(timeline_recorder, an_event_arrives_as_it_was) {
  ASSERT_TRUE(timeline::start({.file = file}));
  const std::uint64_t before = ticks();
  {
    timeline::span outer{kind::batch_free, 7};
    timeline::mark(kind::epoch_advance, 8);
    timeline::span inner{kind::post, 3, 100};
    outer.count(5'000'000'000);
  }
  timeline::mark(kind::unreclaimed, 8, 42);
  const std::uint64_t after = ticks();
  ASSERT_TRUE(timeline::stop());
  const recorded r(file);
  ASSERT_TRUE(r.whole);
  ASSERT_EQ(4u, r.events.size());
  const auto& [point, inner, outer, gauge] = *reinterpret_cast<const timeline::event(*)[4]>(r.events.data());
  EXPECT_EQ(kind::epoch_advance, point.kind);
  EXPECT_EQ(8u, point.label);
  EXPECT_EQ(point.start, point.end);
  EXPECT_EQ(kind::post, inner.kind);
  EXPECT_EQ(3u, inner.label);
  EXPECT_EQ(100u, inner.count);
  EXPECT_EQ(kind::batch_free, outer.kind);
  EXPECT_EQ(7u, outer.label);
  EXPECT_EQ(5'000'000'000u, outer.count);
  EXPECT_EQ(42u, gauge.count);
  EXPECT_LE(before, outer.start);
  EXPECT_LE(outer.start, point.start);
  EXPECT_LE(point.start, inner.start);
  EXPECT_LE(inner.end, outer.end);
  EXPECT_LE(gauge.end, after);
  EXPECT_LE(r.head.begin.ticks, outer.start);
  EXPECT_LE(after, r.head.end.ticks);
}

TEST_F(timeline_recorder, the_file_says_what_is_in_it) {
  ASSERT_TRUE(timeline::start({.file = file, .events_a_thread = 77}));
  timeline::mark(kind::token_pass);
  ASSERT_TRUE(timeline::stop());
  const recorded r(file);
  ASSERT_TRUE(r.whole);
  EXPECT_EQ(0, std::memcmp(&r.head.magic, "POLDERTL", 8));
  EXPECT_EQ(77u, r.head.events_a_thread);
  EXPECT_EQ(std::uint32_t(::getpid()), r.head.pid);
  EXPECT_NE(nullptr, std::strstr(r.head.command, "unit.os"));
  ASSERT_EQ(timeline::kinds, r.kinds.size());
  for (unsigned k = 0; k != timeline::kinds; ++k) EXPECT_EQ(kind(k), r.kinds[k].number);
  EXPECT_STREQ("batch free", r.kinds[0].name);
  EXPECT_STREQ("unreclaimed", r.kinds[unsigned(kind::unreclaimed)].name);
  EXPECT_EQ(timeline::form::gauge, r.kinds[unsigned(kind::unreclaimed)].form);
  ASSERT_EQ(1u, r.threads.size());
  EXPECT_EQ(std::uint32_t(::gettid()), r.threads[0].tid);
  EXPECT_EQ(r.threads[0].number, r.events[0].thread);
}

TEST_F(timeline_recorder, the_tick_is_calibrated) {
  ASSERT_TRUE(timeline::start({.file = file}));
  timespec before, after;
  ::clock_gettime(CLOCK_MONOTONIC, &before);
  {
    timeline::span s{kind::operation};
    ::usleep(20'000);
  }
  ::clock_gettime(CLOCK_MONOTONIC, &after);
  ASSERT_TRUE(timeline::stop());
  const recorded r(file);
  ASSERT_EQ(1u, r.events.size());
  const double tick = double(r.head.end.ns - r.head.begin.ns) / double(r.head.end.ticks - r.head.begin.ticks);
  const double ns = double(r.events[0].end - r.events[0].start) * tick;
  EXPECT_GE(ns, 20e6 * 0.99);
  EXPECT_LE(ns, (double(after.tv_sec - before.tv_sec) * 1e9 + double(after.tv_nsec - before.tv_nsec)) * 1.01);
}

TEST_F(timeline_recorder, a_full_buffer_counts_what_it_loses) {
  ASSERT_TRUE(timeline::start({.file = file, .events_a_thread = 10}));
  for (int i = 0; i != 25; ++i) timeline::record(kind::refill, 1000, 1007, 0, 0);
  timeline::mark(kind::epoch_advance);
  ASSERT_TRUE(timeline::stop());
  const recorded r(file);
  ASSERT_EQ(1u, r.threads.size());
  EXPECT_EQ(10u, r.events.size());
  EXPECT_EQ(15u, r.threads[0].lost[unsigned(kind::refill)].count);
  EXPECT_EQ(15u * 7, r.threads[0].lost[unsigned(kind::refill)].ticks);
  EXPECT_EQ(1u, r.threads[0].lost[unsigned(kind::epoch_advance)].count);
  EXPECT_EQ(1000u, r.threads[0].full_at);
}

TEST_F(timeline_recorder, what_is_too_short_is_counted) {
  ASSERT_TRUE(timeline::start({.file = file, .at_least_ns = 3'600'000'000'000}));
  timeline::record(kind::operation, 1000, 1007, 0, 0);
  timeline::record(kind::operation, 1000, 1009, 0, 0);
  timeline::record(kind::batch_free, 1000, 1007, 0, 0);
  timeline::record(kind::bag_rotate, 1000, 1007, 0, 0);
  timeline::mark(kind::epoch_advance);
  ASSERT_TRUE(timeline::stop());
  const recorded r(file);
  EXPECT_EQ(3'600'000'000'000u, r.head.at_least_ns);
  ASSERT_EQ(1u, r.threads.size());
  EXPECT_EQ(3u, r.events.size());
  EXPECT_EQ(0u, r.kept(kind::operation));
  EXPECT_EQ(2u, r.threads[0].brief[unsigned(kind::operation)].count);
  EXPECT_EQ(16u, r.threads[0].brief[unsigned(kind::operation)].ticks);
}

TEST_F(timeline_recorder, a_thread_that_ends_leaves_its_events) {
  constexpr unsigned many = 8, each = 1000;
  ASSERT_TRUE(timeline::start({.file = file}));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t != many; ++t)
    threads.emplace_back([t] {
      ::pthread_setname_np(::pthread_self(), ("worker " + std::to_string(t)).c_str());
      for (unsigned i = 0; i != each; ++i) timeline::span s{kind::batch_free, i, t};
    });
  for (auto& t : threads) t.join();
  ASSERT_TRUE(timeline::stop());
  const recorded r(file);
  ASSERT_TRUE(r.whole);
  ASSERT_EQ(many, r.threads.size());
  std::size_t at = 0;
  std::vector<unsigned> seen(many);
  for (const auto& t : r.threads) {
    ASSERT_EQ(each, t.events);
    const auto who = unsigned(r.events[at].count);
    ASSERT_LT(who, many);
    ++seen[who];
    EXPECT_EQ("worker " + std::to_string(who), t.name);
    for (unsigned i = 0; i != each; ++i, ++at) {
      ASSERT_EQ(i, r.events[at].label);
      ASSERT_EQ(who, r.events[at].count);
      ASSERT_EQ(t.number, r.events[at].thread);
    }
  }
  EXPECT_EQ(std::vector<unsigned>(many, 1), seen);
}

TEST_F(timeline_recorder, another_recording_begins_empty_in_the_memory_of_the_first) {
  unsigned highest = 0;
  for (unsigned round = 0; round != 20; ++round) {
    ASSERT_TRUE(timeline::start({.file = file, .events_a_thread = 100}));
    timeline::mark(kind::epoch_advance, round);
    std::atomic<pid_t> tid{0};
    std::thread([&] {
      timeline::mark(kind::epoch_advance, round);
      tid = ::gettid();
    }).join();
    while (::syscall(SYS_tgkill, ::getpid(), tid.load(), 0) == 0)
      ::usleep(100);  // joined, and the kernel still knows it
    ASSERT_TRUE(timeline::stop());
    const recorded r(file);
    ASSERT_TRUE(r.whole);
    ASSERT_EQ(2u, r.threads.size());
    ASSERT_EQ(2u, r.events.size());
    for (const auto& e : r.events) EXPECT_EQ(round, e.label);
    const unsigned now = std::max(r.threads[0].number, r.threads[1].number);
    if (round == 0) highest = now;
    EXPECT_LE(now, highest);
  }
}

TEST_F(timeline_recorder, a_file_written_while_threads_record_is_whole) {
  std::atomic<bool> enough{false};
  std::vector<std::thread> threads;
  for (int t = 0; t != 3; ++t)
    threads.emplace_back([&] {
      for (std::uint32_t i = 0; !enough; ++i) timeline::span s{kind::refill, i, ~std::uint64_t{i}};
    });
  for (int round = 0; round != 20; ++round) {
    ASSERT_TRUE(timeline::start({.file = file, .events_a_thread = 5000}));
    ::usleep(2000);
    ASSERT_TRUE(timeline::stop());
    const recorded r(file);
    ASSERT_TRUE(r.whole);
    for (const auto& e : r.events) {
      ASSERT_EQ(kind::refill, e.kind);
      ASSERT_LE(e.start, e.end);
      ASSERT_EQ(~std::uint64_t{e.label}, e.count);
    }
  }
  enough = true;
  for (auto& t : threads) t.join();
}

std::atomic<std::uint64_t> handled{0};

TEST_F(timeline_recorder, a_handler_that_interrupts_a_recording_tears_nothing) {
  struct sigaction before, mine{};
  mine.sa_handler = [](int) {
    timeline::record(kind::token_pass, 5, 5, 5, 5);
    handled.fetch_add(1, std::memory_order_relaxed);
  };
  mine.sa_flags = SA_RESTART;
  handled = 0;
  ASSERT_TRUE(timeline::start({.file = file, .events_a_thread = 4'000'000}));
  ASSERT_EQ(0, ::sigaction(SIGALRM, &mine, &before));
  const itimerval often{{0, 50}, {0, 50}}, never{};
  ASSERT_EQ(0, ::setitimer(ITIMER_REAL, &often, nullptr));
  constexpr unsigned many = 300'000;
  for (unsigned i = 0; i != many; ++i) timeline::record(kind::refill, i, i, i, i);
  ASSERT_EQ(0, ::setitimer(ITIMER_REAL, &never, nullptr));
  ::sigaction(SIGALRM, &before, nullptr);
  ASSERT_TRUE(timeline::stop());
  const recorded r(file);
  ASSERT_TRUE(r.whole);
  std::uint64_t lost = r.head.lost_elsewhere;
  for (const auto& t : r.threads) lost += t.interrupted;
  EXPECT_EQ(many, r.kept(kind::refill));
  EXPECT_EQ(handled.load(), r.kept(kind::token_pass) + lost);
  unsigned next = 0;
  for (const auto& e : r.events) {
    if (e.kind == kind::refill) {
      ASSERT_EQ(next, e.label);
      ++next;
    }
    ASSERT_EQ(e.start, e.label);
    ASSERT_EQ(e.end, e.label);
    ASSERT_EQ(e.count, e.label);
  }
}

TEST_F(timeline_recorder, a_child_begins_with_nothing_and_writes_its_own_file) {
  ASSERT_TRUE(timeline::start({.file = file}));
  timeline::mark(kind::epoch_advance, 1);
  pid_t child = 0;
  ASSERT_EQ(fine, forked([] {
              timeline::mark(kind::epoch_advance, 2);
              return timeline::stop() ? 0 : 1;
            }));
  child = ::fork();
  if (child == 0) {
    timeline::mark(kind::epoch_advance, 3);
    std::exit(0);  // the end of a process writes
  }
  int status = -1;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  timeline::mark(kind::epoch_advance, 4);
  ASSERT_TRUE(timeline::stop());
  const recorded parents(file);
  ASSERT_TRUE(parents.whole);
  ASSERT_EQ(2u, parents.events.size());
  EXPECT_EQ(1u, parents.events[0].label);
  EXPECT_EQ(4u, parents.events[1].label);
  const recorded childs(file + "." + std::to_string(child));
  ASSERT_TRUE(childs.whole);
  EXPECT_EQ(std::uint32_t(child), childs.head.pid);
  ASSERT_EQ(1u, childs.events.size());
  EXPECT_EQ(3u, childs.events[0].label);
}

TEST_F(timeline_recorder, a_childs_child_is_called_after_itself_alone) {
  ASSERT_TRUE(timeline::start({.file = file}));
  int ends[2];
  ASSERT_EQ(0, ::pipe(ends));
  ASSERT_EQ(fine, forked([&] {
              return forked([&] {
                       timeline::mark(kind::epoch_advance, 1);
                       const pid_t self = ::getpid();
                       return timeline::stop() && ::write(ends[1], &self, sizeof self) == sizeof self ? 0 : 1;
                     }) == fine
                         ? 0
                         : 2;
            }));
  pid_t grandchild = 0;
  ASSERT_EQ(long(sizeof grandchild), ::read(ends[0], &grandchild, sizeof grandchild));
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_TRUE(recorded(file + "." + std::to_string(grandchild)).whole);
}

TEST_F(timeline_recorder, a_child_that_records_nothing_leaves_nothing) {
  ASSERT_TRUE(timeline::start({.file = file}));
  timeline::mark(kind::epoch_advance, 1);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(timeline::stop() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_FALSE(exists(file + "." + std::to_string(child)));
}

TEST_F(timeline_recorder, a_file_that_a_living_process_records_is_left_to_it) {
  ASSERT_TRUE(timeline::start({.file = file}));
  timeline::mark(kind::epoch_advance, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    timeline::stop();
    if (!timeline::start({.file = file})) ::_exit(1);  // as a program does that was started by one that records
    timeline::mark(kind::epoch_advance, 2);
    ::_exit(timeline::stop() ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  ASSERT_TRUE(timeline::stop());
  ASSERT_EQ(1u, recorded(file).events.size());
  EXPECT_EQ(1u, recorded(file).events[0].label);
  const recorded childs(file + "." + std::to_string(child));
  ASSERT_EQ(1u, childs.events.size());
  EXPECT_EQ(2u, childs.events[0].label);
}

TEST_F(timeline_recorder, nobody_waits_for_a_locked_file) {
  const int held = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_EQ(0, ::flock(held, LOCK_EX));
  ASSERT_TRUE(timeline::start({.file = file}));
  ASSERT_TRUE(timeline::stop());
  ::close(held);
  EXPECT_TRUE(recorded(file + "." + std::to_string(::getpid())).whole);
}

TEST_F(timeline_recorder, the_file_stays_where_it_was_when_the_program_goes_elsewhere) {
  EXPECT_EQ("", said_by([this] {
              if (::chdir(folder().c_str()) != 0 || !timeline::start({.file = "here"}) || ::chdir("/") != 0)
                return 1;
              return timeline::stop() ? 0 : 2;
            }));
  EXPECT_TRUE(recorded(folder() + "/here").whole);
}

TEST_F(timeline_recorder, a_file_that_is_none_of_ours_is_left_alone) {
  std::ofstream(file) << "int main() {}\n";
  EXPECT_EQ("polder: timeline: cannot write " + file + ": there is a file that is no timeline\n",
            said_by([this] { return timeline::start({.file = file}) || timeline::on(); }));
  std::string kept;
  std::getline(std::ifstream(file), kept);
  EXPECT_EQ("int main() {}", kept);
}

TEST_F(timeline_recorder, nor_does_a_child_overwrite_one) {
  ASSERT_TRUE(timeline::start({.file = file}));
  ASSERT_EQ(fine, forked([&] {
              const std::string its = file + "." + std::to_string(::getpid());
              std::ofstream(its) << "int main() {}\n" << std::flush;
              timeline::mark(kind::epoch_advance, 1);
              if (timeline::stop()) return 1;
              std::string kept;
              std::getline(std::ifstream(its), kept);
              return kept == "int main() {}" ? 0 : 2;
            }));
  ASSERT_TRUE(timeline::stop());
}

// Longer than a counter of ticks can tell.
TEST_F(timeline_recorder, keeps_nothing_of_what_must_last_for_ever) {
  ASSERT_TRUE(timeline::start({.file = file, .at_least_ns = UINT64_MAX}));
  { timeline::span s{kind::post, 1}; }
  ASSERT_TRUE(timeline::stop());
  const recorded r(file);
  EXPECT_TRUE(r.whole);
  EXPECT_EQ(0u, r.events.size());
}

TEST_F(timeline_recorder, one_line_says_why_a_file_cannot_be_written) {
  const std::string nowhere = folder() + "/no/where";
  EXPECT_EQ("polder: timeline: cannot write " + nowhere + ": there is no such folder\n",
            said_by([&] { return timeline::start({.file = nowhere}) || timeline::on(); }));
  EXPECT_EQ("polder: timeline: cannot write " + folder() + ": it is a folder\n",
            said_by([&] { return timeline::start({.file = folder()}) || timeline::on(); }));
  const std::string pipe = folder() + "/pipe";
  ASSERT_EQ(0, ::mkfifo(pipe.c_str(), 0600));
  EXPECT_EQ("polder: timeline: cannot write " + pipe + ": it is no regular file\n",
            said_by([&] { return timeline::start({.file = pipe}) || timeline::on(); }));
  const std::string gone = folder() + "/gone/it";
  EXPECT_EQ("polder: timeline: cannot write " + gone + ": there is no such folder\n", said_by([&] {
              ::mkdir((folder() + "/gone").c_str(), 0700);
              if (!timeline::start({.file = gone})) return 1;
              std::remove(gone.c_str());
              ::rmdir((folder() + "/gone").c_str());
              return timeline::stop() ? 2 : 0;
            }));
}

TEST_F(timeline_recorder, a_limit_on_files_does_not_kill) {
  if (const char* why = lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ("polder: timeline: cannot write " + file + ": the limit on the size of files is reached\n",
            said_by([&] {
              const rlimit little{4096, 4096};
              if (!timeline::start({.file = file}) || ::setrlimit(RLIMIT_FSIZE, &little) != 0) return 1;
              for (int i = 0; i != 1000; ++i) timeline::mark(kind::token_pass);
              return timeline::stop() ? 2 : 0;
            }));
  EXPECT_EQ(timeline::file_state::begun, recorded(file).head.state);
}

TEST_F(timeline_recorder, without_memory_events_are_lost_and_told) {
  if (const char* why = lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ("", said_by([&] {
              const rlimit none{0, 0};
              if (!timeline::start({.file = file}) || ::setrlimit(RLIMIT_AS, &none) != 0) return 1;
              for (int i = 0; i != 7; ++i) timeline::mark(kind::token_pass);
              return timeline::stop() ? 0 : 2;
            }));
  const recorded r(file);
  EXPECT_TRUE(r.whole);
  EXPECT_EQ(7u, r.head.lost_elsewhere);
  EXPECT_EQ(0u, r.threads.size());
}

}  // namespace
}  // namespace polder::os
