#pragma once
// budget — how much memory a heap holds, and how much it may: never more than a hard cap, and nothing spare above a target.
//
//   paper      none
//   progress   wait-free; take() and had() lock-free: under a cap they try again only when somebody else took or gave, and else when
//              somebody else has raised the peak
//   in malloc  yes; in a signal handler: yes
//   invariant  used() is what was taken and not given back, and no take() brings it above the cap in force at that moment;
//              peak() >= used() when nobody is in between
//
// What counts is memory from when it is had of the system until it is back there: grains in use and dirty ones, huge blocks
// live and cached, guarded blocks, the tables. Who takes a dirty grain takes nothing of the system, and does not come by here.
#include <cstddef>
#include <cstdint>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::mem {

class budget {
 public:
  static constexpr std::size_t none = SIZE_MAX;

  explicit budget(std::size_t begins_with = 0) noexcept : used_(begins_with), peak_(begins_with) {}

  // So many bytes more. False: that is above the cap, and nothing was taken.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    if (!set_aside(bytes)) return false;
    had();
    return true;
  }
  // The same where the system has yet to be asked: who has it then says had(), who has not gives it back.
  [[nodiscard]] bool set_aside(std::size_t bytes) noexcept {
    const std::size_t most = limit_.load(order::relaxed);
    std::size_t before;
    if (most == none) [[likely]] {
      before = used_.fetch_add(bytes, order::relaxed);
    } else {
      before = used_.load(order::relaxed);
      do {
        if (exceeds(before, bytes, most)) return false;
      } while (!used_.cas(before, before + bytes, order::relaxed, order::relaxed));
    }
    note_crossing(before, bytes);
    return true;
  }
  void had() noexcept {
    const std::size_t now = used();
    std::size_t seen = peak_.load(order::relaxed);
    while (now > seen && !peak_.cas(seen, now, order::relaxed, order::relaxed)) {
    }
  }
  // As take, cap or not: bytes that the system gave, or would not have.
  void count(std::size_t bytes) noexcept {
    note_crossing(used_.fetch_add(bytes, order::relaxed), bytes);
    had();
  }
  void give(std::size_t bytes) noexcept { used_.fetch_sub(bytes, order::relaxed); }

  std::size_t used() const noexcept { return used_.load(order::relaxed); }
  std::size_t peak() const noexcept { return peak_.load(order::relaxed); }
  std::size_t limit() const noexcept { return limit_.load(order::relaxed); }
  std::size_t target() const noexcept { return target_.load(order::relaxed); }
  bool is_limited() const noexcept { return limit() != none; }
  void set_limit(std::size_t bytes) noexcept { limit_.store(bytes, order::relaxed); }
  void set_target(std::size_t bytes) noexcept { target_.store(bytes, order::relaxed); }

  // Whether so much more would be above the cap; above the target; above either.
  bool refuses(std::size_t more) const noexcept { return is_limited() && exceeds(used(), more, limit()); }
  bool is_above_target(std::size_t more = 0) const noexcept {
    const std::size_t aim = target();
    return aim != none && exceeds(used(), more, aim);
  }
  bool is_short(std::size_t more = 0) const noexcept { return is_above_target(more) || refuses(more); }

  // Whether what is held had better be what is counted. Huge pages bring in what nobody has taken: not under a cap, and not
  // where more than an eighth of the target is used, so that all they bring in is an eighth, about.
  bool is_narrow() const noexcept { return is_limited() || (target() != none && used() > target() / 8); }

  // Who is asked when so much cannot be had: true to try again. Who is told of each crossing of the target upwards. They are
  // called in the middle of a slow path, as a signal handler may be. Null: nobody.
  using asked = bool(std::size_t wanted);
  using told = void(std::size_t used);
  void on_limit(asked* who) noexcept { on_limit_.store(who, order::relaxed); }
  void on_target(told* who) noexcept { on_target_.store(who, order::relaxed); }
  bool ask(std::size_t wanted) const noexcept {
    asked* const who = on_limit_.load(order::relaxed);
    return who != nullptr && who(wanted);
  }

 private:
  static bool exceeds(std::size_t have, std::size_t more, std::size_t most) noexcept {
    return have > most || more > most - have;
  }
  void note_crossing(std::size_t before, std::size_t more) const noexcept {
    const std::size_t aim = target();
    if (before <= aim && before + more > aim) tell(before + more);
  }
  [[gnu::cold]] POLDER_NOINLINE void tell(std::size_t now) const noexcept {
    if (told* const who = on_target_.load(order::relaxed)) who(now);
  }

  // used_ — bytes.
  //   written by  who takes of the system or gives back to it: pool, arena, huge blocks
  //   order       relaxed: a figure; its own modification order is what keeps takers below the cap
  //   ABA         a sum, not a place
  alignas(false_sharing_range) atomic<std::size_t> used_;
  // peak_ — the highest that used_ was seen by who had had memory. What another, under a cap, asks the system for in vain may be in it.
  //   written by  who has had memory, by CAS
  //   order       relaxed: a figure; it only grows
  atomic<std::size_t> peak_;
  // Set by the user, read by takers and givers, relaxed: a change is for those who come after it.
  alignas(false_sharing_range) atomic<std::size_t> limit_{none};
  atomic<std::size_t> target_{none};
  atomic<asked*> on_limit_{nullptr};
  atomic<told*> on_target_{nullptr};
};

// Bytes of spare memory that are worth having beside so many in use: as much again in a small heap, a quarter of a large one.
constexpr std::size_t worth_keeping_beside(std::size_t in_use) noexcept {
  const std::size_t quarter = 64 * MiB + in_use / 4;
  return in_use < quarter ? in_use : quarter;
}

// What of a budget belongs to one mapping while its length changes. Where there is a cap, room comes before the system is asked. Where
// there is none a program may ask for more than there is: that counts for nobody, not for a moment, before the system has given it.
class budgeted_length {
 public:
  budgeted_length(budget& of, std::size_t length) noexcept : of_(of), held_(length) {}

  // Room for a mapping of this length. False: above the cap.
  [[nodiscard]] bool reach(std::size_t length) noexcept {
    if (length <= held_ || !of_.is_limited()) return true;
    if (!of_.set_aside(length - held_)) return false;
    held_ = length;
    return true;
  }
  // It is so long in the end.
  void settle(std::size_t length) noexcept {
    if (held_ > length) {
      of_.give(held_ - length);
    } else if (held_ < length) {
      of_.count(length - held_);
    } else {
      of_.had();
    }
    held_ = length;
  }

 private:
  budget& of_;
  std::size_t held_;
};

}  // namespace polder::mem
