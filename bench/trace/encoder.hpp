#pragma once
// encoder — events to the bytes of a trace, a chunk at a time.
#include <cstdint>
#include <vector>

#include "trace/event.hpp"
#include "trace/trace_format.hpp"

namespace polder::trace {

class encoder {
 public:
  // Objects are numbered here, in the order in which add() sees them made; of other events, `object` is read.
  void add(const event& e);
  bool full() const { return events_ == events_in_chunk; }
  bool empty() const { return events_ == 0; }
  // The chunk of what was added, with its header; begins the next one.
  std::vector<std::uint8_t> take();

  // What is known of the events so far is filled in; the rest of `about` is the caller's.
  file_header header(file_header about) const;

 private:
  std::vector<std::uint8_t> columns_[columns];
  std::uint32_t events_ = 0;
  std::uint32_t chunks_ = 0;
  std::uint64_t all_events_ = 0;
  std::uint64_t objects_ = 0;
  std::uint32_t threads_ = 0;
  std::uint32_t thread_ = 0;
  std::uint64_t time_ns_ = 0;
};

}  // namespace polder::trace
