#include <sched.h>

#include <algorithm>
#include <iterator>

#include <polder/os/environ.hpp>
#include <polder/os/linux/file_letters.hpp>
#include <polder/os/linux/processor_set.hpp>
#include <polder/os/system_call.hpp>
#include <polder/os/topology.hpp>

namespace polder::os {
namespace {

// Reads a number that begins with the letter `c`, which becomes the one after it. Capped, so that nothing overflows.
unsigned number(file_letters& from, int& c) {
  constexpr unsigned most = 1u << 30;
  unsigned n = 0;
  for (; is_digit(c); c = from.next()) n = std::min(n * 10 + unsigned(c - '0'), most / 10);
  return n;
}

// Calls f(n) for each number below `limit` in a list like "0-3,8,10-11", up to the first letter that is no such list's.
// False: there is no such file.
template <class F>
bool for_each_listed(const file_path& name, unsigned limit, F f) {
  file_letters from(name);
  int c = from.next();
  while (is_digit(c)) {
    const unsigned first = number(from, c);
    unsigned last = first;
    if (c == '-') {
      c = from.next();
      if (!is_digit(c)) break;
      last = number(from, c);
    }
    for (unsigned n = first; n <= last && n < limit; ++n) f(n);
    if (c != ',') break;
    c = from.next();
  }
  return from.there();
}

// The first number of a file; 0 if there is none, or a negative one, which stands for "not known".
unsigned first_number(const file_path& name) {
  file_letters from(name);
  int c = from.next();
  return number(from, c);
}

constexpr std::string_view cpus_in = "/devices/system/cpu/";
constexpr std::string_view nodes_in = "/devices/system/node/";

// Where sysfs is not mounted: as many as the calling thread may run on now, counting from 0.
unsigned usable_cpus() {
  static_assert(processor_set::most == topology::max_cpus);
  processor_set mine;
  processor_set::read(0, mine);
  unsigned highest = 0;
  for (unsigned cpu = 0; cpu != topology::max_cpus; ++cpu)
    if (mine.has(cpu)) highest = cpu;
  return highest + 1;
}

}  // namespace

// One node, one socket, and `cpu_limit` processors on them.
void topology::begin(bool imagined, unsigned cpu_limit) noexcept {
  cpus_ = cpu_limit_ = std::clamp(cpu_limit, 1u, max_cpus);
  sockets_ = nodes_ = node_limit_ = 1;
  imagined_ = imagined;
  std::fill_n(places_, cpu_limit_, place{});
}

void topology::read(std::string_view root) noexcept {
  unsigned limit = 0;
  unsigned online = 0;
  const auto see = [&](unsigned cpu) { limit = std::max(limit, cpu + 1); };
  const bool told = for_each_listed(file_path(root, cpus_in, "possible"), max_cpus, see);
  for_each_listed(file_path(root, cpus_in, "online"), max_cpus, [&](unsigned cpu) { see(cpu), ++online; });
  begin(root != "/sys", told || online != 0 ? limit : usable_cpus());
  if (online != 0) cpus_ = online;
  read_sockets(root);
  read_nodes(root);
}

void topology::read_sockets(std::string_view root) noexcept {
  unsigned packages[max_sockets];
  unsigned seen = 0;
  for_each_listed(file_path(root, cpus_in, "online"), cpu_limit_, [&](unsigned cpu) {
    const unsigned package = first_number(file_path(root, cpus_in, "cpu", cpu, "/topology/physical_package_id"));
    unsigned* const known = std::find(packages, packages + seen, package);
    if (known == packages + seen && seen < max_sockets) packages[seen++] = package;
    places_[cpu].socket = std::uint16_t((known - packages) % max_sockets);
  });
  sockets_ = std::max(seen, 1u);
}

void topology::read_nodes(std::string_view root) noexcept {
  unsigned with_cpus = 0;
  for_each_listed(file_path(root, nodes_in, "online"), max_nodes, [&](unsigned node) {
    node_limit_ = std::max(node_limit_, node + 1);
    bool any = false;
    for_each_listed(file_path(root, nodes_in, "node", node, "/cpulist"), cpu_limit_, [&](unsigned cpu) {
      places_[cpu].node = std::uint16_t(node);
      any = true;
    });
    with_cpus += any;
  });
  nodes_ = std::max(with_cpus, 1u);
}

// Reads "SxC". False: it is something else, or more than there is room for.
static bool read_product(std::string_view text, unsigned& sockets, unsigned& each) noexcept {
  const auto number = [&text](unsigned& n) {
    for (n = 0; !text.empty() && is_digit(text.front()) && n <= topology::max_cpus; text.remove_prefix(1))
      n = n * 10 + unsigned(text.front() - '0');
    return n != 0;
  };
  if (!number(sockets) || !text.starts_with('x')) return false;
  text.remove_prefix(1);
  return number(each) && text.empty() && sockets <= topology::max_sockets && each <= topology::max_cpus / sockets;
}

bool topology::understands(std::string_view text) noexcept {
  unsigned sockets, each;
  return text.empty() || text.front() == '/' || read_product(text, sockets, each);
}

bool topology::imagine(std::string_view text) noexcept {
  unsigned sockets, each;
  if (!read_product(text, sockets, each)) return false;
  begin(true, sockets * each);
  sockets_ = nodes_ = node_limit_ = sockets;
  for (unsigned cpu = 0; cpu < cpu_limit_; ++cpu)
    places_[cpu] = {.node = std::uint16_t(cpu / each), .socket = std::uint16_t(cpu / each)};
  return true;
}

bool topology::read_configured() noexcept {
  char spare[400];
  const std::string_view told =
      secure_execution() ? std::string_view{} : environment_variable("POLDER_TOPOLOGY", spare);
  if (told.starts_with('/')) {
    read(told);
  } else if (!imagine(told)) {
    read();
  }
  return understands(told);
}

unsigned topology::current_cpu() const noexcept {
  if (imagined_) {
    // Mixed well, because the ids of a program's threads follow each other at any distance.
    auto id = std::uint64_t(system_call(SYS_gettid)) * 0x9e37'79b9'7f4a'7c15;
    id = (id ^ id >> 32) * 0xd6e8'feb8'6659'fd93;
    return unsigned((id >> 32) % cpu_limit_);
  }
  const int cpu = ::sched_getcpu();
  return cpu < 0 ? 0 : unsigned(cpu) % cpu_limit_;
}

}  // namespace polder::os
