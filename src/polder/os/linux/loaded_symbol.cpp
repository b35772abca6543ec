#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include <polder/os/loaded_symbol.hpp>

namespace polder::os {
namespace {

std::uint32_t gnu_hash(const char* name) {
  std::uint32_t h = 5381;
  for (; *name != '\0'; ++name) h = h * 33 + static_cast<unsigned char>(*name);
  return h;
}

// The tables of one object. The linker has made most addresses absolute; those of the vDSO it has not.
struct tables {
  explicit tables(const dl_phdr_info& object) {
    for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
      if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
      auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
      for (; entry->d_tag != DT_NULL; ++entry) {
        ElfW(Addr) at = entry->d_un.d_ptr;
        if (at < object.dlpi_addr) at += object.dlpi_addr;
        if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
        if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(at);
        if (entry->d_tag == DT_GNU_HASH) hashes = reinterpret_cast<const std::uint32_t*>(at);
      }
    }
  }

  // DT_GNU_HASH: bucket count, first hashed symbol, bloom words, bloom shift; the bloom filter; the buckets; and for
  // each hashed symbol its hash, whose lowest bit ends a chain.
  const ElfW(Sym) * find(const char* name) const {
    if (symbols == nullptr || strings == nullptr || hashes == nullptr) return nullptr;
    const std::uint32_t bucket_count = hashes[0];
    const std::uint32_t first = hashes[1];
    if (bucket_count == 0) return nullptr;
    const std::uint32_t hash = gnu_hash(name);
    const std::uint32_t* buckets = hashes + 4 + hashes[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    const std::uint32_t* chain = buckets + bucket_count;
    std::uint32_t i = buckets[hash % bucket_count];
    if (i < first) return nullptr;
    for (;; ++i) {
      const std::uint32_t h = chain[i - first];
      const ElfW(Sym)& symbol = symbols[i];
      if ((h | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF && (symbol.st_info & 0xf) == STT_FUNC &&
          std::strcmp(strings + symbol.st_name, name) == 0)
        return &symbol;
      if ((h & 1) != 0) return nullptr;
    }
  }

  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* hashes = nullptr;
};

struct sought {
  const char* name;
  const char* beside;  // may be null
  void* found;
};

int look(dl_phdr_info* object, std::size_t, void* argument) {
  auto& s = *static_cast<sought*>(argument);
  const tables t(*object);
  if (s.beside != nullptr && t.find(s.beside) == nullptr) return 0;
  const ElfW(Sym)* symbol = t.find(s.name);
  if (symbol != nullptr) s.found = reinterpret_cast<void*>(object->dlpi_addr + symbol->st_value);
  return s.found != nullptr;
}

}  // namespace

void* loaded_symbol_beside(const char* name, const char* beside) noexcept {
  sought s{name, beside, nullptr};
  dl_iterate_phdr(look, &s);
  return s.found;
}

void* loaded_symbol(const char* name) noexcept { return loaded_symbol_beside(name, nullptr); }

}  // namespace polder::os
