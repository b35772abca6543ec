#pragma once
// topology — which node and which socket each processor belongs to.
//
//   in malloc  yes: no allocation, raw open and read; reading it opens a file a processor, so once a process
//   errors     what the kernel does not tell is one node and one socket, never a failure
//
//   sysfs                                                        here
//   devices/system/cpu/{online,possible}                         cpus(), cpu_limit()
//   devices/system/cpu/cpu#/topology/physical_package_id         sockets, numbered anew from 0: the kernel's are any
//   devices/system/node/online, devices/system/node/node#/cpulist  nodes, by the kernel's numbers: mbind wants those
//
// Processors have the kernel's numbers too, which may have holes. Affinity and cgroups change where a thread runs, not
// what a processor is called. One that was not there when the topology was read is taken for one of node 0, socket 0.
//
// A test may imagine a machine: POLDER_TOPOLOGY=2x48 is two sockets, a node each, of 48 processors; with a directory
// in place of /sys (POLDER_TOPOLOGY=/tmp/tree) its files are read. Threads are then taken to be spread over the
// processors, each staying on one.
#include <cstdint>
#include <string_view>

namespace polder::os {

// Plain data, some 32 KiB; needs no initialization before one of the three functions that fill it.
class topology {
 public:
  static constexpr unsigned max_cpus = 8192;  // as many as the kernel can be built for
  static constexpr unsigned max_nodes = 1024;
  static constexpr unsigned max_sockets = 256;  // what is beyond shares its numbers

  // What the kernel tells in the tree at `root`.
  void read(std::string_view root = "/sys") noexcept;

  // "SxC": S sockets, a node each, of C processors. False: it is no such text; nothing changed.
  bool imagine(std::string_view text) noexcept;

  // Whether a text is what POLDER_TOPOLOGY takes: nothing, SxC or a directory.
  static bool understands(std::string_view text) noexcept;

  // As POLDER_TOPOLOGY says, the machine's if it is not set or must not be heard. False: it is set to what is not
  // understood, and the machine's was read.
  bool read_configured() noexcept;

  // One processor, node and socket at least.
  unsigned cpus() const noexcept { return cpus_; }            // online
  unsigned cpu_limit() const noexcept { return cpu_limit_; }  // all numbers are below it, also of what comes later
  unsigned sockets() const noexcept { return sockets_; }
  unsigned nodes() const noexcept { return nodes_; }  // those that have processors
  unsigned node_limit() const noexcept { return node_limit_; }
  bool imagined() const noexcept { return imagined_; }

  unsigned node_of(unsigned cpu) const noexcept { return cpu < cpu_limit_ ? places_[cpu].node : 0; }
  unsigned socket_of(unsigned cpu) const noexcept { return cpu < cpu_limit_ ? places_[cpu].socket : 0; }

  // Where the calling thread runs, or did a moment ago; below cpu_limit(). No system call on a real machine.
  unsigned current_cpu() const noexcept;

 private:
  void begin(bool imagined, unsigned cpu_limit) noexcept;
  void read_sockets(std::string_view root) noexcept;
  void read_nodes(std::string_view root) noexcept;

  std::uint32_t cpus_;
  std::uint32_t cpu_limit_;
  std::uint32_t sockets_;
  std::uint32_t nodes_;
  std::uint32_t node_limit_;
  bool imagined_;
  struct place {
    std::uint16_t node, socket;
  } places_[max_cpus];  // below cpu_limit_
};

}  // namespace polder::os
