#pragma once
// symbol_table — what a loaded object exports, as its dynamic section tells (System V ABI, chapter 5; GNU's hash table beside it).
//
//   in malloc  yes; in a signal handler: yes; as long as the object stays loaded
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace polder::os {

struct symbol_table {
  // `base` is what the addresses in the object are counted from. The dynamic linker has made most of them absolute; those of the
  // vDSO it has not.
  symbol_table(ElfW(Addr) base, std::span<const ElfW(Phdr)> segments) noexcept : base_(base) {
    for (const ElfW(Phdr) & segment : segments) {
      if (segment.p_type != PT_DYNAMIC) continue;
      auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + segment.p_vaddr);
      for (; entry->d_tag != DT_NULL; ++entry) {
        const ElfW(Addr) at = entry->d_un.d_ptr + (entry->d_un.d_ptr < base ? base : 0);
        if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
        if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(at);
        if (entry->d_tag == DT_GNU_HASH) gnu_hashes = reinterpret_cast<const std::uint32_t*>(at);
        if (entry->d_tag == DT_HASH) hashes = reinterpret_cast<const std::uint32_t*>(at);
      }
    }
  }

  // Of a file that lies in memory as a whole.
  static symbol_table of_file(const ElfW(Ehdr) * file) noexcept {
    const auto at = reinterpret_cast<ElfW(Addr)>(file);
    const std::span segments{reinterpret_cast<const ElfW(Phdr)*>(at + file->e_phoff), file->e_phnum};
    ElfW(Addr) base = at;
    for (const ElfW(Phdr) & segment : segments)
      if (segment.p_type == PT_LOAD && segment.p_offset == 0) base = at - segment.p_vaddr;
    return {base, segments};
  }

  // A function; versions are not looked at. Null: there is none.
  void* find(const char* name) const noexcept {
    if (symbols == nullptr || strings == nullptr) return nullptr;
    const ElfW(Sym)* const s = gnu_hashes != nullptr ? by_gnu_hash(name)
                               : hashes != nullptr   ? among_all(name)
                                                     : nullptr;
    return s != nullptr ? reinterpret_cast<void*>(base_ + s->st_value) : nullptr;
  }

  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* gnu_hashes = nullptr;
  const std::uint32_t* hashes = nullptr;

 private:
  bool is(const ElfW(Sym) & symbol, const char* name) const noexcept {
    return symbol.st_shndx != SHN_UNDEF && (symbol.st_info & 0xf) == STT_FUNC &&
           std::strcmp(strings + symbol.st_name, name) == 0;
  }

  // DT_GNU_HASH: bucket count, first hashed symbol, bloom words, bloom shift; the bloom filter; the buckets; and for
  // each hashed symbol its hash, whose lowest bit ends a chain.
  const ElfW(Sym) * by_gnu_hash(const char* name) const noexcept {
    const std::uint32_t bucket_count = gnu_hashes[0];
    const std::uint32_t first = gnu_hashes[1];
    if (bucket_count == 0) return nullptr;
    std::uint32_t hash = 5381;
    for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
    const std::uint32_t* buckets = gnu_hashes + 4 + gnu_hashes[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    const std::uint32_t* chain = buckets + bucket_count;
    std::uint32_t i = buckets[hash % bucket_count];
    if (i < first) return nullptr;
    for (;; ++i) {
      const std::uint32_t h = chain[i - first];
      if ((h | 1) == (hash | 1) && is(symbols[i], name)) return &symbols[i];
      if ((h & 1) != 0) return nullptr;
    }
  }

  // DT_HASH: bucket count, symbol count. Who has this table alone is small: each symbol is looked at.
  const ElfW(Sym) * among_all(const char* name) const noexcept {
    for (std::uint32_t i = 0; i != hashes[1]; ++i)
      if (is(symbols[i], name)) return &symbols[i];
    return nullptr;
  }

  ElfW(Addr) base_;
};

}  // namespace polder::os
