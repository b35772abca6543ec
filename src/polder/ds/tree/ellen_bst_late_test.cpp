// ellen_bst, of which a thread stands still: whoever goes on late with a deletion does not take a record for another that was
// made in its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include <polder/base/check.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/ds/tree/ellen_bst.hpp>

namespace polder::ds {
namespace {

// Where a thread stands still, once.
struct stop {
  std::binary_semaphore there{0}, on{0};
  void wait() {
    there.release();
    on.acquire();
  }
};
thread_local stop *before_a_record = nullptr, *retiring_a_record = nullptr, *behind_a_deletion = nullptr;
void pass(stop*& s) {
  if (s != nullptr) std::exchange(s, nullptr)->wait();
}

// The places of records: one that was freed is used again only when it is asked for.
struct places {
  static inline std::vector<void*> freed;  // under the domain's lock, or alone
  static inline void* wanted = nullptr;
  static void* take(std::size_t bytes) { return std::erase(freed, wanted) != 0 ? wanted : ::operator new(bytes); }
  static void end() {
    for (void* const p : freed) ::operator delete(p);
    freed.clear();
    wanted = nullptr;
  }
};
template <class T>
concept is_record = requires(T t) { t.p_update; };
struct give_place {
  template <class T>
  void operator()(T* p) const noexcept {
    must(std::count(places::freed.begin(), places::freed.end(), p) == 0);
    std::destroy_at(p);
    places::freed.push_back(p);
  }
};

// eager::region with those stops and places.
struct stopping : eager::region {
  template <unsigned Slots>
  class guard : public eager::region::guard<Slots> {
    using base = eager::region::guard<Slots>;

   public:
    using base::base;
    template <class W>
    W protect(unsigned slot, const atomic<W>& word) {
      const W now = base::protect(slot, word);
      if constexpr (requires { now.marks(); }) {
        if (bst_state(now.marks()) == bst_state::to_delete) pass(behind_a_deletion);
      }
      return now;
    }
    template <class T, class... Arguments>
    T* make(Arguments&&... arguments) {
      if constexpr (is_record<T>) {
        pass(before_a_record);
        return new (places::take(sizeof(T))) T(std::forward<Arguments>(arguments)...);
      } else {
        return base::template make<T>(std::forward<Arguments>(arguments)...);
      }
    }
    template <class T>
    void unmake(T* p) noexcept {
      if constexpr (is_record<T>) give_place{}(p);
      else base::unmake(p);
    }
    template <class T>
    void retire(T* p) {
      if constexpr (is_record<T>) {
        base::retire(p, give_place{});
        pass(retiring_a_record);
      } else {
        base::retire(p);
      }
    }
  };
};
using tree = ellen_bst<long, long, stopping>;

// 40 { 20 { 10, 20 }, 40 }, where the words of both inner nodes name a record; returns that of 20, which was made last.
void* plant(tree& t) {
  for (const long k : {10, 40, 20, 15}) EXPECT_TRUE(t.insert(k, k));
  void* const place = ::operator new(sizeof(tree::record));
  places::freed.push_back(place);
  places::wanted = place;
  EXPECT_TRUE(t.erase(15));
  places::wanted = nullptr;
  return place;
}
void has(const tree& t, std::initializer_list<long> keys) {
  t.validate();
  for (const long k : keys) EXPECT_TRUE(t.contains(k)) << k;
  EXPECT_EQ(t.size_slow(), keys.size());
}

// One flags 40 in order to erase 10. Another inserts 5, so 20 can no longer be marked for that. A third finds the flag. The first
// backtracks, erases 10 and is gone; what 20 named is made anew for an insertion there. Then the third goes on.
TEST(ellen_bst_late, a_helper_marks_no_node_that_changed_meanwhile) {
  {
    eager::drained<stopping> domain;
    tree t(domain);
    void* const named = plant(t);
    stop flagged, found;
    std::thread erases([&] {
      retiring_a_record = &flagged;
      EXPECT_TRUE(t.erase(10));
    });
    flagged.there.acquire();
    EXPECT_TRUE(t.insert(5, 5));
    std::thread helps([&] {
      behind_a_deletion = &found;
      EXPECT_TRUE(t.insert(45, 45));
    });
    found.there.acquire();
    flagged.on.release();
    erases.join();
    places::wanted = named;
    EXPECT_TRUE(t.insert(7, 7));
    places::wanted = nullptr;
    found.on.release();
    helps.join();
    has(t, {5, 7, 20, 40, 45});
  }
  places::end();
}

// As above, but what 20 named is retired before the first names it.
TEST(ellen_bst_late, who_expects_what_is_retired_searches_again) {
  {
    eager::drained<stopping> domain;
    tree t(domain);
    plant(t);
    stop made;
    std::thread erases([&] {
      before_a_record = &made;
      EXPECT_TRUE(t.erase(10));
    });
    made.there.acquire();
    EXPECT_TRUE(t.insert(5, 5));
    made.on.release();
    erases.join();
    has(t, {5, 20, 40});
  }
  places::end();
}

}  // namespace
}  // namespace polder::ds
