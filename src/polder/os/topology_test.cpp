#include <polder/os/topology.hpp>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <polder/os/tree_test.hpp>

namespace polder::os {
namespace {

// The files that sysfs would have.
struct sysfs : tree {
  sysfs& file(const std::string& name, const std::string& text) {
    return tree::file("devices/system/" + name, text), *this;
  }
  sysfs& cpu(unsigned number, int package) {
    return file("cpu/cpu" + std::to_string(number) + "/topology/physical_package_id",
                std::to_string(package) + "\n");
  }
};

// Filled with rubbish first: nothing may depend on what the memory held.
struct told : topology {
  told() { std::fill_n(reinterpret_cast<unsigned char*>(static_cast<topology*>(this)), sizeof(topology), 0xa5); }
  explicit told(const sysfs& t) : told() { read(t.root()); }
};

TEST(topology, two_nodes_of_two) {
  sysfs t;
  t.file("cpu/possible", "0-3\n").file("cpu/online", "0-3\n");
  t.file("node/online", "0-1\n").file("node/node0/cpulist", "0-1\n").file("node/node1/cpulist", "2-3\n");
  t.cpu(0, 0).cpu(1, 0).cpu(2, 1).cpu(3, 1);
  const told it(t);
  EXPECT_EQ(4u, it.cpus());
  EXPECT_EQ(4u, it.cpu_limit());
  EXPECT_EQ(2u, it.sockets());
  EXPECT_EQ(2u, it.nodes());
  EXPECT_EQ(2u, it.node_limit());
  for (unsigned cpu = 0; cpu != 4; ++cpu) {
    EXPECT_EQ(cpu / 2, it.node_of(cpu));
    EXPECT_EQ(cpu / 2, it.socket_of(cpu));
  }
}

// Processors are missing in the middle and may come at the end; packages are numbered as the firmware liked; a node has
// memory alone; nodes cut a socket in two and interleave.
TEST(topology, holes_and_odd_numbers) {
  sysfs t;
  t.file("cpu/possible", "0-15\n").file("cpu/online", "0,2,4-5,8-9\n");
  t.file("node/online", "0,2,4-5\n");
  t.file("node/node0/cpulist", "0,4\n").file("node/node2/cpulist", "2,5\n").file("node/node4/cpulist", "8-9\n");
  t.file("node/node5/cpulist", "\n");
  t.cpu(0, 36).cpu(2, 36).cpu(4, 36).cpu(5, 36).cpu(8, 7).cpu(9, 7);
  const told it(t);
  EXPECT_EQ(6u, it.cpus());
  EXPECT_EQ(16u, it.cpu_limit());
  EXPECT_EQ(2u, it.sockets());
  EXPECT_EQ(3u, it.nodes());
  EXPECT_EQ(6u, it.node_limit());
  const unsigned cpus[] = {0, 2, 4, 5, 8, 9}, nodes[] = {0, 2, 0, 2, 4, 4}, sockets[] = {0, 0, 0, 0, 1, 1};
  for (unsigned i = 0; i != 6; ++i) {
    EXPECT_EQ(nodes[i], it.node_of(cpus[i])) << cpus[i];
    EXPECT_EQ(sockets[i], it.socket_of(cpus[i])) << cpus[i];
  }
  for (const unsigned absent : {1u, 3u, 15u, 16u, 100000u}) {
    EXPECT_EQ(0u, it.node_of(absent));
    EXPECT_EQ(0u, it.socket_of(absent));
  }
}

// The list of every other processor is longer than what is read at once, so that numbers are cut in two.
TEST(topology, as_many_processors_as_there_can_be) {
  sysfs t;
  std::string even, odd;
  for (unsigned cpu = 0; cpu != topology::max_cpus; ++cpu) {
    std::string& list = cpu % 2 == 0 ? even : odd;
    if (!list.empty()) list += ',';
    list += std::to_string(cpu);
  }
  t.file("cpu/possible", "0-8191\n").file("cpu/online", "0-8191\n");
  t.file("node/online", "0-1\n").file("node/node0/cpulist", even + "\n").file("node/node1/cpulist", odd + "\n");
  const auto it = std::make_unique<told>(t);
  EXPECT_EQ(topology::max_cpus, it->cpus());
  EXPECT_EQ(2u, it->nodes());
  for (unsigned cpu = 0; cpu != topology::max_cpus; ++cpu) ASSERT_EQ(cpu % 2, it->node_of(cpu)) << cpu;
}

TEST(topology, more_packages_than_sockets_share_numbers) {
  sysfs t;
  t.file("cpu/online", "0-299\n");
  for (unsigned cpu = 0; cpu != 300; ++cpu) t.cpu(cpu, int(cpu));
  const told it(t);
  EXPECT_EQ(topology::max_sockets, it.sockets());
  for (unsigned cpu = 0; cpu != 300; ++cpu) ASSERT_LT(it.socket_of(cpu), it.sockets());
}

TEST(topology, nothing_told_is_one_of_each) {
  const told it{sysfs{}};
  EXPECT_GE(it.cpus(), 1u);
  EXPECT_EQ(1u, it.sockets());
  EXPECT_EQ(1u, it.nodes());
  EXPECT_EQ(1u, it.node_limit());
  EXPECT_EQ(0u, it.node_of(0));
  EXPECT_LT(it.current_cpu(), it.cpu_limit());
}

TEST(topology, a_kernel_without_nodes_and_packages_unknown) {
  sysfs t;
  t.file("cpu/possible", "0-1\n").file("cpu/online", "0-1\n").cpu(0, -1).cpu(1, -1);
  const told it(t);
  EXPECT_EQ(2u, it.cpus());
  EXPECT_EQ(1u, it.sockets());
  EXPECT_EQ(1u, it.nodes());
}

TEST(topology, rubbish_ends_a_list_and_nothing_else) {
  for (const char* text : {"", "\n", "x", "-", "0-", "0-x", "99999999999999999999", "3-1", "0-99999999999999999999",
                           "0,,1", "0-1-2", "8192", ",1"}) {
    sysfs t;
    t.file("cpu/possible", text).file("cpu/online", text);
    t.file("node/online", text).file("node/node0/cpulist", text).file("node/node1/cpulist", text);
    const auto it = std::make_unique<told>(t);
    EXPECT_GE(it->cpus(), 1u) << text;
    EXPECT_GE(it->cpu_limit(), 1u) << text;
    EXPECT_LE(it->cpu_limit(), topology::max_cpus) << text;
    EXPECT_LE(it->node_limit(), topology::max_nodes) << text;
    for (unsigned cpu = 0; cpu != it->cpu_limit(); ++cpu) {
      ASSERT_LT(it->node_of(cpu), it->node_limit()) << text;
      ASSERT_LT(it->socket_of(cpu), it->sockets()) << text;
    }
  }
}

TEST(topology, imagined_sockets_have_a_node_each) {
  told it;
  ASSERT_TRUE(it.imagine("4x12"));
  EXPECT_TRUE(it.imagined());
  EXPECT_EQ(48u, it.cpus());
  EXPECT_EQ(48u, it.cpu_limit());
  EXPECT_EQ(4u, it.sockets());
  EXPECT_EQ(4u, it.nodes());
  for (unsigned cpu = 0; cpu != 48; ++cpu) {
    EXPECT_EQ(cpu / 12, it.node_of(cpu));
    EXPECT_EQ(cpu / 12, it.socket_of(cpu));
  }
  for (const char* text : {"", "x", "2", "2x", "x2", "0x2", "2x0", "2x2x2", "2x2 ", " 2x2", "-1x2", "2X2", "257x1",
                           "1x8193", "256x33", "4294967297x1"}) {
    EXPECT_FALSE(it.imagine(text)) << text;
    EXPECT_EQ(48u, it.cpus()) << text;
  }
  EXPECT_TRUE(it.imagine("256x32"));
  EXPECT_TRUE(it.imagine("1x1"));
}

TEST(topology, threads_of_an_imagined_machine_stay_each_and_are_spread_together) {
  told it;
  ASSERT_TRUE(it.imagine("4x12"));
  std::vector<unsigned> where(64);
  std::vector<std::thread> threads;
  for (unsigned& w : where)
    threads.emplace_back([&] {
      w = it.current_cpu();
      for (int i = 0; i != 100; ++i) EXPECT_EQ(w, it.current_cpu());
    });
  std::set<unsigned> sockets;
  for (std::thread& t : threads) t.join();
  for (const unsigned w : where) {
    ASSERT_LT(w, it.cpu_limit());
    sockets.insert(it.socket_of(w));
  }
  EXPECT_EQ(4u, sockets.size());
}

TEST(topology, this_machine) {
  told it;
  it.read();
  EXPECT_FALSE(it.imagined());
  EXPECT_GE(it.nodes(), 1u);
  EXPECT_GE(it.sockets(), 1u);
  EXPECT_GE(it.cpus(), 1u);
  if (::access("/sys/devices/system/cpu/online", R_OK) == 0) {
    EXPECT_EQ(unsigned(::sysconf(_SC_NPROCESSORS_ONLN)), it.cpus());
  }
  // Where the thread runs may change between two questions, but not once it may run on one processor alone.
  cpu_set_t all, one;
  ASSERT_EQ(0, ::sched_getaffinity(0, sizeof all, &all));
  for (unsigned cpu = 0; cpu != CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) continue;
    EXPECT_EQ(cpu, it.current_cpu());
    EXPECT_LT(it.node_of(cpu), it.node_limit());
    told confined;
    confined.read();
    EXPECT_EQ(it.cpus(), confined.cpus());
    EXPECT_EQ(it.cpu_limit(), confined.cpu_limit());
  }
  ::sched_setaffinity(0, sizeof all, &all);
}

TEST(topology, the_environment_may_say_another) {
  sysfs t;
  t.file("cpu/online", "0-6\n");
  told it;
  ::setenv("POLDER_TOPOLOGY", "2x48", 1);
  EXPECT_TRUE(it.read_configured());
  EXPECT_EQ(96u, it.cpus());
  ::setenv("POLDER_TOPOLOGY", t.root().c_str(), 1);
  EXPECT_TRUE(it.read_configured());
  EXPECT_EQ(7u, it.cpus());
  EXPECT_TRUE(it.imagined());
  told machine;
  machine.read();
  for (const char* text : {"", "two", "2*2"}) {
    ::setenv("POLDER_TOPOLOGY", text, 1);
    EXPECT_EQ(*text == '\0', topology::understands(text)) << text;
    EXPECT_EQ(*text == '\0', it.read_configured()) << text;
    EXPECT_EQ(machine.cpus(), it.cpus()) << text;
    EXPECT_FALSE(it.imagined());
  }
  ::setenv("POLDER_TOPOLOGY", std::string(1000, '/').append("none").c_str(), 1);
  EXPECT_TRUE(it.read_configured());
  EXPECT_EQ(1u, it.nodes());
  ::unsetenv("POLDER_TOPOLOGY");
  EXPECT_TRUE(it.read_configured());
  EXPECT_EQ(machine.cpus(), it.cpus());
}

}  // namespace
}  // namespace polder::os
