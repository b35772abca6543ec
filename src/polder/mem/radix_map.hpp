#pragma once
// radix_map — from any address to a 32-bit value, a granule of 64 KiB at a time.
//
//   progress   lookup wait-free; store lock-free (a node that loses the race to be installed is given back)
//   in malloc  yes: nodes are mapped directly and never given back
//   covers     57 bits of address: four levels of 10 bits over granules of 16, and one bit more at the top
//
// Only addresses outside the main arena are looked up here, so a few dependent loads do not matter.
#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <polder/mem/geometry.hpp>
#include <polder/mem/zeroed.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/install_once.hpp>

namespace polder::mem {

class radix_map {
 public:
  // Bytes of zeroed memory, aligned to a cache line, that a map needs at `root`; it is not touched before it is used.
  static constexpr std::size_t root_bytes = (std::size_t{1} << (57 - grain_shift - 30)) * sizeof(void*);

  // Extra chunks and huge blocks share one map: a marked value is the number of a huge block.
  static constexpr std::uint32_t huge_mark = 0x8000'0000;

  explicit radix_map(std::byte* root) noexcept : root_(reinterpret_cast<atomic<middle*>*>(root)) {}

  // 0 where nothing was stored.
  std::uint32_t find(std::uintptr_t a) const noexcept {
    const leaf* f = leaf_of(a);
    return f ? (*f)[index(a, 0)].load(order::acquire) : 0;  // sync: radix-value
  }

  // All nodes that one address may need, whichever it will be; what is left of them goes with it.
  class spare_nodes;

  // False: no memory for a node; nothing changed. Storing 0 never fails where something was stored before, and nothing does where
  // there are spare nodes.
  bool store(std::uintptr_t a, std::uint32_t value, spare_nodes* spare = nullptr) noexcept {
    if (a >> address_bits != 0) return false;
    middle* m = install(root_[a >> (grain_shift + 30)], spare);
    lower* l = m ? install((*m)[index(a, 20)], spare) : nullptr;
    leaf* f = l ? install((*l)[index(a, 10)], spare) : nullptr;
    if (!f) return false;
    (*f)[index(a, 0)].store(value, order::release);  // sync: radix-value
    return true;
  }

  // 0 again, if it is still this value that was stored there; what another thread has stored since then stays.
  void forget(std::uintptr_t a, std::uint32_t value) noexcept {
    leaf* const f = leaf_of(a);
    if (f) (*f)[index(a, 0)].cas(value, 0, order::relaxed, order::relaxed);
  }

 private:
  static constexpr unsigned address_bits = 57;
  static constexpr unsigned fan_out = 1u << 10;
  using leaf = std::array<atomic<std::uint32_t>, fan_out>;
  using lower = std::array<atomic<leaf*>, fan_out>;
  using middle = std::array<atomic<lower*>, fan_out>;

  // Null: nothing was ever stored near a.
  leaf* leaf_of(std::uintptr_t a) const noexcept {
    if (a >> address_bits != 0) return nullptr;
    const middle* m = root_[a >> (grain_shift + 30)].load(order::acquire);  // sync: installed
    if (!m) return nullptr;
    const lower* l = (*m)[index(a, 20)].load(order::acquire);      // sync: installed
    return l ? (*l)[index(a, 10)].load(order::acquire) : nullptr;  // sync: installed
  }

  static unsigned index(std::uintptr_t a, unsigned shift) { return a >> (grain_shift + shift) & (fan_out - 1); }

  template <class Node>
  static Node* install(atomic<Node*>& slot, spare_nodes* spare) noexcept;

  // root_, and every slot below it
  //   written by  whoever stores an address there first; never cleared
  //   read by     anyone who looks a pointer up
  //   order       installed: the nodes
  //               radix-value: what the value stands for was written before it was stored
  //   ABA         no: a slot changes once
  atomic<middle*>* root_;
};

class radix_map::spare_nodes {
 public:
  spare_nodes() noexcept = default;
  spare_nodes(const spare_nodes&) = delete;
  spare_nodes& operator=(const spare_nodes&) = delete;
  ~spare_nodes() {
    std::apply([](auto*... n) { ((n != nullptr ? zeroed::discard(n, 1) : void()), ...); }, nodes_);
  }

  // False: no memory for all of them.
  [[nodiscard]] bool make() noexcept {
    return std::apply(
        [](auto*&... n) {
          return (((n = zeroed::make<std::remove_reference_t<decltype(*n)>>(1)) != nullptr) && ...);
        },
        nodes_);
  }

 private:
  friend radix_map;
  std::tuple<middle*, lower*, leaf*> nodes_{};
};

template <class Node>
Node* radix_map::install(atomic<Node*>& slot, spare_nodes* spare) noexcept {
  if (spare == nullptr)
    return install_once(
        slot, [] { return zeroed::make<Node>(1); }, [](Node* n) { zeroed::discard(n, 1); });
  Node*& mine = std::get<Node*>(spare->nodes_);
  return install_once(
      slot, [&] { return std::exchange(mine, nullptr); }, [&](Node* n) { mine = n; });
}

}  // namespace polder::mem
