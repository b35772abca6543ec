#pragma once
// super_front — SuperMalloc's malloc and free over the four choices of design.hpp.
//
//   paper      Kuszmaul, "SuperMalloc: a super fast multithreaded malloc for 64-bit machines", ISMM 2015; Kim 2023 (thesis),
//              section 2.2.4 for what it does, 4.2 for what is changed
//   progress   blocking. What a thread's own lists serve takes no lock and no atomic read-modify-write
//   in malloc  yes. In a signal handler that interrupted it: no (not reentrant), for a lock may be held
//   invariant  every block of a class that was ever bumped is with the program, in one list of one cache, or free in its folio
//
// Locks are taken in this order and none other: a processor's; a socket's; a vault's; the source's.
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <polder/base/check.hpp>
#include <polder/heap/parts.hpp>
#include <polder/heap/supermalloc/design.hpp>
#include <polder/heap/supermalloc/levels.hpp>
#include <polder/mem/zeroed.hpp>
#include <polder/sync/install_once.hpp>

namespace polder::heap::supermalloc {

// Its options, in the order of the sheet's tunables.
enum class asked : std::uint8_t { thread_list, list, global_lists };

// Of all classes together, for tests and statistics.
struct level_traffic {
  traffic cpu, socket, global;
  std::uint64_t bumped_under_lock;  // blocks taken from pages
  std::uint64_t freed_to_pages;
};

template <class Lists, class Growth, class Spill, class Levels>
class super_front {
 public:
  using size_classes = supermalloc::size_classes;
  static constexpr unsigned count = size_classes::count;
  static constexpr bool reentrant = false;
  static constexpr bool has_sockets = Levels::has_sockets;

  // A thread's two lists of a class: malloc and free use `here`; when it is through they change places.
  struct bin {
    block_list here, spare;
  };
  struct strangers {
    block_list lists[count + 1];    // blocks of another home, to be sent there
    std::uint16_t home[count + 1];  // whose they are
  };
  struct no_strangers {};
  struct cache : cache_header {
    bin bins[count + 1];
    // The home of the blocks in its bins and 1; 0: its thread has not looked where it is.
    std::uint16_t lives_at;
    [[no_unique_address]] std::conditional_t<has_sockets, strangers, no_strangers> away;
  };

  explicit super_front(const heap_setting& s) noexcept
      : secret_(s.secret), page_(s.page), asked_(s.asked), memory_(s.memory), large_(s.large) {}

  bool begin() noexcept {
    machine_.begin();
    homes_ = has_sockets ? machine_.homes() : 1;
    if (homes_ > chunk_source::most_homes) homes_ = 1;
    const std::uint64_t lists_asked = tuned(asked::global_lists);
    const std::uint64_t lists = lists_asked != 0 ? lists_asked : machine_.cpus();
    const auto per_home = std::uint32_t(lists / homes_ > 0 ? lists / homes_ : 1);
    const auto per_socket = std::uint32_t((machine_.cpus() + machine_.sockets() - 1) / machine_.sockets());  // P_S
    for (unsigned c = 1; c <= count; ++c) {
      const std::size_t size = size_classes::block_size[c];
      const auto whole = [size](std::uint64_t bytes) { return std::uint32_t(bytes / size > 0 ? bytes / size : 1); };
      bound_[c] = whole(tuned(asked::list));
      thread_bound_[c] = whole(tuned(asked::thread_list));
      if (thread_bound_[c] > bound_[c]) thread_bound_[c] = bound_[c];
    }

    // One mapping of zeroes, touched where it is used.
    const unsigned socket_caches = has_sockets ? machine_.sockets() * (count + 1) : 0;
    const unsigned vaults = homes_ * (count + 1);
    layout to;
    const std::size_t directory = to.add(chunk_source::directory_bytes);
    const std::size_t rows = to.add(machine_.cpu_limit() * sizeof(*rows_));
    const std::size_t row = to.add(sizeof(cpu_row));
    const std::size_t at_sockets = to.add(socket_caches * sizeof(socket_cache));
    const std::size_t at_vaults = to.add(vaults * sizeof(vault));
    const std::size_t at_lists =
        to.add((std::size_t{socket_caches} * per_socket + std::size_t{vaults} * per_home) * sizeof(block_list));
    state_bytes_ = align_up(to.end, os::page_size());
    state_ = static_cast<std::byte*>(os::map(state_bytes_));
    if (!state_) return false;
    rows_ = reinterpret_cast<atomic<cpu_row*>*>(state_ + rows);
    first_row_ = reinterpret_cast<cpu_row*>(state_ + row);
    sockets_ = reinterpret_cast<socket_cache*>(state_ + at_sockets);
    vaults_ = reinterpret_cast<vault*>(state_ + at_vaults);
    auto* next = reinterpret_cast<block_list*>(state_ + at_lists);
    const auto furnish = [&next](shelf& s, std::uint32_t capacity) {
      s.lists = next;
      s.capacity = capacity;
      next += capacity;
    };
    for (unsigned i = 0; i < socket_caches; ++i) furnish(sockets_[i].shelf, per_socket);
    for (unsigned i = 0; i < vaults; ++i) furnish(vaults_[i].shelf, per_home);

    source_ = new (source_place_) chunk_source(state_ + directory, asked_.thp, homes_);
    keeper_ =
        new (keeper_place_) page_keeper(*source_, secret_, page_, asked_.decay_ms == 0 ? 0 : tuned(asked::list),
                                        asked_.release == release_policy::free && asked_.decay_ms != 0);
    return true;
  }
  void end() noexcept { os::unmap(state_, state_bytes_); }

