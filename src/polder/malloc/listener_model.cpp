// listener under the model checker: whoever is called is called with what was named together with it.
#include <polder/malloc/listener.hpp>

#include <cstddef>
#include <new>

#include "explore.hpp"

namespace {

using polder::plain;

int first(int asked, void* data) { return asked + 10 + static_cast<plain<int>*>(data)->get(); }
int second(int asked, void* data) { return asked + 20 + static_cast<plain<int>*>(data)->get(); }

using one = polder::face::listener<int(int, void*)>;

// One names another in one's place, and then nobody; a second one asks meanwhile.
struct naming : rl::test_suite<naming, 2> {
  one who;
  plain<int> of_first, of_second;
  alignas(one::target) std::byte rooms[2][sizeof(one::target)];
  unsigned used = 0;

  ~naming() {
    for (unsigned i = 0; i != used; ++i) std::launder(reinterpret_cast<one::target*>(rooms[i]))->~target();
  }
  void set(int (*called)(int, void*), plain<int>* data, int of) {
    if (data != nullptr) data->set(of);
    POLDER_MODEL_CHECK(who.set(called, data, [this](std::size_t) { return rooms[used++]; }));
  }
  int ask() {
    const one::target* const named = who.now();
    return named != nullptr ? (*named)(100) : 0;
  }
  void thread(unsigned self) {
    if (self == 0) {
      set(first, &of_first, 1);
      set(second, &of_second, 2);
      set(nullptr, nullptr, 0);
      return;
    }
    for (int times = 0; times != 2; ++times) {
      const int answer = ask();
      POLDER_MODEL_CHECK(answer == 0 || answer == 111 || answer == 122);
    }
  }
  void after() {
    POLDER_MODEL_CHECK(ask() == 0);
    POLDER_MODEL_CHECK(!who.set(first, nullptr, [](std::size_t) -> void* { return nullptr; }) && ask() == 0);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  return passes<naming>({.title = "listener: named while another asks", .how = search::complete, .floor = 50}) ? 0
                                                                                                               : 1;
}
