// operator new and delete in every form the language has.
#include <cstdint>
#include <new>

#include "catalogue.hpp"

namespace conformance {
namespace {

constexpr std::size_t impossible = std::size_t{1} << 62;

struct form {
  const char* name;
  void* (*get)(std::size_t n);
  void (*put)(void* p, std::size_t n);
};
constexpr std::align_val_t wide{256};
constexpr form forms[] = {
    {"new", [](std::size_t n) { return subject::new_plain(n); },
     [](void* p, std::size_t) { ::operator delete(p); }},
    {"new, sized delete", [](std::size_t n) { return subject::new_plain(n); },
     [](void* p, std::size_t n) { ::operator delete(p, n); }},
    {"new nothrow", [](std::size_t n) { return subject::new_plain(n, std::nothrow); },
     [](void* p, std::size_t) { ::operator delete(p, std::nothrow); }},
    {"new[]", [](std::size_t n) { return subject::new_array(n); },
     [](void* p, std::size_t) { ::operator delete[](p); }},
    {"new[], sized delete", [](std::size_t n) { return subject::new_array(n); },
     [](void* p, std::size_t n) { ::operator delete[](p, n); }},
    {"new[] nothrow", [](std::size_t n) { return subject::new_array(n, std::nothrow); },
     [](void* p, std::size_t) { ::operator delete[](p, std::nothrow); }},
    {"new aligned", [](std::size_t n) { return subject::new_plain(n, wide); },
     [](void* p, std::size_t) { ::operator delete(p, wide); }},
    {"new aligned, sized delete", [](std::size_t n) { return subject::new_plain(n, wide); },
     [](void* p, std::size_t n) { ::operator delete(p, n, wide); }},
    {"new aligned nothrow", [](std::size_t n) { return subject::new_plain(n, wide, std::nothrow); },
     [](void* p, std::size_t) { ::operator delete(p, wide, std::nothrow); }},
    {"new[] aligned", [](std::size_t n) { return subject::new_array(n, wide); },
     [](void* p, std::size_t) { ::operator delete[](p, wide); }},
    {"new[] aligned, sized delete", [](std::size_t n) { return subject::new_array(n, wide); },
     [](void* p, std::size_t n) { ::operator delete[](p, n, wide); }},
    {"new[] aligned nothrow", [](std::size_t n) { return subject::new_array(n, wide, std::nothrow); },
     [](void* p, std::size_t) { ::operator delete[](p, wide, std::nothrow); }},
};
constexpr std::size_t count = sizeof forms / sizeof forms[0];
bool is_aligned(std::size_t which) { return which >= 6; }

void all_sizes(report& r, std::size_t which, std::size_t) {
  const form& f = forms[which];
  const std::size_t sizes[] = {0,    1,    8,      16,     17,     100,     256,    1000,
                               1024, 5000, 32'768, 40'000, 70'000, 1 << 20, 5 << 20};
  for (std::size_t n : sizes) {
    void* p = f.get(n);
    void* q = f.get(n);
    if (p == nullptr || q == nullptr || p == q) return r.say("%zu: NULL or the same twice", n);
    if (!aligned_to(p, is_aligned(which) ? 256 : 16)) r.say("%zu: not aligned", n);
    if (subject::usable(p) < n) r.say("%zu: usable < n", n);
    fill(p, n, 1);
    fill(q, n, 2);
    if (!holds(p, n, 1)) r.say("%zu: overlap", n);
    f.put(p, n);
    f.put(q, n);
  }
  f.put(nullptr, 0);
}

const char* thrown_by(const form& f, std::size_t n) {
  try {
    void* p = f.get(n);
    return p == nullptr ? "NULL" : "a block";
  } catch (const std::bad_array_new_length&) {
    return "bad_array_new_length";
  } catch (const std::bad_alloc&) {
    return "bad_alloc";
  } catch (...) {
    return "something else";
  }
}
void impossible_size(report& r, std::size_t which, std::size_t n) { r.say("%s", thrown_by(forms[which], n)); }
// libstdc++ 12 rounds SIZE_MAX up to the alignment, gets 0, and hands out a block: not to be copied.
void wrapping_size(report& r, std::size_t which, std::size_t n) {
  const char* answer = thrown_by(forms[which], n);
  if (std::strcmp(answer, "bad_alloc") != 0 && std::strcmp(answer, "NULL") != 0) r.say("%s", answer);
}

int calls;
void give_up_at_third() {
  if (++calls == 3) std::set_new_handler(nullptr);
}
void handler_is_called_again(report& r, std::size_t which, std::size_t) {
  calls = 0;
  std::set_new_handler(give_up_at_third);
  r.say("%s", thrown_by(forms[which], impossible));
  r.say("handler called %d times", calls);
  r.say(std::get_new_handler() == nullptr ? "handler gone" : "handler still there");
}

struct own_error : std::bad_alloc {};
void throw_own() { throw own_error{}; }
void handler_throws(report& r, std::size_t which, std::size_t) {
  std::set_new_handler(throw_own);
  try {
    void* p = forms[which].get(impossible);
    r.say(p == nullptr ? "NULL" : "a block");
  } catch (const own_error&) {
    r.say("the handler's own exception");
  } catch (...) {
    r.say("another exception");
  }
}

void* reserve;
int released;
void release_reserve() {
  ++released;
  if (reserve == nullptr) return std::set_new_handler(nullptr), void();
  subject::free(reserve);
  reserve = nullptr;
}
// The purpose of the handler: it makes room, and the same new succeeds. (Runs under the address-space limit.)
void handler_makes_room(report& r, std::size_t which, std::size_t) {
  constexpr std::size_t part = 24 << 20;
  reserve = subject::malloc(part);
  if (reserve == nullptr) return r.say("no reserve");
  std::memset(reserve, 1, part);
  std::set_new_handler(release_reserve);
  void* first = nullptr;
  void* all[8] = {};
  try {
    for (auto& p : all) {
      p = forms[which].get(part - (1 << 20));
      if (p == nullptr) break;
      if (first == nullptr) first = p;
      std::memset(p, 2, part - (1 << 20));
      if (released == 1) {
        r.say("room was made");
        break;
      }
    }
  } catch (const std::bad_alloc&) {
    r.say("bad_alloc");
  }
  r.say("released %d", released);
  std::set_new_handler(nullptr);
  for (auto* p : all)
    if (p != nullptr) forms[which].put(p, part - (1 << 20));
}

void odd_alignment(report& r, std::size_t alignment, std::size_t) {
  try {
    void* p = subject::new_plain(100, std::align_val_t(alignment));
    r.say(aligned_to(p, alignment == 0 ? 1 : alignment) ? "aligned" : "not aligned");
    ::operator delete(p, std::align_val_t(alignment));
  } catch (const std::bad_alloc&) {
    r.say("bad_alloc");
  }
  void* p = subject::new_plain(100, std::align_val_t(alignment), std::nothrow);
  r.say(p == nullptr ? "NULL" : "block");
  ::operator delete(p, std::align_val_t(alignment), std::nothrow);
}

// In libstdc++ new is malloc and delete is free, and programs mix them. It must go on working.
void mixed_with_malloc(report& r, std::size_t n, std::size_t) {
  for (int i = 0; i < 100; ++i) {
    subject::free(subject::new_plain(n));
    opaque(static_cast<void (*)(void*)>(&::operator delete))(subject::malloc(n));
    void* p = subject::new_array(n);
    fill(p, n, 1);
    p = subject::realloc(p, 2 * n);
    if (!holds(p, n, 1)) r.say("realloc of a new[] block lost contents");
    subject::free(p);
  }
}

struct heavy {
  std::uint64_t words[9];
};
void array_length(report& r, std::size_t, std::size_t) {
  try {
    auto* p = opaque(new heavy[opaque(SIZE_MAX / 16)]);
    delete[] p;
    r.say("a block");
  } catch (const std::bad_array_new_length&) {
    r.say("bad_array_new_length");
  } catch (const std::bad_alloc&) {
    r.say("bad_alloc");
  }
}

}  // namespace

void add_operators(catalogue& table) {
  for (std::size_t i = 0; i < count; ++i) {
    table.add(all_sizes, i, 0, "%s: all sizes", forms[i].name);
    for (auto [name, n] : {std::pair{"2^62", impossible}, {"PTRDIFF_MAX+1", std::size_t{PTRDIFF_MAX} + 1}})
      table.add(impossible_size, i, n, "%s: %s", forms[i].name, name);
    table.under(setting::plain, judge::itself);
    table.add(wrapping_size, i, SIZE_MAX, "%s: SIZE_MAX", forms[i].name);
    table.under(setting::plain);
    table.add(handler_is_called_again, i, 0, "%s: new_handler is called again", forms[i].name);
    table.add(handler_throws, i, 0, "%s: new_handler throws", forms[i].name);
  }
  for (std::size_t a :
       {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{24}, std::size_t{100}, std::size_t{8192}})
    table.add(odd_alignment, a, 0, "new(align_val_t(%zu))", a);
  for (std::size_t n : {std::size_t{8}, std::size_t{1000}, std::size_t{100'000}, std::size_t{2} << 20})
    table.add(mixed_with_malloc, n, 0, "new freed by free, malloc by delete: %zu", n);
  table.add(array_length, 0, 0, "new[] whose length overflows");
  table.under(setting::limited);
  for (std::size_t i = 0; i < count; ++i)
    table.add(handler_makes_room, i, 0, "%s: new_handler makes room", forms[i].name);
  table.under(setting::plain);
}

}  // namespace conformance