  // ---- a thread's own lists ---------------------------------------------------------------------------------------------

  POLDER_ALWAYS_INLINE void* allocate(cache& k, unsigned c) noexcept {
    block_list& here = k.bins[c].here;
    if (!here.empty()) [[likely]]
      return here.pop(secret_);
    return refill(k, c);
  }

  POLDER_ALWAYS_INLINE block_info find(const void* p) const noexcept {
    chunk* const k = source_->find(address(p));
    if (!k) return {};
    const auto offset = std::uint32_t(address(p) - address(k->base));
    const unsigned c = k->class_at(offset);
    return {.cls = c,
            .within = true,
            .span = at_address(align_down(address(p), folio_page)),
            .owner = k->home,
            .record = k};
  }

  POLDER_ALWAYS_INLINE void deallocate(cache& k, void* p, block_info i) noexcept {
    chunk& of = *static_cast<chunk*>(i.record);
    auto* const b = static_cast<mem::block*>(p);
    const unsigned c = i.cls;
    const block_place at = place_of(of, std::uint32_t(address(p) - address(of.base)), c);
    if (!is_live(of, b, c, at)) [[unlikely]]
      misused(p, i, at);
    if constexpr (has_sockets)
      if (of.home + 1 != k.lives_at) [[unlikely]]
        return free_stranger(k, c, of.home, b);
    free_own(k, c, b);
  }

  void check(const void* p, block_info i) const noexcept {
    const chunk& of = *static_cast<const chunk*>(i.record);
    const block_place at = place_of(of, std::uint32_t(address(p) - address(of.base)), i.cls);
    if (!is_live(of, static_cast<const mem::block*>(p), i.cls, at)) misused(p, i, at);
  }

  // ---- the rest ---------------------------------------------------------------------------------------------------------

  void leave(cache& k) noexcept {
    const place at = where(k);
    for (unsigned c = 1; c <= count; ++c) {
      for (block_list* l : {&k.bins[c].here, &k.bins[c].spare}) {
        if (l->empty()) continue;
        if (!put_up(at, c, *l)) to_pages(c, *l);
        *l = {};
      }
      if constexpr (has_sockets) send_home(k, c);
    }
    k.lives_at = 0;
  }

