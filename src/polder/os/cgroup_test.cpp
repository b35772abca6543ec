#include <polder/os/cgroup.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include <polder/os/tree_test.hpp>

namespace polder::os {
namespace {

// What the kernel shows in /proc and /sys/fs/cgroup; the trees below are recorded from machines, cut to what is looked at.
struct machine : tree {
  machine& group(const std::string& folder, const std::string& name = {}, const std::string& text = {}) {
    file(folder + "/cgroup.procs", "1\n");
    if (!name.empty()) file(folder + "/" + name, text + "\n");
    return *this;
  }
  machine& self(const std::string& groups, const std::string& mounts = {}) {
    file("proc/self/cgroup", groups);
    file("proc/self/mountinfo", mounts);
    return *this;
  }
  std::size_t limit() const { return cgroup_memory_limit(root()); }
};

constexpr std::size_t mib = 1 << 20;
const std::string unlimited = "9223372036854771712";

TEST(cgroup, where_nothing_can_be_read_there_is_no_limit) {
  errno = 7;
  EXPECT_EQ(no_limit, cgroup_memory_limit("/nowhere"));
  EXPECT_EQ(7, errno);
  machine m;
  EXPECT_EQ(no_limit, m.limit());
  EXPECT_EQ(no_limit, m.self("").limit());
  EXPECT_EQ(no_limit, m.self("0::/\n").limit());
  EXPECT_EQ(no_limit, m.self("rubbish\n:\n\n::\n0::relative\n4:memory\n", "rubbish\n \n - \n").limit());
}

// A system with version 2 alone, in a user's session.
TEST(cgroup, version_two_takes_the_smallest_up_to_the_top) {
  machine m;
  m.self("0::/user.slice/user-1000.slice/session-2.scope\n",
         "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n");
  m.group("sys/fs/cgroup");
  m.group("sys/fs/cgroup/user.slice", "memory.max", "max");
  m.group("sys/fs/cgroup/user.slice/user-1000.slice", "memory.max", "max");
  m.group("sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope", "memory.max", "max");
  EXPECT_EQ(no_limit, m.limit());
  m.group("sys/fs/cgroup/user.slice", "memory.max", "536870912");
  EXPECT_EQ(512 * mib, m.limit());
  m.group("sys/fs/cgroup/user.slice/user-1000.slice", "memory.high", "402653184");
  EXPECT_EQ(384 * mib, m.limit());
  m.group("sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope", "memory.max", "268435456");
  EXPECT_EQ(256 * mib, m.limit());
}

// A container with a namespace of its own: its group is the root, and limits it.
TEST(cgroup, version_two_in_a_container) {
  machine m;
  m.self("0::/\n", "710 700 0:30 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n");
  m.group("sys/fs/cgroup", "memory.max", "134217728");
  EXPECT_EQ(128 * mib, m.limit());
}

// A container of version 1: the host's name of the group, which is mounted in place of the root.
TEST(cgroup, version_one_in_a_container) {
  machine m;
  m.self("12:pids:/docker/0a1b\n5:cpu,cpuacct:/docker/0a1b\n4:memory:/docker/0a1b\n1:name=systemd:/docker/0a1b\n",
         "650 640 0:27 /docker/0a1b /sys/fs/cgroup/memory ro,nosuid master:14 - cgroup cgroup rw,memory\n");
  m.group("sys/fs/cgroup/memory", "memory.limit_in_bytes", "209715200");
  EXPECT_EQ(200 * mib, m.limit());
  // A group of the container's own below it.
  m.self("4:memory:/docker/0a1b/worker\n",
         "650 640 0:27 /docker/0a1b /sys/fs/cgroup/memory ro,nosuid master:14 - cgroup cgroup rw,memory\n");
  m.group("sys/fs/cgroup/memory/worker", "memory.limit_in_bytes", "104857600");
  EXPECT_EQ(100 * mib, m.limit());
  // Its neighbour's, of which ours is no part, whatever its name begins with.
  m.self("4:memory:/docker/0a1bc\n",
         "650 640 0:27 /docker/0a1b /sys/fs/cgroup/memory ro,nosuid master:14 - cgroup cgroup rw,memory\n");
  EXPECT_EQ(200 * mib, m.limit());
}

// Version 1 on the host, with version 2 beside it for other things.
TEST(cgroup, both_versions_at_once) {
  machine m;
  m.self("9:name=systemd:/\n4:memory:/jobs/seven\n0::/elsewhere\n",
         "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
         "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
         "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  m.group("sys/fs/cgroup/unified/elsewhere");
  m.group("sys/fs/cgroup/memory", "memory.limit_in_bytes", unlimited);
  m.group("sys/fs/cgroup/memory/jobs", "memory.limit_in_bytes", unlimited);
  m.group("sys/fs/cgroup/memory/jobs/seven", "memory.limit_in_bytes", unlimited);
  EXPECT_EQ(no_limit, m.limit());
  m.group("sys/fs/cgroup/memory/jobs", "memory.limit_in_bytes", "1073741824");
  EXPECT_EQ(1024 * mib, m.limit());
  m.group("sys/fs/cgroup/unified/elsewhere", "memory.max", "268435456");  // which no kernel shows there
  EXPECT_EQ(1024 * mib, m.limit());
}

TEST(cgroup, mounted_in_another_place) {
  machine m;
  m.self("7:cpu,memory:/a\n",
         "20 1 0:19 / /proc rw - proc proc rw\n"
         "29 25 0:26 / /dev/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
         "30 25 0:27 / /dev/cgroup/all rw - cgroup none rw,cpu,memory\n");
  m.group("dev/cgroup/all/a", "memory.limit_in_bytes", "33554432");
  m.group("dev/cgroup/cpu/a", "memory.limit_in_bytes", "1048576");
  EXPECT_EQ(32 * mib, m.limit());
}

// Somebody else's group stands before ours: a part of the hierarchy that we are not in.
TEST(cgroup, of_several_mounts_the_one_that_holds_the_group) {
  machine m;
  m.self("0::/me/sub\n",
         "30 29 0:26 /other /mnt/other rw - cgroup2 cgroup2 rw\n"
         "31 29 0:26 /me/su /mnt/neighbour rw - cgroup2 cgroup2 rw\n"
         "32 29 0:26 /me /mnt/mine rw - cgroup2 cgroup2 rw\n"
         "33 29 0:26 / /mnt/all rw - cgroup2 cgroup2 rw\n");
  m.group("mnt/other", "memory.max", "1048576");
  m.group("mnt/neighbour", "memory.max", "2097152");
  m.group("mnt/mine/sub", "memory.max", "268435456");
  EXPECT_EQ(256 * mib, m.limit());
  m.self("4:memory:/me/sub\n",
         "30 29 0:26 /other /mnt/other rw - cgroup cgroup rw,memory\n"
         "31 29 0:26 / /mnt/all rw - cgroup cgroup rw,memory\n");
  m.group("mnt/other", "memory.limit_in_bytes", "1048576");
  m.group("mnt/all/me", "memory.limit_in_bytes", "134217728");
  EXPECT_EQ(128 * mib, m.limit());
  // None holds it, so the first stands for what cannot be seen.
  m.self("0::/elsewhere\n",
         "30 29 0:26 /other /mnt/other rw - cgroup2 cgroup2 rw\n"
         "32 29 0:26 /me /mnt/mine rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(mib, m.limit());
}

TEST(cgroup, letters_that_end_a_name_are_written_in_octal) {
  machine m;
  m.self("0::/a b/c\n", "30 29 0:26 /a\\040b /my\\040own\\011\\134040 rw - cgroup2 cgroup2 rw\n");
  m.group("my own\t\\040/c", "memory.max", "33554432");
  EXPECT_EQ(32 * mib, m.limit());
  // Nothing that the kernel writes.
  m.self("0::/\n", "30 29 0:26 / /odd\\08\\04 rw - cgroup2 cgroup2 rw\n");
  m.group("odd\\08\\04", "memory.max", "16777216");
  EXPECT_EQ(16 * mib, m.limit());
}

TEST(cgroup, a_limit_of_nothing_is_none) {
  machine m;
  m.self("0::/\n");
  m.group("sys/fs/cgroup", "memory.max", "268435456");
  m.group("sys/fs/cgroup", "memory.high", "0");
  EXPECT_EQ(256 * mib, m.limit());
  m.group("sys/fs/cgroup", "memory.max", "99999999999999999999999999");
  EXPECT_EQ(no_limit, m.limit());
}

// Longer than there is room for: what cannot be named is not found, and nothing else happens.
TEST(cgroup, a_name_without_end) {
  machine m;
  m.self("0::/" + std::string(5000, 'x') + "\n0::/\n");
  m.group("sys/fs/cgroup", "memory.max", "268435456");
  EXPECT_EQ(256 * mib, m.limit());
}

}  // namespace
}  // namespace polder::os
