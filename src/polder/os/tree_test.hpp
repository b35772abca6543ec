#pragma once
// tree — files of a test's own in place of the kernel's.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace polder::os {

class tree {
 public:
  tree() {
    char name[] = "/tmp/polder-tree-XXXXXX";
    root_ = ::mkdtemp(name);
  }
  ~tree() { std::filesystem::remove_all(root_); }
  tree(const tree&) = delete;
  tree& operator=(const tree&) = delete;

  void file(const std::string& name, const std::string& text) {
    const std::filesystem::path p = root_ + "/" + name;
    std::filesystem::create_directories(p.parent_path());
    std::ofstream(p) << text;
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace polder::os
