#pragma once
// list_set — a map in one sorted list: for a few dozen keys, and what others are built of.
//
//   paper      Michael, SPAA 2002, section 3; see marked_list.hpp for the steps and their argument
//   progress   lock-free; contains and get wait-free where the reclaimer protects regions and the list does not grow
//   in malloc  no: insert allocates
#include <optional>

#include <polder/ds/tree/map_info.hpp>
#include <polder/ds/tree/marked_list.hpp>

namespace polder::ds {

template <class K, class V, class R>
class list_set : public counted_at_rest<list_set<K, V, R>> {
  using list = marked_list<K, V, R>;

 public:
  static constexpr map_info info = {.name = "list-set",
                                    .title = "Harris-Michael list",
                                    .semantics = "map, linearizable",
                                    .readers = "wait-free by regions, else lock-free",
                                    .updaters = "lock-free",
                                    .paper = "Michael, SPAA 2002, sec. 3; Harris, DISC 2001",
                                    .year = 2002,
                                    .parameters = "",
                                    .protection = needs::pointer,
                                    .restarts = true};
  using key_type = K;
  using value_type = V;
  using reclaimer_type = R;
  using node = typename list::node;

  explicit list_set(typename R::domain& domain) noexcept : domain_(domain) {}
  list_set(const list_set&) = delete;
  list_set& operator=(const list_set&) = delete;
  ~list_set() {
    guard g(domain_);
    list::clear(g, first_);
  }

  // False: the key is there, and keeps its value. Throws std::bad_alloc, and then nothing happened.
  bool insert(const K& key, const V& value = {}) {
    guard g(domain_);
    return list::insert(g, first_, key, value);
  }
  bool erase(const K& key) {
    guard g(domain_);
    return list::erase(g, first_, key, [](const V&) {});
  }
  std::optional<V> take(const K& key) {
    guard g(domain_);
    std::optional<V> taken;
    if (!list::erase(g, first_, key, [&](const V& v) { taken.emplace(v); })) taken.reset();
    return taken;
  }
  bool contains(const K& key) const {
    guard g(domain_);
    return list::look(g, first_, key) != nullptr;
  }
  std::optional<V> get(const K& key) const {
    guard g(domain_);
    const node* const n = list::look(g, first_, key);
    return n == nullptr ? std::nullopt : std::optional<V>(n->value);
  }

  // For a map at rest.
  template <class F>
  void for_each_quiescent(F&& f) const {
    list::each(first_, [&](const node& n) { f(n.key, n.value); });
  }
  void validate() const { list::validate(first_); }

 private:
  using guard = typename list::guard;

  typename R::domain& domain_;
  mutable typename list::head first_;  // see marked_list
};

}  // namespace polder::ds
