#include "set/garbage_looks.hpp"

#include <algorithm>

namespace polder::bench {

void garbage_looks::take(const garbage_look& g) {
  // A thread's counts are read one after the other, so a sum may be a little below nothing.
  if (g.all.retired >= g.all.reclaimed) {
    most_ = std::max(most_, g.all.unreclaimed());
    most_bytes_ = std::max(most_bytes_, g.all.unreclaimed_bytes());
    if (g.epoch == garbage_look::untold || g.epoch != epoch_) {
      sum_ += static_cast<double>(g.all.unreclaimed());
      ++count_;
    }
    epoch_ = g.epoch;
  }
  if (g.most_of_one != garbage_look::untold &&
      (most_of_one_ == garbage_look::untold || g.most_of_one > most_of_one_))
    most_of_one_ = g.most_of_one;
  looking_.clear(std::memory_order_release);  // sync: one-looks
}

void garbage_looks::tell(run& r, const garbage_look& last) const {
  r.tell("retired", static_cast<double>(last.all.retired - first_.all.retired));
  r.tell("reclaimed", static_cast<double>(last.all.reclaimed - first_.all.reclaimed));
  r.tell("unreclaimed_peak", static_cast<double>(most_));
  r.tell("unreclaimed_peak_bytes", static_cast<double>(most_bytes_));
  if (most_of_one_ != garbage_look::untold) r.tell("unreclaimed_peak_thread", static_cast<double>(most_of_one_));
  if (count_ != 0) r.tell("unreclaimed_mean", sum_ / count_);
  r.tell("unreclaimed_end", static_cast<double>(last.all.unreclaimed()));
  if (last.epoch != garbage_look::untold) r.tell("epochs", static_cast<double>(last.epoch - first_.epoch));
}

}  // namespace polder::bench
