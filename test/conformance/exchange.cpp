// Blocks that cross the border: libc allocates and the program frees, the program allocates and libc grows or frees.
#include <arpa/inet.h>
#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <ifaddrs.h>
#include <locale.h>
#include <netdb.h>
#include <obstack.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>

#include <argz.h>
#include <clocale>
#include <cstdio>
#include <string>
#include <vector>

#include "catalogue.hpp"

#define obstack_chunk_alloc subject::malloc
#define obstack_chunk_free subject::free

namespace conformance {
namespace {

// A block libc made is a block like any other.
void take(report& r, const char* what, void* p) {
  if (p == nullptr) return r.say("%s: NULL", what);
  if (!aligned_to(p, 16)) r.say("%s: not 16-aligned", what);
  const std::size_t n = subject::usable(p);
  if (n == 0) return r.say("%s: usable size 0", what);
  fill(p, n, 1);
  p = subject::realloc(p, 2 * n + 100);
  if (!holds(p, n, 1)) r.say("%s: lost by realloc", what);
  subject::free(p);
}

void printed(report& r, std::size_t width, std::size_t) {
  char* text = nullptr;
  const int n = ::asprintf(&text, "%*d", static_cast<int>(width), 42);
  r.say("length %d", n);
  take(r, "asprintf", text);
}
void duplicated(report& r, std::size_t n, std::size_t) {
  const std::string source(n, 'x');
  const std::wstring wide(n, L'x');
  take(r, "strdup", opaque(&::strdup)(source.c_str()));
  take(r, "strndup", opaque(&::strndup)(source.c_str(), n / 2));
  take(r, "wcsdup", opaque(&::wcsdup)(wide.c_str()));
}

// getline is given the program's block, grows it as it likes, and the program frees the result.
void read_lines(report& r, std::size_t first, std::size_t length) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return r.say("no file");
  for (int line = 1; line <= 8; ++line) {
    for (std::size_t i = 0; i < length * static_cast<std::size_t>(line) / 4; ++i) std::fputc('a' + line, file);
    std::fputc('\n', file);
  }
  std::rewind(file);
  auto* buffer = first == 0 ? nullptr : static_cast<char*>(subject::malloc(first));
  std::size_t size = first;
  std::size_t total = 0;
  ssize_t n;
  while ((n = ::getline(&buffer, &size, file)) > 0) {
    total += static_cast<std::size_t>(n);
    if (subject::usable(buffer) < size) r.say("buffer smaller than getline says");
  }
  r.say("%zu bytes", total);
  take(r, "getline", buffer);
  std::fclose(file);
}
void memory_stream(report& r, std::size_t n, std::size_t) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  for (std::size_t i = 0; i < n; ++i) std::fputc('x', out);
  std::fclose(out);
  r.say("%zu bytes", size);
  take(r, "open_memstream", text);
  wchar_t* wide = nullptr;
  std::FILE* wide_out = ::open_wmemstream(&wide, &size);
  for (std::size_t i = 0; i < n / 4; ++i) ::fputwc(L'x', wide_out);
  std::fclose(wide_out);
  r.say("%zu characters", size);
  take(r, "open_wmemstream", wide);
}
void scanned(report& r, std::size_t n, std::size_t) {
  const std::string source(n, 'y');
  char* text = nullptr;
  r.say("%d read", std::sscanf(source.c_str(), "%ms", &text));
  take(r, "scanf %ms", text);
}
void paths(report& r, std::size_t, std::size_t) {
  take(r, "realpath", ::realpath("/usr/../usr", nullptr));
  take(r, "getcwd", ::getcwd(nullptr, 0));
  take(r, "get_current_dir_name", ::get_current_dir_name());
}
void directory(report& r, std::size_t, std::size_t) {
  dirent** entries = nullptr;
  const int n = ::scandir("/", &entries, nullptr, ::alphasort);
  if (n <= 0) return r.say("scandir failed");
  for (int i = 0; i < n; ++i) subject::free(entries[i]);
  take(r, "scandir", entries);
  glob_t found{};
  r.say("glob %d", ::glob("/e*c", 0, nullptr, &found));
  ::globfree(&found);
}
void addresses(report& r, std::size_t, std::size_t) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  r.say("getaddrinfo %d", ::getaddrinfo("127.0.0.1", "80", &hints, &found));
  if (found != nullptr) ::freeaddrinfo(found);
  ifaddrs* interfaces = nullptr;
  if (::getifaddrs(&interfaces) == 0) ::freeifaddrs(interfaces);
  ::getpwuid(0);
  ::getgrgid(0);
}
void expressions(report& r, std::size_t, std::size_t) {
  for (int i = 0; i < 20; ++i) {
    regex_t expression;
    if (::regcomp(&expression, "^(a|b)*([0-9]{2,8}|x+)$", REG_EXTENDED) != 0) return r.say("regcomp failed");
    if (::regexec(&expression, "ababab12345", 0, nullptr, 0) != 0) r.say("no match");
    ::regfree(&expression);
  }
}
void search_tree(report& r, std::size_t, std::size_t) {
  void* root = nullptr;
  const auto compare = [](const void* a, const void* b) {
    return std::strcmp(static_cast<const char*>(a), static_cast<const char*>(b));
  };
  for (int i = 0; i < 500; ++i) {
    char* key = nullptr;
    if (::asprintf(&key, "key %d", i * 37 % 500) < 0) return r.say("asprintf failed");
    ::tsearch(key, &root, compare);
  }
  ::tdestroy(root, subject::free);  // libc calls back into the program's free
  r.say(::hcreate(500) != 0 ? "hcreate" : "no hcreate");
  ::hdestroy();
}
void vectors(report& r, std::size_t, std::size_t) {
  char* argz = nullptr;
  std::size_t length = 0;
  for (int i = 0; i < 200; ++i)
    if (::argz_add(&argz, &length, "a word of some length") != 0) return r.say("argz_add failed");
  take(r, "argz", argz);
  void* frames[16];
  const int n = ::backtrace(frames, 16);
  take(r, "backtrace_symbols", ::backtrace_symbols(frames, n));
}
void obstacks(report& r, std::size_t, std::size_t) {
  obstack stack;
  obstack_init(&stack);
  for (int i = 0; i < 2000; ++i) obstack_grow(&stack, "0123456789", 10);
  auto* text = static_cast<char*>(obstack_finish(&stack));
  r.say("%c", text[19'999]);
  obstack_free(&stack, nullptr);
}
void locales(report& r, std::size_t, std::size_t) {
  locale_t made = ::newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
  if (made == nullptr) return r.say("no locale");
  locale_t copy = ::duplocale(made);
  ::freelocale(made);
  ::freelocale(copy);
  r.say(std::setlocale(LC_ALL, "C.UTF-8") != nullptr ? "set" : "not set");
  std::setlocale(LC_ALL, "C");
}
void environment(report& r, std::size_t, std::size_t) {
  for (int i = 0; i < 300; ++i) {
    const std::string name = "CONFORMANCE_" + std::to_string(i);
    ::setenv(name.c_str(), "value", 1);
  }
  r.say("%s", std::getenv("CONFORMANCE_299"));
  for (int i = 0; i < 300; ++i) ::unsetenv(("CONFORMANCE_" + std::to_string(i)).c_str());
}
void streams(report& r, std::size_t, std::size_t) {
  std::FILE* all[40];
  for (auto& file : all) {
    file = std::fopen("/dev/null", "w");
    if (file == nullptr) return r.say("no file");
    std::setvbuf(file, nullptr, _IOFBF, 1 << 16);
    std::fputs("text", file);
  }
  for (auto* file : all) std::fclose(file);
  std::FILE* child = ::popen("echo from a child", "r");
  char line[64] = {};
  if (child == nullptr || std::fgets(line, sizeof line, child) == nullptr) r.say("popen failed");
  r.say("%.17s, %d", line, child == nullptr ? -1 : ::pclose(child));
}
void sorted(report& r, std::size_t n, std::size_t) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < n; ++i)
    words.push_back(std::string(i * 7919 % 61, 'w') + std::to_string(i * 104'729 % n));
  std::vector<const char*> pointers;
  for (const auto& w : words) pointers.push_back(w.c_str());
  std::qsort(pointers.data(), pointers.size(), sizeof pointers[0], [](const void* a, const void* b) {
    return std::strcmp(*static_cast<const char* const*>(a), *static_cast<const char* const*>(b));
  });
  for (std::size_t i = 1; i < n; ++i)
    if (std::strcmp(pointers[i - 1], pointers[i]) > 0) return r.say("not sorted");
}
void loading(report& r, std::size_t, std::size_t) {
  for (int i = 0; i < 20; ++i) {
    if (void* h = ::dlopen("libm.so.6", RTLD_NOW)) ::dlclose(h);
    if (::dlopen("no-such-library.so", RTLD_NOW) != nullptr) r.say("loaded what is not there");
    if (::dlerror() == nullptr) r.say("no dlerror");
  }
}
void* thread_body(void* p) {
  subject::free(p);
  char* text = nullptr;
  return ::asprintf(&text, "from a thread") > 0 ? text : nullptr;
}
void threads(report& r, std::size_t, std::size_t) {
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, thread_body, subject::malloc(static_cast<std::size_t>(i) * 97 + 1)) != 0)
      return r.say("no thread");
    void* text = nullptr;
    ::pthread_join(thread, &text);
    take(r, "asprintf in a thread that ended", text);
  }
}
void exceptions(report& r, std::size_t, std::size_t) {
  int caught = 0;
  for (int i = 0; i < 200; ++i) try {
      throw std::string(static_cast<std::size_t>(i) * 10, 'e');
    } catch (const std::string& s) {
      caught += s.size() == static_cast<std::size_t>(i) * 10;
    }
  r.say("%d", caught);
}

}  // namespace

