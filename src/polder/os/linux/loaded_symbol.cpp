#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <polder/os/errno_keeper.hpp>
#include <polder/os/linux/symbol_table.hpp>
#include <polder/os/loaded_symbol.hpp>

namespace polder::os {
namespace {

struct sought {
  const char* name;
  const char* beside;  // may be null
  void* found;
};

int look(dl_phdr_info* object, std::size_t, void* argument) {
  auto& s = *static_cast<sought*>(argument);
  const symbol_table t(object->dlpi_addr, {object->dlpi_phdr, object->dlpi_phnum});
  if (s.beside != nullptr && t.find(s.beside) == nullptr) return 0;
  s.found = t.find(s.name);
  return s.found != nullptr;
}

}  // namespace

void* loaded_symbol_beside(const char* name, const char* beside) noexcept {
  sought s{name, beside, nullptr};
  dl_iterate_phdr(look, &s);
  return s.found;
}

void* loaded_symbol(const char* name) noexcept { return loaded_symbol_beside(name, nullptr); }

void* vdso_symbol(const char* name) noexcept {
  const errno_keeper keep;  // ENOENT where there is none
  const auto* const file = reinterpret_cast<const ElfW(Ehdr)*>(::getauxval(AT_SYSINFO_EHDR));
  return file != nullptr ? symbol_table::of_file(file).find(name) : nullptr;
}

}  // namespace polder::os
