// libcds' queues and stacks.
#include <cds/container/basket_queue.h>
#include <cds/container/moir_queue.h>
#include <cds/container/msqueue.h>
#include <cds/container/optimistic_queue.h>
#include <cds/container/rwqueue.h>
#include <cds/container/segmented_queue.h>
#include <cds/container/treiber_stack.h>
#include <cds/container/vyukov_mpmc_cycle_queue.h>
#include <cds/gc/dhp.h>

#include "rival/libcds_collection.hpp"

namespace polder::bench::rivals {

namespace {

namespace cc = cds::container;
using element = libcds_element;
using hp = cds::gc::HP;
using dhp = cds::gc::DHP;

class segmented : public libcds_base<hp> {
 public:
  static constexpr bool sized = true;
  explicit segmented(const collection_job& job) : of_(job.size == 0 ? 80 : job.size) {}
  bool put(element e) { return of_.enqueue(e); }
  bool get(element& e) { return of_.dequeue(e); }

 private:
  cc::SegmentedQueue<hp, element> of_;
};
class vyukov : public libcds_base<hp> {
 public:
  static constexpr bool sized = true;
  explicit vyukov(const collection_job& job) : of_(capacity(job)) {}
  bool put(element e) { return of_.enqueue(e); }
  bool get(element& e) { return of_.dequeue(e); }

 private:
  cc::VyukovMPMCCycleQueue<element> of_;
};

struct eliminating : cc::treiber_stack::traits {
  static constexpr bool enable_elimination = true;
};

}  // namespace

made_collection libcds_ms_queue(const collection_job& job) {
  return made<libcds_queue<cc::MSQueue<hp, element>>>(job);
}
made_collection libcds_ms_queue_dhp(const collection_job& job) {
  return made<libcds_queue<cc::MSQueue<dhp, element>, dhp>>(job);
}
made_collection libcds_moir_queue(const collection_job& job) {
  return made<libcds_queue<cc::MoirQueue<hp, element>>>(job);
}
made_collection libcds_basket_queue(const collection_job& job) {
  return made<libcds_queue<cc::BasketQueue<hp, element>>>(job);
}
made_collection libcds_optimistic_queue(const collection_job& job) {
  return made<libcds_queue<cc::OptimisticQueue<hp, element>>>(job);
}
made_collection libcds_segmented_queue(const collection_job& job) { return made<segmented>(job); }
made_collection libcds_vyukov_queue(const collection_job& job) { return made<vyukov>(job); }
made_collection libcds_rw_queue(const collection_job& job) { return made<libcds_queue<cc::RWQueue<element>>>(job); }
made_collection libcds_treiber_stack(const collection_job& job) {
  return made<libcds_stack<cc::TreiberStack<hp, element>>>(job);
}
made_collection libcds_elimination_stack(const collection_job& job) {
  return made<libcds_stack<cc::TreiberStack<hp, element, eliminating>>>(job);
}

}  // namespace polder::bench::rivals
