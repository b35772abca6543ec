// occ_avl under the model checker: heights are true at rest, also of a node that one moved while another changed its height.
#include <polder/ds/tree/occ_avl.hpp>

#include "explore.hpp"
#include "structures.hpp"

// Relacy replaces the other one alone; the vector of a walk calls this.
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

using polder::model::key;
using polder::model::none;
using keeping = polder::model::keeping<2, 1, 16>;

struct world {
  keeping::domain domain;
  polder::ds::occ_avl<key, none, keeping> map{domain};

  void put(int k) { POLDER_MODEL_CHECK(map.insert(key(k))); }
  void drop(int k) { POLDER_MODEL_CHECK(map.erase(key(k))); }
  void has(std::initializer_list<int> keys) {
    map.validate();
    for (const int k : keys) POLDER_MODEL_CHECK(map.contains(key(k)));
    POLDER_MODEL_CHECK(map.size_slow() == keys.size());
  }
};

// One makes the tree lean to the left, and so moves 5 from 3 to 6; the other puts a leaf below 5.
struct moved_by_a_rotation : rl::test_suite<moved_by_a_rotation, 2>, world {
  void before() {
    for (const int k : {6, 3, 8, 2, 5}) put(k);
  }
  void thread(unsigned self) {
    if (self == 0) {
      put(1);
    } else {
      for (unsigned i = 0; i != 2; ++i) map.contains(key(4));  // so that both get there at about the same time
      put(4);
    }
  }
  void after() { has({1, 2, 3, 4, 5, 6, 8}); }
};

// One takes away the node between 2 and 4; the other puts a leaf below 2.
struct moved_by_a_removal : rl::test_suite<moved_by_a_removal, 2>, world {
  void before() {
    for (const int k : {4, 3, 5, 2}) put(k);
  }
  void thread(unsigned self) {
    if (self == 0) drop(3);
    else put(1);
  }
  void after() { has({1, 2, 4, 5}); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<moved_by_a_rotation>({.title = "occ_avl: moved by a rotation", .executions = 400'000});
  ok &= passes<moved_by_a_removal>({.title = "occ_avl: moved by a removal", .executions = 200'000});
  return ok ? 0 : 1;
}
