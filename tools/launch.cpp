// polder-launch [--no-children] LIBRARY CMD ARGS… — becomes CMD with LIBRARY preloaded.
//
// The dynamic linker ignores LD_PRELOAD silently where it cannot or may not follow it. A comparison that measured the
// system's malloc twice is worse than none, so such a program is refused with a reason: exit 2. 126 and 127 mean what
// they mean in a shell: not executable, not found.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

[[noreturn, gnu::format(printf, 2, 3)]] void refuse(int status, const char* format, ...) {
  va_list args;
  va_start(args, format);
  fputs("polder: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(status);
}

// As execvp(3) finds it; the empty string when there is none.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), F_OK) == 0 ? name : "";
  const char* path = getenv("PATH");
  std::string rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  std::string not_executable;
  for (;;) {
    std::size_t colon = rest.find(':');
    std::string folder = rest.substr(0, colon);
    std::string file = (folder.empty() ? "." : folder) + "/" + name;
    struct stat status;
    if (stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      if (access(file.c_str(), X_OK) == 0) return file;
      not_executable = file;
    }
    if (colon == std::string::npos) return not_executable;
    rest.erase(0, colon + 1);
  }
}

std::string read_start(const std::string& file, std::size_t most) {
  int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  std::string text(most, '\0');
  ssize_t n = pread(fd, text.data(), most, 0);
  close(fd);
  text.resize(n > 0 ? std::size_t(n) : 0);
  return text;
}

struct elf_facts {
  bool is_elf = false;
  unsigned char width = 0;  // ELFCLASS32, ELFCLASS64
  unsigned machine = 0;
  bool is_object = false;  // relocatable or core: nothing to run
  std::string interpreter;
};

elf_facts read_elf(const std::string& file) {
  elf_facts facts;
  std::string start = read_start(file, 64 * 1024);
  if (start.size() < sizeof(Elf32_Ehdr) || memcmp(start.data(), ELFMAG, SELFMAG) != 0) return facts;
  facts.is_elf = true;
  facts.width = static_cast<unsigned char>(start[EI_CLASS]);
  Elf64_Ehdr header{};
  memcpy(&header, start.data(), std::min(start.size(), sizeof header));
  facts.machine = header.e_machine;  // at the same place in both widths
  facts.is_object = header.e_type != ET_EXEC && header.e_type != ET_DYN;
  if (facts.width != ELFCLASS64) return facts;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::size_t at = header.e_phoff + std::size_t(i) * header.e_phentsize;
    if (at + sizeof segment > start.size()) break;
    memcpy(&segment, start.data() + at, sizeof segment);
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_offset >= start.size()) break;
    facts.interpreter = start.substr(segment.p_offset, segment.p_filesz).c_str();
  }
  return facts;
}

// The words of a `#!` line: the interpreter and at most one argument, as the kernel splits them.
std::vector<std::string> script_interpreter(const std::string& file) {
  std::string start = read_start(file, 512);
  if (start.compare(0, 2, "#!") != 0) return {};
  std::string line = start.substr(2, start.find('\n') - 2);
  std::size_t from = line.find_first_not_of(" \t");
  if (from == std::string::npos) return {};
  std::size_t to = line.find_first_of(" \t", from);
  std::vector<std::string> words{line.substr(from, to - from)};
  if (to == std::string::npos) return words;
  std::size_t last = line.find_last_not_of(" \t\r");
  from = line.find_first_not_of(" \t", to);
  if (from != std::string::npos && from <= last) words.push_back(line.substr(from, last - from + 1));
  return words;
}

// `#!/usr/bin/env PROGRAM` and `#!/usr/bin/env -S PROGRAM ARGUMENT…`: the words env is to run; empty for its other forms.
std::vector<std::string> words_for_env(std::string argument) {
  bool split = argument.compare(0, 2, "-S") == 0;
  if (split) argument.erase(0, 2);
  std::vector<std::string> words;
  for (std::size_t from = 0; (from = argument.find_first_not_of(" \t", from)) != std::string::npos;) {
    std::size_t to = std::min(argument.find_first_of(" \t", from), argument.size());
    words.push_back(argument.substr(from, to - from));
    from = to;
  }
  bool plain = argument.find_first_of("\\\"'$#") == std::string::npos && (split || words.size() == 1);
  if (!plain || words.empty() || words[0][0] == '-' || words[0].find('=') != std::string::npos) return {};
  return words;
}

bool is_env(const std::string& program) {
  return program == "env" || (program.size() >= 4 && program.compare(program.size() - 4, 4, "/env") == 0);
}

