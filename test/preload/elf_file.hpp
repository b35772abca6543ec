#pragma once
// elf_file — the dynamic symbols, needed libraries and program headers of a 64-bit ELF file on disk.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace preload {

class elf_file {
 public:
  struct symbol {
    std::string name;
    bool defined, weak, global, function;
    bool hidden_version;  // kept for old programs only: name@VERSION, not name@@VERSION
  };

  explicit elf_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (file < 0 || ::fstat(file, &about) != 0) fail(path, "cannot be opened");
    size_ = static_cast<std::size_t>(about.st_size);
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (mapped == MAP_FAILED) fail(path, "cannot be mapped");
    bytes_ = static_cast<const char*>(mapped);
    if (size_ < sizeof(Elf64_Ehdr) || std::memcmp(bytes_, ELFMAG, SELFMAG) != 0 || bytes_[EI_CLASS] != ELFCLASS64)
      fail(path, "is not a 64-bit ELF file");
    header_ = reinterpret_cast<const Elf64_Ehdr*>(bytes_);
  }
  elf_file(const elf_file&) = delete;
  elf_file& operator=(const elf_file&) = delete;
  ~elf_file() { ::munmap(const_cast<char*>(bytes_), size_); }

  // SHT_DYNSYM: what other objects see. SHT_SYMTAB: everything, unless stripped.
  std::vector<symbol> symbols(unsigned table = SHT_DYNSYM) const {
    std::vector<symbol> found;
    const Elf64_Half* versions = nullptr;
    for (const Elf64_Shdr& s : sections())
      if (s.sh_type == SHT_GNU_versym) versions = reinterpret_cast<const Elf64_Half*>(bytes_ + s.sh_offset);
    for (const Elf64_Shdr& s : sections()) {
      if (s.sh_type != table) continue;
      const char* names = bytes_ + section(s.sh_link).sh_offset;
      auto* all = reinterpret_cast<const Elf64_Sym*>(bytes_ + s.sh_offset);
      for (std::size_t i = 1; i < s.sh_size / sizeof(Elf64_Sym); ++i) {
        const unsigned type = ELF64_ST_TYPE(all[i].st_info), bind = ELF64_ST_BIND(all[i].st_info);
        found.push_back({names + all[i].st_name, all[i].st_shndx != SHN_UNDEF && all[i].st_shndx != SHN_ABS,
                         bind == STB_WEAK, bind != STB_LOCAL, type == STT_FUNC || type == STT_GNU_IFUNC,
                         table == SHT_DYNSYM && versions != nullptr && (versions[i] & 0x8000) != 0});
      }
    }
    return found;
  }

  std::vector<std::string> needed() const {
    std::vector<std::string> found;
    for (const Elf64_Shdr& s : sections()) {
      if (s.sh_type != SHT_DYNAMIC) continue;
      const char* names = bytes_ + section(s.sh_link).sh_offset;
      for (auto* d = reinterpret_cast<const Elf64_Dyn*>(bytes_ + s.sh_offset); d->d_tag != DT_NULL; ++d)
        if (d->d_tag == DT_NEEDED) found.push_back(names + d->d_un.d_val);
    }
    return found;
  }
  bool has_dynamic(Elf64_Sxword tag) const {
    for (const Elf64_Shdr& s : sections())
      if (s.sh_type == SHT_DYNAMIC)
        for (auto* d = reinterpret_cast<const Elf64_Dyn*>(bytes_ + s.sh_offset); d->d_tag != DT_NULL; ++d)
          if (d->d_tag == tag) return true;
    return false;
  }
  const Elf64_Phdr* segment(Elf64_Word type) const {
    auto* all = reinterpret_cast<const Elf64_Phdr*>(bytes_ + header_->e_phoff);
    for (std::size_t i = 0; i < header_->e_phnum; ++i)
      if (all[i].p_type == type) return &all[i];
    return nullptr;
  }

 private:
  [[noreturn]] static void fail(const std::string& path, const char* why) {
    std::fprintf(stderr, "%s %s\n", path.c_str(), why);
    std::exit(1);
  }
  const Elf64_Shdr& section(std::size_t i) const {
    return reinterpret_cast<const Elf64_Shdr*>(bytes_ + header_->e_shoff)[i];
  }
  std::vector<Elf64_Shdr> sections() const { return {&section(0), &section(0) + header_->e_shnum}; }

  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
  const Elf64_Ehdr* header_ = nullptr;
};

}  // namespace preload
