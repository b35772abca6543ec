#pragma once
// marked_sieve — a sieve that knows which of its objects were there when it was marked: the oldest so many.
//
// Whoever takes objects away forgets the mark.
#include <cstddef>

#include <polder/smr/sieve.hpp>

namespace polder::smr {

template <class Record>
class marked_sieve : public sieve<Record> {
  using base = sieve<Record>;

 public:
  void mark() noexcept { marked_ = this->waiting(); }
  bool is_marked() const noexcept { return marked_ != 0; }

  template <class Keep, class Now>
  void sift(Keep&& keep, bag<retired_object>& to, Now&& now) {
    marked_ = 0;
    base::sift(keep, to, now);
  }
  template <class Keep, class Now>
  void sift(bag<Record>& from, Keep&& keep, bag<retired_object>& to, Now&& now) {
    base::sift(from, keep, to, now);
  }
  // Only what was there at the mark.
  template <class Keep, class Now>
  void sift_marked(Keep&& keep, bag<retired_object>& to, Now&& now) {
    this->sift_oldest(std::exchange(marked_, 0), keep, to, now);
  }

  void adopt(marked_sieve& other, std::uint64_t tag) noexcept {
    other.marked_ = 0;
    base::adopt(other, tag);
  }
  void surrender(typename base::parcel& to) noexcept {
    marked_ = 0;
    base::surrender(to);
  }

 private:
  std::size_t marked_ = 0;
};

}  // namespace polder::smr