  std::size_t trim(cache* k) noexcept {
    if (k) {
      for (unsigned c = 1; c <= count; ++c) {
        for (block_list* l : {&k->bins[c].here, &k->bins[c].spare}) to_pages(c, *l);
        if constexpr (has_sockets) to_pages(c, k->away.lists[c]);
      }
    }
    for_each_row([&](cpu_row& row) {
      for (unsigned c = 1; c <= count; ++c) {
        cpu_cache& p = row.caches[c];
        block_list out[2];
        {
          const os::holding h(p.lock);
          for (unsigned i = 0; i < 2; ++i) out[i] = p.lists[i], p.lists[i] = {};
        }
        for (block_list& l : out) to_pages(c, l);
      }
    });
    for (unsigned i = 0; has_sockets && i < machine_.sockets() * (count + 1); ++i)
      empty_shelf(sockets_[i].lock, sockets_[i].shelf, i % (count + 1));
    std::size_t bytes = 0;
    for (unsigned i = 0; i < homes_ * (count + 1); ++i)
      empty_shelf(vaults_[i].lock, vaults_[i].shelf, i % (count + 1));
    for (unsigned i = 0; i < homes_ * (count + 1); ++i) {
      const os::holding h(vaults_[i].lock);
      const held_watch w(memory_, vaults_[i].pages);
      bytes += keeper_->trim(vaults_[i].pages, i % (count + 1));
    }
    return bytes;
  }

  void add_to(statistics& s) const noexcept {
    std::size_t held = 0, busy = 0;
    for (unsigned i = 0; i < homes_ * (count + 1); ++i) {
      held += vaults_[i].pages.held.glimpse();
      busy += vaults_[i].pages.busy.glimpse();
      s.refills += vaults_[i].seen.locks.glimpse();
    }
    const std::size_t tables =
        state_bytes_ + source_->record_bytes() + rows_made() * mem::zeroed::bytes<cpu_row>(1);
    s.active += busy;
    s.metadata += tables;
    s.resident += held + tables;
    s.mapped += source_->mapped_bytes() + tables;
    s.reserved += source_->mapped_bytes() + tables;
    s.cached += held > busy ? held - busy : 0;
    s.spans += source_->mapped_bytes() / chunk_bytes;
  }

  // All levels, counted. Exact while nobody is inside.
  level_traffic seen() const noexcept {
    level_traffic t{};
    for_each_row([&](const cpu_row& row) {
      for (unsigned c = 1; c <= count; ++c) t.cpu += row.caches[c].seen;
    });
    for (unsigned i = 0; has_sockets && i < machine_.sockets() * (count + 1); ++i) t.socket += sockets_[i].seen;
    for (unsigned i = 0; i < homes_ * (count + 1); ++i) {
      t.global += vaults_[i].seen;
      t.bumped_under_lock += vaults_[i].pages.taken;
      t.freed_to_pages += vaults_[i].pages.given;
    }
    return t;
  }

  // A lock is mine, interrupted inside, and I shall go on; or of a thread that is gone: then what it guards may be torn,
  // and is left alone for ever.
  void after_fork_child() noexcept {
    const owned_lock::mark me = os::thread_mark();
    for_each_lock([me](owned_lock& l, auto&& forget) {
      if (l.release_in_child(me)) forget();
    });
  }

  void validate() const noexcept {
    const auto good = [&](const block_list& l, unsigned c) {
      must(l.count <= bound_[c] && l.whole(secret_));
      for (const mem::block* b = l.first; !l.empty(); b = b->link) {
        const block_info i = find(b);
        must(i.cls == c);
        if (b == l.last) break;
      }
    };
    for_each_row([&](const cpu_row& row) {
      for (unsigned c = 1; c <= count; ++c) {
        must(row.caches[c].lock.holder() == 0);
        for (const block_list& l : row.caches[c].lists) good(l, c);
      }
    });
    const auto good_shelf = [&](const owned_lock& l, const shelf& s, unsigned c) {
      must(l.holder() == 0 && s.count <= s.capacity);
      for (std::uint32_t i = 0; i < s.count; ++i) {
        must(!s.lists[i].empty());
        good(s.lists[i], c);
      }
    };
    for (unsigned i = 0; has_sockets && i < machine_.sockets() * (count + 1); ++i)
      good_shelf(sockets_[i].lock, sockets_[i].shelf, i % (count + 1));
    for (unsigned i = 0; i < homes_ * (count + 1); ++i) {
      good_shelf(vaults_[i].lock, vaults_[i].shelf, i % (count + 1));
      if (i % (count + 1) != 0) keeper_->validate(vaults_[i].pages, i % (count + 1), i / (count + 1));
    }
  }