void refuse_if_privileged(const std::string& file) {
  struct stat status;
  if (stat(file.c_str(), &status) != 0) return;
  bool other_user = (status.st_mode & S_ISUID) && status.st_uid != getuid();
  bool other_group = (status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getgid();
  if (other_user || other_group)
    refuse(2, "%s is %s: the dynamic linker gives such programs no preloaded library", file.c_str(),
           other_user ? "setuid" : "setgid");
  if (getuid() != 0 && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0)
    refuse(2, "%s has file capabilities: the dynamic linker gives such programs no preloaded library",
           file.c_str());
}

void refuse_if_foreign(const std::string& file, const elf_facts& program, const elf_facts& library) {
  if (program.is_object) refuse(126, "%s is not a program", file.c_str());
  if (program.width != library.width || program.machine != library.machine)
    refuse(2, "%s is built for another machine than this heap (ELF machine %u, %d bits; the heap: %u, %d bits)",
           file.c_str(), program.machine, program.width == ELFCLASS64 ? 64 : 32, library.machine,
           library.width == ELFCLASS64 ? 64 : 32);
  if (program.interpreter.empty())
    refuse(2, "%s is statically linked: nothing can be preloaded into it; link it with libpolder.a", file.c_str());
  if (program.interpreter.find("ld-musl") != std::string::npos)
    refuse(2, "%s runs on musl: this heap is built for glibc", file.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  int at = 1;
  bool no_children = false;
  if (at < argc && strcmp(argv[at], "--no-children") == 0) no_children = true, ++at;
  if (argc - at < 2) refuse(2, "usage: polder-launch [--no-children] LIBRARY CMD ARGS…");
  const std::string library = argv[at];
  std::vector<std::string> words(argv + at + 1, argv + argc);

  if (library.find_first_of(" :") != std::string::npos)
    refuse(2, "LD_PRELOAD cannot carry a path with a space or a colon: %s", library.c_str());
  const elf_facts library_facts = read_elf(library);
  if (!library_facts.is_elf) refuse(2, "no library at %s", library.c_str());

  // Walk from scripts to what runs them. With --no-children an `env` on the way would count as the one program that
  // gets the heap, so it is taken out of the way: its words are resolved here.
  std::string file = find_program(words[0]);
  if (file.empty()) refuse(127, "%s: command not found", words[0].c_str());
  std::string target = file;
  for (int depth = 0; depth < 8; ++depth) {
    struct stat status;
    if (stat(target.c_str(), &status) != 0) refuse(127, "%s: %s", target.c_str(), strerror(errno));
    if (!S_ISREG(status.st_mode) || access(target.c_str(), X_OK) != 0)
      refuse(126, "%s: not an executable file", target.c_str());
    const elf_facts facts = read_elf(target);
    if (facts.is_elf) {
      refuse_if_privileged(target);
      refuse_if_foreign(target, facts, library_facts);
      break;
    }
    std::vector<std::string> interpreter = script_interpreter(target);
    if (interpreter.empty()) {
      if (read_start(target, 1).empty() && access(target.c_str(), R_OK) != 0)
        refuse(2, "%s cannot be read, so nobody can say whether a heap can be preloaded", target.c_str());
      break;  // no format of its own: execvp gives it to /bin/sh
    }
    std::string next = interpreter[0];
    if (is_env(next) && interpreter.size() == 2) {
      const std::vector<std::string> through_env = words_for_env(interpreter[1]);
      if (!through_env.empty()) {
        next = find_program(through_env[0]);
        if (next.empty()) refuse(127, "%s asks for %s: command not found", target.c_str(), through_env[0].c_str());
        if (no_children) {
          words[0] = target;
          words.insert(words.begin(), through_env.begin(), through_env.end());
          file = next;
        }
      }
    }
    target = next;
  }

  std::string preload = library;
  if (const char* others = getenv("LD_PRELOAD"); others && *others) preload += std::string(":") + others;
  setenv("LD_PRELOAD", preload.c_str(), 1);
  if (no_children) setenv("POLDER_NO_CHILDREN", "1", 1);
  else unsetenv("POLDER_NO_CHILDREN");

  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(file.c_str(), arguments.data());
  if (errno == ENOEXEC) {
    std::string shell = "/bin/sh";
    arguments[0] = file.data();
    arguments.insert(arguments.begin(), shell.data());
    execv(shell.c_str(), arguments.data());
  }
  refuse(errno == ENOENT ? 127 : 126, "%s: %s", file.c_str(), strerror(errno));
}