void add_exchange(catalogue& table) {
  for (std::size_t n : {std::size_t{1}, std::size_t{100}, std::size_t{5000}, std::size_t{200'000}}) {
    table.add(printed, n, 0, "asprintf of %zu", n);
    table.add(duplicated, n + 1, 0, "strdup, strndup, wcsdup of %zu", n + 1);
    table.add(memory_stream, n, 0, "open_memstream of %zu", n);
    table.add(scanned, n, 0, "scanf %%ms of %zu", n);
  }
  table.add(read_lines, 0, 10, "getline, libc's own buffer, short");
  table.add(read_lines, 0, 100'000, "getline, libc's own buffer, long");
  table.add(read_lines, 16, 10, "getline, the program's buffer, short");
  table.add(read_lines, 16, 100'000, "getline, the program's buffer, long");
  table.add(paths, 0, 0, "realpath, getcwd");
  table.add(directory, 0, 0, "scandir, glob");
  table.add(addresses, 0, 0, "getaddrinfo, getifaddrs");
  table.add(expressions, 0, 0, "regcomp, regexec");
  table.add(search_tree, 0, 0, "tsearch, tdestroy, hcreate");
  table.add(vectors, 0, 0, "argz, backtrace_symbols");
  table.add(obstacks, 0, 0, "obstack");
  table.add(locales, 0, 0, "newlocale, setlocale");
  table.add(environment, 0, 0, "setenv");
  table.add(streams, 0, 0, "fopen, setvbuf, popen");
  table.add(sorted, 5000, 0, "qsort of 5000");
  table.add(sorted, 200'000, 0, "qsort of 200000");
  table.add(loading, 0, 0, "dlopen, dlerror");
  table.add(threads, 0, 0, "blocks of a thread that ended");
  table.add(exceptions, 0, 0, "exceptions");
}

}  // namespace conformance