  // For tests.
  typename Levels::machine& machine() noexcept { return machine_; }
  std::uint32_t bound(unsigned c) const noexcept { return bound_[c]; }
  std::uint32_t thread_bound(unsigned c) const noexcept { return thread_bound_[c]; }
  const vault& vault_of(unsigned c, unsigned home = 0) const noexcept { return vaults_[home * (count + 1) + c]; }
  unsigned homes() const noexcept { return homes_; }

 private:
  struct cpu_row {
    cpu_cache caches[count + 1];
  };
  struct layout {
    std::size_t end = 0;
    std::size_t add(std::size_t bytes) {
      const std::size_t at = end;
      end = align_up(end + bytes, cache_line);
      return at;
    }
  };
  // Tells what the pages, whose lock is held as long as it lives, have taken of the system or given back.
  class [[nodiscard]] held_watch {
   public:
    held_watch(high_water& memory, const pages& p) noexcept : memory_(memory), pages_(p), before_(p.held) {}
    ~held_watch() { memory_.move(before_, pages_.held); }
    held_watch(const held_watch&) = delete;
    held_watch& operator=(const held_watch&) = delete;

   private:
    high_water& memory_;
    const pages& pages_;
    std::size_t before_;
  };
  // Where a thread is: caches that it shares with its neighbours.
  struct place {
    cpu_row* row;
    unsigned socket;
    unsigned home;
  };

  std::uint64_t tuned(asked what) const noexcept { return asked_.tuned[unsigned(what)]; }
  socket_cache& socket_at(unsigned socket, unsigned c) noexcept { return sockets_[socket * (count + 1) + c]; }
  vault& vault_at(unsigned home, unsigned c) noexcept { return vaults_[home * (count + 1) + c]; }

  // ---- where a thread is ------------------------------------------------------------------------------------------------

  place where(cache& k) noexcept {
    const unsigned cpu = machine_.current_cpu();
    cpu_row* row = rows_[cpu].load(order::acquire);  // sync: installed
    if (!row) [[unlikely]]
      row = make_row(cpu);
    if constexpr (!has_sockets) return {row, 0, 0};
    const unsigned home = homes_ == 1 ? 0 : machine_.home_of(cpu) % homes_;
    if (k.lives_at != home + 1) [[unlikely]]
      move_house(k, home);
    return {row, machine_.socket_of(cpu), home};
  }

  // Two threads may come on one processor at once: who loses gives its row back, and the first one, if it was that,
  // stays in reserve. Without memory for a row, processors share the first. A fork in the middle tears nothing: at
  // worst the child never uses the row that was being made.
  POLDER_NOINLINE cpu_row* make_row(unsigned cpu) noexcept {
    return install_once(
        rows_[cpu],
        [this] {
          if (!first_taken_.exchange(true, order::relaxed)) return first_row_;
          cpu_row* const fresh = mem::zeroed::make<cpu_row>(1);
          return fresh ? fresh : first_row_;
        },
        [this](cpu_row* lost) {
          if (lost != first_row_) mem::zeroed::discard(lost, 1);
        });
  }
  std::size_t rows_made() const noexcept {
    std::size_t n = 0;
    for_each_row([&](const cpu_row& row) { n += &row != first_row_; });
    return n;
  }

  // The thread runs on another node than before: what it has is of the old one.
  POLDER_NOINLINE void move_house(cache& k, unsigned home) noexcept {
    for (unsigned c = 1; k.lives_at != 0 && c <= count; ++c) {
      for (block_list* l : {&k.bins[c].here, &k.bins[c].spare}) give_to_vault(k.lives_at - 1u, c, *l);
      if constexpr (has_sockets) send_home(k, c);
    }
    k.lives_at = std::uint16_t(home + 1);
  }

  // ---- down: malloc -----------------------------------------------------------------------------------------------------

  POLDER_NOINLINE void* refill(cache& k, unsigned c) noexcept {
    bin& mine = k.bins[c];
    if (!mine.spare.empty()) {
      mine.here = mine.spare;
      mine.spare = {};
      return mine.here.pop(secret_);
    }
    large_.age(asked_.decay_ms);
    const place at = where(k);
    cpu_cache& p = at.row->caches[c];
    mem::block* alone = nullptr;
    {
      const os::holding h(p.lock);
      ++p.seen.locks;
      if (p.empty()) alone = bring_down(at, c, p);
      if (!p.empty()) {
        mine.here = p.take(thread_bound_[c], secret_);
        ++p.seen.out;
      }
    }
    if (alone) return alone;
    if (mine.here.empty() && homes_ > 1) borrow(at, c, mine.here);
    return mine.here.empty() ? nullptr : mine.here.pop(secret_);
  }

