#pragma once
// recorded — the file of a recording of the timeline, as it was written.
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include <polder/os/timeline_format.hpp>

namespace polder::os {

struct recorded {
  timeline::header head;
  std::vector<timeline::kind_entry> kinds;
  std::vector<timeline::thread_entry> threads;
  std::vector<timeline::event> events;
  bool whole = false;

  explicit recorded(const std::string& file) {
    std::ifstream from(file, std::ios::binary);
    if (!from.read(reinterpret_cast<char*>(&head), sizeof head)) return;
    kinds.resize(head.kinds);
    threads.resize(head.threads);
    read(from, kinds);
    read(from, threads);
    std::size_t n = 0;
    for (const auto& t : threads) n += t.events;
    events.resize(n);
    read(from, events);
    whole = bool(from) && from.peek() == EOF && head.state == timeline::file_state::complete;
  }

  std::size_t kept(timeline::kind k) const {
    std::size_t n = 0;
    for (const auto& e : events) n += e.kind == k;
    return n;
  }

 private:
  template <class T>
  static void read(std::ifstream& from, std::vector<T>& to) {
    from.read(reinterpret_cast<char*>(to.data()), std::streamsize(to.size() * sizeof(T)));
  }
};

}  // namespace polder::os
