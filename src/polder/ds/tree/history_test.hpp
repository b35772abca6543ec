#pragma once
// history — what threads asked of a map, and when; and whether one at a time could have had the same answers.
//
//   paper      Herlihy & Wing, TOPLAS 1990 (linearizability, and its locality: a history is linearizable if that of each object
//              is, and each key is an object); the search: linearization_test.hpp
//
// Why not Porcupine: by key, histories have a few dozen operations and a state of one value, which takes a page and no second
// language in the test of a header. It would be worth its module for histories that cannot be cut up.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <polder/ds/linearization_test.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

class history {
 public:
  enum class call : std::uint8_t { insert, erase, take, contains, get };
  static constexpr long none = -1;
  struct operation {
    call what;
    long key;
    long value;  // of insert: what it brings; of take and get: what they found, or none
    bool answer;
    std::uint64_t from = 0, to = 0;  // when it was called, and when it returned
  };

  // One thread's part; `now` is shared.
  class recorder {
   public:
    explicit recorder(atomic<std::uint64_t>& now) : now_(now) {}
    template <class Map>
    void run(Map& m, call what, long key, long value) {
      operation o{what, key, what == call::insert ? value : none, false};
      o.from = now_.fetch_add(1, order::seq_cst);  // sync: history: no answer precedes its question
      switch (what) {
        case call::insert: o.answer = m.insert(key, value); break;
        case call::erase: o.answer = m.erase(key); break;
        case call::contains: o.answer = m.contains(key); break;
        case call::take:
        case call::get: {
          const auto found = what == call::take ? m.take(key) : m.get(key);
          o.answer = found.has_value();
          if (found) o.value = *found;
        }
      }
      o.to = now_.fetch_add(1, order::seq_cst);  // sync: history
      done.push_back(o);
    }
    std::vector<operation> done;

   private:
    atomic<std::uint64_t>& now_;
  };

  void add(const std::vector<operation>& part) {
    for (const operation& o : part) by_key_[o.key].push_back(o);
  }

  // Whether the answers are those of a map that was empty before. At most 64 operations a key.
  bool linearizable() const {
    return std::all_of(by_key_.begin(), by_key_.end(),
                       [](const auto& entry) { return ds::linearizable(one_key{}, entry.second); });
  }

 private:
  // What a map has of one key.
  struct one_key {
    using operation = history::operation;
    struct state {
      long value = none;
      auto operator<=>(const state&) const = default;
    };
    bool apply(const operation& o, state& s) const { return answered(o, s.value); }
  };

  static bool answered(const operation& o, long& state) {
    const bool there = state != none;
    switch (o.what) {
      case call::insert:
        if (o.answer == there) return false;
        if (!there) state = o.value;
        return true;
      case call::erase:
      case call::take:
        if (o.answer != there || (o.what == call::take && there && o.value != state)) return false;
        state = none;
        return true;
      case call::contains: return o.answer == there;
      case call::get: return o.answer == there && (!there || o.value == state);
    }
    return false;
  }

  std::map<long, std::vector<operation>> by_key_;
};

}  // namespace polder::ds
