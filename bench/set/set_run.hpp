#pragma once
// set_run — the workload `set` over one structure: fills it, works, checks that what is in it is what was put in.
//
// Structure: insert(key, value), erase(key), contains(key); size_slow(), key_sum_quiescent() and validate() at rest; and
// where it has them range(lo, hi, f), enter_thread() and leave_thread(). Domain: statistics().
#include <optional>

#include <polder/os/timeline.hpp>

#include "core/meeting.hpp"
#include "core/operation_times.hpp"
#include "core/places.hpp"
#include "core/run.hpp"
#include "core/scatter.hpp"
#include "core/zipf.hpp"
#include "set/freeing.hpp"
#include "set/garbage_looks.hpp"
#include "set/heap_counters.hpp"
#include "set/set_table.hpp"

namespace polder::bench {

// Of one thread: what it inserted and deleted, for the checksum; what its ranges held.
struct alignas(128) key_balance {
  std::uint64_t keys = 0;  // sum of those inserted less those deleted, modulo 2^64
  std::uint64_t size = 0;
  std::uint64_t ranges = 0;
  std::uint64_t in_ranges = 0;  // keys
};

template <class Structure, class Domain>
class set_run {
 public:
  using key = std::uint64_t;

  // watch: the domain's, if frees are timed.
  set_run(run& r, const set_job& job, Structure& set, Domain& domain, freeing* watch)
      : run_(r),
        job_(job),
        set_(set),
        domain_(domain),
        freeing_(watch),
        scattered_(job.keys),
        balances_(r.threads + 1),
        times_(r.threads, job.timed_every),
        all_(r.threads) {
    if (job.theta != 0) skewed_.emplace(job.keys, job.theta / 100.0);
  }

  void operator()() {
    run_.measure([&](worker& w) { body(w); });
    check();
  }

 private:
  key_balance& balance_of(const worker& w) { return balances_[w.id]; }

  void body(worker& w) {
    if (job_.pinned && !cores_.pin(w.id)) run_.fail("the kernel lets thread %u not stay on a core", w.id);
    if constexpr (requires { set_.enter_thread(); }) set_.enter_thread();
    prefill(w);
    all_.wait(w.id == 0, [&] {
      looks_.begin(look());
      counted_ = heap_counters::now();
      if (freeing_ != nullptr) freeing_->begin();
      if (!run_.timeline.empty() && !os::timeline::start({.file = run_.timeline})) run_.fail("no timeline");
    });
    w.begin_ns = now_ns();
    work(w);
    w.stop_clock();
    if (w.id == 0) os::timeline::stop();
    worked_ns_.fetch_add(w.end_ns - w.begin_ns, std::memory_order_relaxed);
    worked_.fetch_add(w.operations, std::memory_order_relaxed);
    all_.wait(w.id == 0, [&] { tell(); });
    if constexpr (requires { set_.leave_thread(); }) set_.leave_thread();
  }

  key draw(worker& w) { return skewed_ ? scattered_((*skewed_)(w.numbers)) : w.numbers.below(job_.keys); }

  bool insert(worker& w, key k) {
    if (!set_.insert(k, k)) return false;
    balance_of(w).keys += k;
    ++balance_of(w).size;
    return true;
  }
  bool erase(worker& w, key k) {
    if (!set_.erase(k)) return false;
    balance_of(w).keys -= k;
    --balance_of(w).size;
    return true;
  }

  // All within the keys, so that ranges are of one width.
  void range(worker& w, key k) {
    if constexpr (requires { set_.range(k, k, [](key, key) {}); }) {
      const key lo = job_.range_keys >= job_.keys ? 0 : std::min(k, job_.keys - job_.range_keys);
      os::timeline::span told(os::timeline::kind::operation);
      std::uint64_t n = 0;
      key next = lo;
      set_.range(lo, lo + job_.range_keys - 1, [&](key at, key) {
        if (at < next || at - lo >= job_.range_keys) [[unlikely]]
          run_.fail("a range from %llu told %llu out of its order", static_cast<unsigned long long>(lo),
                    static_cast<unsigned long long>(at));
        next = at + 1;
        ++n;
      });
      told.count(n);
      ++balance_of(w).ranges;
      balance_of(w).in_ranges += n;
    }
  }

