// Concurrency Kit's and liburcu's queues and stacks (c_calls.h).
#include <bit>
#include <new>

#include "rival/c_calls.h"
#include "rival/collections.hpp"

namespace polder::bench::rivals {

namespace {

template <const c_calls& Calls, bool Sized = false>
class c_collection {
 public:
  static constexpr bool sized = Sized;
  explicit c_collection(const collection_job& job)
      : of_(Calls.make(
            static_cast<unsigned>(std::bit_ceil(capacity(job) + 1)))) {  // of ck's ring one cell stays empty
    if (of_ == nullptr) throw std::bad_alloc();
  }
  c_collection(const c_collection&) = delete;
  c_collection& operator=(const c_collection&) = delete;
  ~c_collection() { Calls.unmake(of_); }
  bool put(std::uint64_t e) { return Calls.put(of_, e); }
  bool get(std::uint64_t& e) { return Calls.get(of_, &e); }
  void enter_thread() {
    if (Calls.enter_thread != nullptr) Calls.enter_thread();
  }
  void leave_thread() {
    if (Calls.leave_thread != nullptr) Calls.leave_thread();
  }

 private:
  void* const of_;
};

}  // namespace

made_collection ck_ring(const collection_job& job) { return made<c_collection<c_calls_of_ck_ring, true>>(job); }
made_collection ck_fifo(const collection_job& job) { return made<c_collection<c_calls_of_ck_fifo>>(job); }
made_collection ck_stack(const collection_job& job) { return made<c_collection<c_calls_of_ck_stack>>(job); }
made_collection urcu_wfc_queue(const collection_job& job) {
  return made<c_collection<c_calls_of_urcu_wfc_queue>>(job);
}
made_collection urcu_lf_queue(const collection_job& job) {
  return made<c_collection<c_calls_of_urcu_lf_queue>>(job);
}
made_collection urcu_lf_stack(const collection_job& job) {
  return made<c_collection<c_calls_of_urcu_lf_stack>>(job);
}

}  // namespace polder::bench::rivals
