// A library to be opened and closed that has a thread local with a destructor: the destructor may run after the close.
#include <string>
#include <vector>

namespace {

struct kept {
  std::vector<std::string> words;
  ~kept() { words.assign(20, std::string(300, 'z')); }
};
thread_local kept of_this_thread;

}  // namespace

extern "C" int plugin_work(int n) {
  for (int i = 0; i < n; ++i) of_this_thread.words.push_back(std::string(static_cast<std::size_t>(i), 'w'));
  return static_cast<int>(of_this_thread.words.size());
}
