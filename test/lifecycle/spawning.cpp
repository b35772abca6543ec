// Requirement 1: programs started from a program whose other threads never stop allocating and freeing: by vfork, from threads that
// know the heap and from such that do not, by posix_spawn with file actions, by system and by popen.
//   spawning [TIMES]
#include <fcntl.h>
#include <spawn.h>

#include <cstdlib>

#include "../fork/child_work.hpp"

extern "C" char** environ;

using namespace polder;
using namespace polder::fork_test;

namespace {

exchange shared;
unsigned times;

const char* const say_word[] = {"/bin/sh", "-c", "echo word; exit 0", nullptr};

// What a pipe brings until it ends.
void expect_word(int from, const char* how) {
  char text[16] = "";
  std::size_t n = 0;
  for (ssize_t got; n < sizeof text - 1 && (got = ::read(from, text + n, sizeof text - 1 - n)) > 0;)
    n += std::size_t(got);
  probe::expect(std::strcmp(text, "word\n") == 0, "%s: the program said \"%s\"", how, text);
}

// Between vfork and exec the child does what POSIX lets it do: nothing.
[[gnu::noinline]] pid_t vforked(const char* const* program, int out) {
  const pid_t child = ::vfork();
  if (child == 0) {
    ::dup2(out, 1);
    ::execve(program[0], const_cast<char**>(program), environ);
    ::_exit(127);
  }
  return child;
}

struct channel {
  int ends[2];
  channel() { probe::expect(::pipe2(ends, O_CLOEXEC) == 0, "pipe"); }
  void close_in() { ::close(ends[1]); }
  ~channel() { ::close(ends[0]); }
};

void by_vfork() {
  channel c;
  const pid_t child = vforked(say_word, c.ends[1]);
  probe::expect(child > 0, "vfork");
  c.close_in();
  expect_word(c.ends[0], "vfork");
  wait_for(child, "vfork");
}

void by_spawn() {
  channel c;
  posix_spawn_file_actions_t actions;
  probe::expect(::posix_spawn_file_actions_init(&actions) == 0, "posix_spawn_file_actions_init");
  const int steps = ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) |
                    ::posix_spawn_file_actions_adddup2(&actions, c.ends[1], 1) |
                    ::posix_spawn_file_actions_addclose(&actions, c.ends[0]);
  probe::expect(steps == 0, "posix_spawn_file_actions_add");
  pid_t child = 0;
  const int error = ::posix_spawn(&child, say_word[0], &actions, nullptr, const_cast<char**>(say_word), environ);
  probe::expect(error == 0, "posix_spawn: %s", std::strerror(error));
  ::posix_spawn_file_actions_destroy(&actions);
  c.close_in();
  expect_word(c.ends[0], "posix_spawn");
  wait_for(child, "posix_spawn");
}

void by_system() {
  const int status = ::system("exit 3");
  probe::expect(WIFEXITED(status) && WEXITSTATUS(status) == 3, "system: status %#x", unsigned(status));
}

void by_popen() {
  std::FILE* const program = ::popen("echo word", "r");
  probe::expect(program != nullptr, "popen");
  char text[16] = "";
  probe::expect(std::fgets(text, sizeof text, program) != nullptr && std::strcmp(text, "word\n") == 0,
                "popen: the program said \"%s\"", text);
  probe::expect(::pclose(program) == 0, "pclose");
}

void* vfork_first(void*) {
  by_vfork();
  unmade(made(100, 1));
  return nullptr;
}

void* spawn_on_and_on(void*) {
  for (unsigned i = 0; i != times; ++i) {
    void* const mine = made(16 + i % 3000, i);
    by_vfork();
    by_spawn();
    if (i % 4 == 0) by_system(), by_popen();
    unmade(mine);
    pthread_t thread;
    probe::expect(::pthread_create(&thread, nullptr, vfork_first, nullptr) == 0, "pthread_create");
    ::pthread_join(thread, nullptr);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  times = argc > 1 ? unsigned(std::atoi(argv[1])) : 60;
  ::alarm(60 + times);
  churners<4> churning(shared);
  pthread_t crew[2];
  for (auto& thread : crew)
    probe::expect(::pthread_create(&thread, nullptr, spawn_on_and_on, nullptr) == 0, "pthread_create");
  for (auto thread : crew) ::pthread_join(thread, nullptr);
  probe::say("%u programs by vfork, %u by posix_spawn, %u by system and popen", 4 * times, 2 * times,
             4 * ((times + 3) / 4));
}
