// A setuid program ignores POLDER_OPTIONS (requirement 4): this program has the heap linked in; as root it copies itself,
// gives the copy to nobody with the setuid bit, and runs it with options that would otherwise end it.
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <polder.h>

#include <fstream>
#include <string>

#include "subject.hpp"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "report") == 0) {
    std::printf("%s %s\n", ::getauxval(AT_SECURE) != 0 ? "secure" : "ordinary", polder_heap());
    return polder_owns(std::malloc(100)) != 0 ? 0 : 1;
  }
  preload::tally tally(4);
  const auto wrong = preload::environment({"POLDER_OPTIONS=nonsense=1"}, {"LD_PRELOAD"});
  const auto ordinary = preload::run_child({preload::self_path(), "report"}, wrong, 20);
  tally.check(ordinary.exited(2), "an ordinary program must heed POLDER_OPTIONS", ordinary);
  if (::geteuid() != 0) {
    std::printf("the setuid half is skipped: not root\n");
    return tally.result();
  }
  char folder[] = "/var/tmp/polder-secure-XXXXXX";
  if (::mkdtemp(folder) == nullptr || ::chmod(folder, 0755) != 0) return std::perror(folder), 1;
  const std::string copy = std::string(folder) + "/program";
  {
    std::ifstream from(preload::self_path(), std::ios::binary);
    std::ofstream to(copy, std::ios::binary);
    to << from.rdbuf();
  }
  if (::chown(copy.c_str(), 65'534, 65'534) != 0 || ::chmod(copy.c_str(), 04'755) != 0) std::perror(copy.c_str());
  const auto secure = preload::run_child({copy, "report"}, wrong, 20);
  ::unlink(copy.c_str());
  ::rmdir(folder);
  if (secure.out.rfind("ordinary", 0) == 0 || secure.exited(2))
    if (struct stat about{}; ::stat(folder, &about) != 0 && secure.out.rfind("ordinary", 0) == 0) {
      std::printf("the setuid half is skipped: this file system ignores the bit\n");
      return tally.result();
    }
  tally.check(secure.exited(0) && secure.out.rfind("secure", 0) == 0 && secure.err.empty(),
              "a setuid program must ignore POLDER_OPTIONS", secure);
  return tally.result();
}