  // A list from the level above into the processor's cache, which is locked and empty; or one block that was bumped.
  mem::block* bring_down(const place& at, unsigned c, cpu_cache& p) noexcept {
    if constexpr (has_sockets) {
      socket_cache& s = socket_at(at.socket, c);
      const os::holding h(s.lock);
      ++s.seen.locks;
      if (s.shelf.empty())
        if (mem::block* const alone = fetch(at.home, c, s)) return alone;
      if (s.shelf.empty()) return nullptr;
      p.lists[0] = s.shelf.take();
      ++s.seen.out;
      ++p.seen.in;
    } else {
      vault& v = vault_at(0, c);
      const os::holding h(v.lock);
      ++v.seen.locks;
      if (v.shelf.empty())
        if (mem::block* const alone = grow(v, 0, c)) return alone;
      if (v.shelf.empty()) return nullptr;
      p.lists[0] = v.shelf.take();
      ++v.seen.out;
      ++p.seen.in;
    }
    return nullptr;
  }

  // Half of what a socket may hold, from the global cache.
  mem::block* fetch(unsigned home, unsigned c, socket_cache& s) noexcept {
    vault& v = vault_at(home, c);
    const os::holding h(v.lock);
    ++v.seen.locks;
    if (v.shelf.empty())
      if (mem::block* const alone = grow(v, home, c)) return alone;
    for (std::uint32_t n = half_of(s.shelf); n != 0 && !v.shelf.empty(); --n) {
      s.shelf.put(v.shelf.take());
      ++v.seen.out;
      ++s.seen.in;
    }
    return nullptr;
  }

  // The global cache is empty: bumps one block, or puts lists of them there.
  mem::block* grow(vault& v, unsigned home, unsigned c) noexcept {
    const held_watch w(memory_, v.pages);
    if constexpr (!Growth::fills_the_cache) {
      return keeper_->take_one(v.pages, c, home);
    } else {
      const std::uint64_t half = std::uint64_t{half_of(v.shelf)} * bound_[c];
      for (std::uint64_t left = Growth::objects(v.steps++, half); left != 0;) {
        const std::uint32_t n = left < bound_[c] ? std::uint32_t(left) : bound_[c];
        block_list l{};
        keeper_->take(v.pages, c, home, n, l);
        if (!l.empty()) v.shelf.put(l);
        if (l.count < n) break;  // the system refuses more
        left -= n;
      }
      return nullptr;
    }
  }
  static std::uint32_t half_of(const shelf& s) { return s.capacity > 1 ? s.capacity / 2 : 1; }

  // The system refuses, and this home has nothing: what another one has is better than none.
  POLDER_NOINLINE void borrow(const place& at, unsigned c, block_list& into) noexcept {
    for (unsigned home = 0; home < homes_ && into.empty(); ++home) {
      if (home == at.home) continue;
      vault& v = vault_at(home, c);
      const os::holding h(v.lock);
      const held_watch w(memory_, v.pages);
      ++v.seen.locks;
      if (!v.shelf.empty()) {
        into = v.shelf.take();
        ++v.seen.out;
      } else {
        keeper_->take(v.pages, c, home, 1, into);
      }
    }
  }

  POLDER_ALWAYS_INLINE void free_own(cache& k, unsigned c, mem::block* b) noexcept {
    bin& mine = k.bins[c];
    if (mine.here.count < thread_bound_[c]) [[likely]]
      return mine.here.push(b, secret_);
    overflow(k, c, b);
  }

  // ---- up: free ---------------------------------------------------------------------------------------------------------

  POLDER_NOINLINE void overflow(cache& k, unsigned c, mem::block* b) noexcept {
    bin& mine = k.bins[c];
    if (!mine.spare.empty()) {
      const place at = where(k);  // which may give away what this thread has
      if (!mine.spare.empty() && !put_up(at, c, mine.spare)) {
        block_list one{};
        one.push(b, secret_);
        return to_pages(c, one);
      }
    }
    mine.spare = mine.here;
    mine.here = {};
    mine.here.push(b, secret_);
  }