  // To the size at which as many insertions as deletions succeed. All threads, each its part.
  void prefill(worker& w) {
    const unsigned updates = job_.inserts + job_.deletes;
    const std::uint64_t size = updates == 0 ? job_.keys / 2 : job_.keys * job_.inserts / updates;
    const std::uint64_t part = size / run_.threads + (w.id < size % run_.threads);
    while (balance_of(w).size < part) insert(w, w.numbers.below(job_.keys));
  }

  void step(worker& w) {
    const key k = draw(w);
    const std::uint64_t what = w.numbers.below(100);
    if (what < job_.inserts) insert(w, k);
    else if (what < job_.inserts + job_.deletes) erase(w, k);
    else if (what < job_.inserts + job_.deletes + job_.ranges) range(w, k);
    else if (set_.contains(k)) w.salt += k;  // so that it is not for nothing
  }

  void work(worker& w) {
    if (freeing_ != nullptr) freeing_->works(w.id);
    const std::int64_t until = w.begin_ns + job_.milliseconds * 1'000'000;
    random distances(~run_.seed, w.id);  // of its own: the keys are the same ones, timed or not
    std::uint64_t untimed = times_.draw(distances);
    // A range may take milliseconds.
    const unsigned between_looks = job_.ranges == 0 ? 64 : 1;
    for (;;) {
      for (unsigned i = 0; i != between_looks; ++i) {
        const bool timed = --untimed == 0;
        const std::uint64_t from = timed ? times_.begin() : 0;
        step(w);
        if (timed) [[unlikely]] {
          times_.end(w.id, from);
          untimed = times_.draw(distances);
        }
        if (freeing_ != nullptr) [[unlikely]]
          freeing_->operation_ended();
      }
      w.operations += between_looks;
      const std::int64_t now = now_ns();
      if (looks_.due(now)) looks_.take(look());
      if (job_.steps != 0 ? w.operations >= job_.steps : now >= until) return;
    }
  }

  garbage_look look() const { return look_at(domain_, job_.drain.how != smr::drain_policy::way::background); }

  void tell() {
    looks_.tell(run_, look());
    times_.tell(run_);
    if (freeing_ != nullptr) freeing_->tell(run_, worked_ns_.load(std::memory_order_relaxed));
    heap_counters::now().tell_since(run_, counted_, worked_.load(std::memory_order_relaxed));
    key_balance sum;
    for (const key_balance& b : balances_) {
      sum.ranges += b.ranges;
      sum.in_ranges += b.in_ranges;
    }
    if (job_.ranges == 0) return;
    run_.tell("ranges", static_cast<double>(sum.ranges));
    run_.tell("range_objects", static_cast<double>(sum.in_ranges));
  }

  void check() {
    key_balance sum;
    for (const key_balance& b : balances_) {
      sum.keys += b.keys;
      sum.size += b.size;
    }
    if (const std::size_t size = set_.size_slow(); size != sum.size)
      run_.fail("the set holds %zu keys, %llu were inserted and not deleted", size,
                static_cast<unsigned long long>(sum.size));
    if (set_.key_sum_quiescent() != sum.keys) run_.fail("the keys in the set are not those that were inserted");
    set_.validate();
  }

  run& run_;
  const set_job& job_;
  Structure& set_;
  Domain& domain_;
  freeing* const freeing_;  // null: not asked for
  const cores cores_;
  std::optional<zipf> skewed_;
  const scatter scattered_;  // frequent keys are not neighbours
  mapped_array<key_balance> balances_;
  operation_times times_;
  garbage_looks looks_;
  heap_counters counted_;
  std::atomic<std::int64_t> worked_ns_{0};
  std::atomic<std::uint64_t> worked_{0};
  meeting all_;
};

}  // namespace polder::bench
