// skip_list under the model checker, with two lanes: what is linked is whole, who finds a key gone knows of its removal, and
// nothing is read that was freed, though a node may still be linked to the upper lane when its removal is over.
#include <polder/ds/tree/skip_list.hpp>

#include "explore.hpp"
#include "structures.hpp"
#include "tallied_map.hpp"

namespace {

using polder::plain;
using polder::model::key;
using polder::model::none;

using keeping = polder::model::keeping<3, 1, 8>;
using regions = polder::model::regions<3, 1, 8>;

// Each thread says how high its next node is.
struct told_heights {
  static constexpr unsigned lanes = 2;
  static inline unsigned next[4];
  static unsigned& mine() { return next[rl::ctx().current_thread() + 1]; }
  static unsigned draw() { return mine(); }
};

template <class R, unsigned Threads>
struct world : polder::model::tallied_map<polder::ds::skip_list<key, none, R, told_heights>, typename R::domain, 3,
                                          Threads> {
  bool put(unsigned self, int k, unsigned height) {
    told_heights::mine() = height;
    return world::tallied_map::put(self, k);
  }
};

// One writes a note before it removes a key; who finds it gone reads the note.
enum class finds { by_look, by_erase, by_insert };
template <class R, finds How>
struct gone : rl::test_suite<gone<R, How>, 2>, world<R, 2> {
  plain<int> note;
  void before() { this->put(0, 1, 2); }
  bool is_gone() {
    switch (How) {
      case finds::by_look: return !this->has(1);
      case finds::by_erase: return !this->drop(1, 1);
      case finds::by_insert: return this->put(1, 1, 1);
    }
    return false;
  }
  void thread(unsigned self) {
    if (self == 0) {
      note.set(1);
      this->drop(0, 1);
    } else if (is_gone()) {
      POLDER_MODEL_CHECK(note.get() == 1);
      POLDER_MODEL_CHECK(How == finds::by_insert || !this->has(1));
    }
  }
  void after() { this->comes_out(); }
};

// One inserts a high node, the other removes it, maybe before it is linked to the lane above. Then that lane leads to a node
// that the lowest one does not, with links that are older than what the other inserts.
template <class R, bool Again>
struct linked_late : rl::test_suite<linked_late<R, Again>, 2>, world<R, 2> {
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 1, 2);
    } else if (this->drop(1, 1)) {
      this->put(1, 2, 1);
      POLDER_MODEL_CHECK(this->has(2));
      if (Again) this->put(1, 1, 2);
    }
  }
  void after() { this->comes_out(); }
};

// Two remove neighbours, and a third inserts between them.
template <class R>
struct neighbours : rl::test_suite<neighbours<R>, 3>, world<R, 3> {
  void before() {
    this->put(0, 1, 2);
    this->put(0, 3, 2);
  }
  void thread(unsigned self) {
    if (self == 2) {
      this->put(2, 2, 2);
      POLDER_MODEL_CHECK(this->has(2));
    } else {
      this->drop(self, self == 0 ? 1 : 3);
    }
  }
  void after() { this->comes_out(); }
};

// Two insert and remove one key, a third looks.
template <class R>
struct one_key : rl::test_suite<one_key<R>, 3>, world<R, 3> {
  void before() { this->put(0, 2, 1); }
  void thread(unsigned self) {
    if (self == 2) {
      this->has(1);
      POLDER_MODEL_CHECK(this->has(2));
      this->has(1);
    } else {
      this->put(self, 1, 2);
      this->drop(self, 1);
    }
  }
  void after() { this->comes_out(); }
};

template <class R>
bool all(const char* look, const char* erase, const char* insert, const char* late, const char* near,
         const char* same) {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<gone<R, finds::by_look>>({.title = look, .how = search::bounded, .floor = 50, .switches = 2});
  ok &= passes<gone<R, finds::by_erase>>({.title = erase, .how = search::bounded, .floor = 50, .switches = 2});
  ok &= passes<gone<R, finds::by_insert>>({.title = insert, .how = search::bounded, .floor = 50, .switches = 2});
  ok &= passes<linked_late<R, false>>({.title = late, .how = search::bounded, .floor = 50, .switches = 3});
  ok &= passes<linked_late<R, true>>({.title = late, .executions = 20'000});
  ok &= passes<neighbours<R>>({.title = near, .executions = 20'000});
  ok &= passes<one_key<R>>({.title = same, .executions = 20'000});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= all<keeping>("skip list: gone, by a look", "skip list: gone, by a removal",
                     "skip list: gone, by an insertion", "skip list: linked late", "skip list: neighbours",
                     "skip list: one key");
  ok &= all<regions>("skip list, regions: gone, by a look", "skip list, regions: gone, by a removal",
                     "skip list, regions: gone, by an insertion", "skip list, regions: linked late",
                     "skip list, regions: neighbours", "skip list, regions: one key");
  return ok ? 0 : 1;
}