  // A thread's list into its processor's cache, and what is there further up if need be. False: nothing moved.
  bool put_up(const place& at, unsigned c, block_list& l) noexcept {
    block_list surplus{};
    {
      cpu_cache& p = at.row->caches[c];
      const os::holding h(p.lock);
      ++p.seen.locks;
      if (!p.accept(l, bound_[c], secret_)) {
        if (!raise(at, c, p.fuller(), surplus)) return false;
        ++p.seen.out;
        p.accept(l, bound_[c], secret_);
        POLDER_CHECK(1, l.empty());
      }
      ++p.seen.in;
    }
    while (!surplus.empty()) to_pages(c, surplus);
    return true;
  }

  // The list of a processor's cache one level up. What was taken from the global cache to make room is surplus.
  bool raise(const place& at, unsigned c, block_list& l, block_list& surplus) noexcept {
    if constexpr (has_sockets) {
      socket_cache& s = socket_at(at.socket, c);
      const os::holding h(s.lock);
      ++s.seen.locks;
      if (!s.shelf.accept(l, bound_[c], secret_)) {
        if (!hand_over(at.home, c, s, surplus)) return false;
        s.shelf.accept(l, bound_[c], secret_);
        POLDER_CHECK(1, l.empty());
      }
      ++s.seen.in;
      return true;
    } else {
      vault& v = vault_at(0, c);
      const os::holding h(v.lock);
      ++v.seen.locks;
      return put_into(v, c, l, surplus);
    }
  }

  // Half of a socket's lists to the global cache. False: there is no room for one.
  bool hand_over(unsigned home, unsigned c, socket_cache& s, block_list& surplus) noexcept {
    vault& v = vault_at(home, c);
    const os::holding h(v.lock);
    ++v.seen.locks;
    bool moved = false;
    for (std::uint32_t n = half_of(s.shelf); n != 0; --n) {
      block_list l = s.shelf.take();
      if (!put_into(v, c, l, surplus)) {
        s.shelf.put(l);
        break;
      }
      ++s.seen.out;
      moved = true;
    }
    return moved;
  }

  bool put_into(vault& v, unsigned c, block_list& l, block_list& surplus) noexcept {
    if (!v.shelf.accept(l, bound_[c], secret_)) {
      if constexpr (!Spill::makes_room) return false;
      while (v.shelf.count > v.shelf.capacity / 2) {
        block_list out = v.shelf.take();
        surplus.join(out, secret_);
        ++v.seen.out;
      }
      v.shelf.accept(l, bound_[c], secret_);
    }
    POLDER_CHECK(1, l.empty());
    ++v.seen.in;
    return true;
  }

  // Free blocks of class c, wherever they are from, back to their folios.
  void to_pages(unsigned c, block_list& l) noexcept {
    while (!l.empty()) {
      chunk* of = source_->find(address(l.first));
      if (!of) mem::report(mem::misuse::corrupted, l.first);
      const unsigned home = of->home;
      vault& v = vault_at(home, c);
      const os::holding h(v.lock);
      const held_watch w(memory_, v.pages);
      ++v.seen.locks;
      do {
        mem::block* const b = l.pop(secret_);
        b->set_link(nullptr, secret_);
        keeper_->give(v.pages, c, *of, b);
        of = l.empty() ? nullptr : source_->find(address(l.first));
      } while (of && of->home == home);
    }
  }

  // ---- blocks of other homes --------------------------------------------------------------------------------------------

  POLDER_NOINLINE void free_stranger(cache& k, unsigned c, unsigned home, mem::block* b) noexcept {
    if (k.lives_at == 0 && where(k).home == home) return free_own(k, c, b);
    block_list& l = k.away.lists[c];
    if (!l.empty() && k.away.home[c] != home) send_home(k, c);
    k.away.home[c] = std::uint16_t(home);
    l.push(b, secret_);
    const std::uint32_t many = std::uint32_t(short_lists::thread_bytes / size_classes::block_size[c]);
    if (l.count >= many) send_home(k, c);
  }
  void send_home(cache& k, unsigned c) noexcept { give_to_vault(k.away.home[c], c, k.away.lists[c]); }

