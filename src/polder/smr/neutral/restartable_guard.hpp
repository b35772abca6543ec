#pragma once
// restartable_guard — what guards of all restartable schemes refuse inside a read phase, in checked builds.
#include <utility>

#include <polder/smr/neutral/reader.hpp>

namespace polder::smr {

// Guard is the scheme's, without read phases; Domain, its domain.
template <class Guard, class Domain>
class restartable_guard : public Guard {
 public:
  [[gnu::always_inline]] explicit restartable_guard(Domain& d)
      : Guard((not_reading(Domain::info.name, "a guard was opened inside a read phase"), d)) {}

  template <class T, class... Arguments>
  [[nodiscard]] T* make(Arguments&&... arguments) {
    not_reading(Domain::info.name, "make() inside a read phase");
    return Guard::template make<T>(std::forward<Arguments>(arguments)...);
  }
  template <class T, class... Deleter>
  void retire(T* object, Deleter... deleter) {
    not_reading(Domain::info.name, "retire() inside a read phase");
    Guard::retire(object, std::move(deleter)...);
  }
};

}  // namespace polder::smr
