// Boost.Lockfree: a queue and a stack whose free nodes go to a list of their own, and back to the heap at the end.
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/stack.hpp>

#include "rival/collections.hpp"

namespace polder::bench::rivals {

namespace {

template <class Of>
class boost_lockfree {
 public:
  static constexpr bool sized = false;
  explicit boost_lockfree(const collection_job&) : of_(0) {}
  bool put(std::uint64_t e) { return of_.push(e); }
  bool get(std::uint64_t& e) { return of_.pop(e); }

 private:
  Of of_;
};

}  // namespace

made_collection boost_queue(const collection_job& job) {
  return made<boost_lockfree<boost::lockfree::queue<std::uint64_t>>>(job);
}
made_collection boost_stack(const collection_job& job) {
  return made<boost_lockfree<boost::lockfree::stack<std::uint64_t>>>(job);
}

}  // namespace polder::bench::rivals