  void give_to_vault(unsigned home, unsigned c, block_list& l) noexcept {
    if (l.empty()) return;
    block_list surplus{};
    {
      vault& v = vault_at(home, c);
      const os::holding h(v.lock);
      ++v.seen.locks;
      put_into(v, c, l, surplus);
    }
    to_pages(c, surplus);
    to_pages(c, l);
  }

  // ---- all of them ------------------------------------------------------------------------------------------------------

  template <class F>
  void for_each_row(F&& f) const noexcept {
    bool first = false;
    for (unsigned cpu = 0; cpu < machine_.cpu_limit(); ++cpu) {
      cpu_row* const row = rows_[cpu].load(order::acquire);  // sync: installed
      if (!row || (row == first_row_ && first)) continue;
      first |= row == first_row_;
      f(*row);
    }
  }

  // f(lock, what to do when what it guards is torn).
  template <class F>
  void for_each_lock(F&& f) noexcept {
    for_each_row([&](cpu_row& row) {
      for (unsigned c = 1; c <= count; ++c) {
        cpu_cache& p = row.caches[c];
        f(p.lock, [&p] { p.lists[0] = p.lists[1] = {}; });
      }
    });
    for (unsigned i = 0; has_sockets && i < machine_.sockets() * (count + 1); ++i)
      f(sockets_[i].lock, [this, i] { sockets_[i].shelf.count = 0; });
    for (unsigned home = 0; home < homes_; ++home)
      for (unsigned c = 1; c <= count; ++c) {
        vault& v = vault_at(home, c);
        f(v.lock, [this, &v, c, home] {
          v.shelf.count = 0;
          keeper_->forsake(v.pages, c, home);
        });
      }
    f(source_->lock, [this] { source_->forsake(); });
  }

  void empty_shelf(owned_lock& lock, shelf& s, unsigned c) noexcept {
    for (;;) {
      block_list l;
      {
        const os::holding h(lock);
        if (s.empty()) return;
        l = s.take();
      }
      to_pages(c, l);
    }
  }

  POLDER_ALWAYS_INLINE bool is_live(const chunk& of, const mem::block* b, unsigned c,
                                    block_place at) const noexcept {
    return size_classes::begins_a_block(c, at.in_folio) &&
           at.in_folio < of.folios[at.folio].bumped.load(order::relaxed) && !b->looks_free(secret_);
  }

  [[noreturn]] POLDER_NOINLINE void misused(const void* p, block_info i, block_place at) const noexcept {
    const auto& of = *static_cast<const chunk*>(i.record);
    const bool begins = size_classes::begins_a_block(i.cls, at.in_folio);
    const std::size_t size = size_classes::block_size[i.cls];
    // Of what was never handed out, or went back to the system since, nothing is known.
    if (begins && at.in_folio >= of.folios[at.folio].bumped.load(order::relaxed)) i.cls = 0;
    i.span = at_address(address(p) - at.in_folio);
    report_free(p, i, size, begins);
  }

  mem::secret secret_;
  std::size_t page_;
  const options& asked_;
  high_water& memory_;
  mem::huge_blocks& large_;
  chunk_source* source_ = nullptr;
  page_keeper* keeper_ = nullptr;
  std::uint32_t thread_bound_[count + 1] = {};  // blocks a list
  std::uint32_t bound_[count + 1] = {};
  unsigned homes_ = 1;

  // rows_ — the caches of each processor; null until a thread on it first needs them.
  //   written by  that thread, by CAS; once
  //   read by     everybody who comes past a thread's own lists
  //   order       installed: the rows
  //   ABA         changes once
  atomic<cpu_row*>* rows_ = nullptr;
  cpu_row* first_row_ = nullptr;
  atomic<bool> first_taken_;  // somebody was the first to make a row. Relaxed: the row is zeroed from the beginning
  socket_cache* sockets_ = nullptr;  // [socket][class]
  vault* vaults_ = nullptr;          // [home][class]
  std::byte* state_ = nullptr;
  std::size_t state_bytes_ = 0;
  alignas(chunk_source) std::byte source_place_[sizeof(chunk_source)];
  alignas(page_keeper) std::byte keeper_place_[sizeof(page_keeper)];
  typename Levels::machine machine_;
};

}  // namespace polder::heap::supermalloc
