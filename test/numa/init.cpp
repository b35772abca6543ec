// init — the first and only lasting process of the guest: runs what /plan says, line by line, and ends the machine.
//
// A line of /plan:   NAME VARIABLE=VALUE… PROGRAM ARGUMENT…
// On the console:    polder-guest: begin NAME    polder-guest: end NAME STATUS    polder-guest: over
//
// Linked statically: there is nothing else in the guest's file system.
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

void mount_at(const char* kind, const char* where) {
  mkdir(where, 0755);
  if (mount(kind, where, kind, 0, nullptr) != 0) std::perror(where);
}

[[noreturn]] void become(std::vector<std::string> words) {
  std::vector<char*> environment, arguments;
  for (std::string& w : words)
    (arguments.empty() && w.find('=') != w.npos ? environment : arguments).push_back(w.data());
  environment.push_back(nullptr);
  arguments.push_back(nullptr);
  if (arguments[0] != nullptr) execve(arguments[0], arguments.data(), environment.data());
  std::perror("execve");
  _exit(127);
}

int run(const std::vector<std::string>& words) {
  const pid_t child = fork();
  if (child == 0) become(words);
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main() {
  mount_at("proc", "/proc");
  mount_at("sysfs", "/sys");
  mount_at("tmpfs", "/tmp");
  std::ifstream plan("/plan");
  for (std::string line; std::getline(plan, line);) {
    std::istringstream in(line);
    std::string name;
    in >> name;
    std::vector<std::string> words;
    for (std::string w; in >> w;) words.push_back(w);
    std::printf("polder-guest: begin %s\n", name.c_str());
    std::fflush(stdout);
    const int status = run(words);
    std::printf("polder-guest: end %s %d\n", name.c_str(), status);
    std::fflush(stdout);
  }
  std::puts("polder-guest: over");
  std::fflush(stdout);
  for (;;) reboot(RB_AUTOBOOT);  // qemu was told not to start again, and ends
}
