#pragma once
// libcds_collection — libcds' queues and stacks as collections.
#include "rival/collections.hpp"
#include "rival/libcds.hpp"

namespace polder::bench::rivals {

using libcds_element = std::uint64_t;

template <class Reclaimer>
class libcds_base {
 public:
  static constexpr bool sized = false;
  void enter_thread() { cds::threading::Manager::attachThread(); }
  void leave_thread() { cds::threading::Manager::detachThread(); }

 private:
  const libcds_library library_;
  const libcds_reclaimer<Reclaimer> reclaimer_{8};
  const libcds_thread thread_;
};
// What needs neither hazard pointers nor other reclamation is given those nevertheless: threads are attached by it.
template <class Queue, class Reclaimer = libcds_hp>
class libcds_queue : public libcds_base<Reclaimer> {
 public:
  explicit libcds_queue(const collection_job&) {}
  bool put(libcds_element e) { return of_.enqueue(e); }
  bool get(libcds_element& e) { return of_.dequeue(e); }

 private:
  Queue of_;
};
template <class Stack, class Reclaimer = libcds_hp>
class libcds_stack : public libcds_base<Reclaimer> {
 public:
  explicit libcds_stack(const collection_job&) {}
  bool put(libcds_element e) { return of_.push(e); }
  bool get(libcds_element& e) { return of_.pop(e); }

 private:
  Stack of_;
};

}  // namespace polder::bench::rivals
