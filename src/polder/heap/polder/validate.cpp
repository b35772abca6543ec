// core: what must hold of every structure while no thread is inside (lab.hpp, mem/span.hpp, outbox.hpp).
#include <polder/base/check.hpp>
#include <polder/heap/polder/core.hpp>

#if POLDER_CHECK_LEVEL >= 2

namespace polder::heap {

// Whether its structures are whole: nobody ended inside it, or stopped while holding it.
static bool is_whole(const lab& l) noexcept {
  return l.door.state() == lab_state::idle || l.door.owner_is_outside();
}

template <class F>
void core::for_each_lab(F f) const noexcept {
  for (mem::lab_number n = 1; n <= labs_made(); ++n) f(lab_at(n), n);
}

core::census core::validate() const noexcept {
  if (is_tended()) return {};
  std::size_t outside = 0, waiting = 0, confined = 0, owned = 0;
  bool all_whole = true;
  for_each_lab([&](const lab& l, mem::lab_number n) {
    must(l.number == n && l.base == base_of_fast_paths() && l.secret == secret_);
    all_whole = all_whole && is_whole(l);
    if (!is_whole(l)) return;
    outside += validate(l);
    waiting += validate_posts(l);
    if (l.held)
      confined += l.held->validate([this](const mem::block* b, std::uint32_t bytes) {
        const std::uint32_t w = word_of(b);
        return mem::word::owner(w) != 0 && classes::block_size[mem::word::cls(w)] == bytes &&
               is_place(mem::word::cls(w), b) && links::fit(b, secret_) && is_untouched(b, bytes);
      });
    owned += l.owned_count;
  });
  // Who stopped inside a LAB may have been at anything else, too.
  if (!all_whole) return {};
  must(budget_.peak() >= budget_.used());
  huge_.validate();
  grains_.validate();
  const found in_words = validate_words();
  must(in_words.grains == grains_.count().taken && in_words.spans == owned && waiting <= outside);
  validate_waiting(waiting);
  must(waiting + confined <= outside);
  return {.blocks = outside - waiting - confined, .guarded = guarded_.validate(), .adrift = validate_idle()};
}

std::size_t core::validate(const lab& l) const noexcept {
  std::size_t outside = 0;
  unsigned owned = 0, partial = 0, hot = 0;
  std::uint64_t handed_out = 0;
  std::uint32_t of[classes::count + 1] = {};
  mem::grain before = 0;
  for (mem::grain g = l.owned; g != 0; before = g, g = arena_.spans()[g].next_owned) {
    const mem::span& s = arena_.spans()[g];
    const std::uint32_t w = arena_.words()[g].load(order::relaxed);
    must(++owned <= l.owned_count && s.prev_owned == before);
    must(mem::word::owner(w) == l.number && mem::word::cls(w) == s.cls && s.cls - 1u < classes::count);
    must(mem::word::is_full(w) == (s.state == mem::span_state::full));
    must((l.hot[s.cls] == &s) == (s.state == mem::span_state::hot));
    ++of[s.cls];
    handed_out += s.bumped;
    partial += s.state == mem::span_state::partial;
    hot += s.state == mem::span_state::hot;
    outside += validate(l, s);
  }
  must(owned == l.owned_count && handed_out == l.handed_out);
  for (unsigned c = 0; c <= classes::count; ++c) must(of[c] == l.owned_of[c]);
  for (unsigned c = 1; c <= classes::count; ++c) {
    must(((l.hots & class_bit(c)) != 0) == (l.hot[c] != &none_));
    if (l.hot[c] != &none_) must(hot-- != 0 && l.hot[c]->cls == c);
    before = 0;
    for (mem::grain g = l.partial[c].first; g != 0; before = g, g = arena_.spans()[g].next) {
      const mem::span& s = arena_.spans()[g];
      must(partial-- != 0 && s.state == mem::span_state::partial && s.cls == c && s.prev == before);
    }
    must(l.partial[c].last == before);
    must(((l.partials & class_bit(c)) != 0) == (before != 0));
  }
  must(hot == 0 && partial == 0);
  for (unsigned i = 0; i != lab::direct_entries; ++i) {  // a hardened heap has no fast path
    const mem::span* const hot_one = options_.hardened ? &none_ : l.hot[mem::size_class::stepped::of(i * 16)];
    must((l.watched ? l.counted : l.direct)[i] == hot_one);
    must((l.watched ? l.direct : l.counted)[i] == &none_);
  }
  return outside;
}

std::size_t core::validate(const lab& l, const mem::span& s) const noexcept {
  const std::uint32_t size = classes::block_size[s.cls];
  must(s.block_size == size && s.multiplier == classes::multiplier[s.cls] &&
       s.usable == classes::usable_bytes[s.cls]);
  must(s.bumped <= s.usable && s.bumped % size == 0);
  const std::byte* const start = arena_.address_of(number_of(s));
  const std::uint32_t blocks = s.bumped / size;
  const std::uint32_t w = arena_.words()[number_of(s)].load(order::relaxed);
  const std::uint32_t returned = s.returned.load(order::relaxed);
  mem::span_pages pages(size, arena_.page());
  pages.note_free_on(returned);
  std::uint32_t on_no_page = 0, first_on_none = blocks;
  for (std::uint32_t n = blocks; n-- != 0;)
    if (pages.is_free(n)) ++on_no_page, first_on_none = n;
  must(s.handed == mem::scaled(s.multiplier, first_on_none * size) && mem::word::is_thin(w) == (returned != 0));
  std::uint32_t free = 0;
  for (const mem::block* b = s.free; b != mem::list_end(); b = links::next(b, secret_)) {
    const std::size_t offset = address(b) - address(start);
    must(++free <= blocks && offset < s.bumped && offset % size == 0 && links::fit(b, secret_));
  }
  const std::uint32_t more = s.state == mem::span_state::hot ? one_more(l.keeps, s.cls) : 0;
  must(s.used >= more);
  const std::uint32_t outside = s.used - more;
  must(free + outside + on_no_page == blocks);
  switch (s.state) {
    case mem::span_state::free: must(false); break;
    case mem::span_state::hot: must(s.used != 0); break;
    case mem::span_state::partial:
      must(outside != 0 && (free != 0 || on_no_page != 0 || s.bumped < s.usable));
      break;
    case mem::span_state::full: must(free == 0 && on_no_page == 0 && s.bumped == s.usable); break;
  }
  return outside;
}

std::size_t core::validate_posts(const lab& l) const noexcept {
  std::size_t blocks = l.out.validate(secret_, [this](const mem::block* b) {
    return classes::block_size[mem::word::cls(arena_.words()[arena_.find(address(b))].load(order::relaxed))];
  });
  blocks += l.shelved.validate(secret_, [this](const mem::block* b, unsigned c) {
    return mem::word::cls(word_of(b)) == c && is_place(c, b);
  });
  std::size_t in_bytes = 0;
  for (const mem::block* b = l.in.waiting(); b != nullptr; b = links::next(b, secret_)) {
    const std::uint32_t w = arena_.words()[arena_.find(address(b))].load(order::relaxed);
    must(links::fit(b, secret_) && mem::word::owner(w) != 0);
    in_bytes += classes::block_size[mem::word::cls(w)];
    ++blocks;
  }
  must(in_bytes == l.in_bytes.load(order::relaxed));
  return blocks;
}

// What was sent and has not come home is what was found waiting.
void core::validate_waiting(std::size_t blocks) const noexcept {
  std::uint64_t waiting = 0;
  for (unsigned c = 1; c <= classes::count; ++c) {
    waiting += sent_without_lab_[c].load(order::relaxed);
    for_each_lab([&](const lab& l, mem::lab_number) { waiting += l.sent[c] - l.home[c]; });
  }
  must(waiting == blocks);
}

// A LAB without a thread is in one stack, of its site; nothing else is in any. How many are in none.
std::uint32_t core::validate_idle() const noexcept {
  std::uint32_t idle = 0, listed = 0;
  for_each_lab([&](const lab& l, mem::lab_number) { idle += l.door.state() == lab_state::idle; });
  const auto links = [this](std::uint32_t n) -> atomic<std::uint32_t>& { return lab_at(n).next_idle; };
  for (unsigned s = 0; s != mem::sites; ++s) {
    for (const index_stack* stack : {&idle_[s].full, &idle_[s].empty}) {
      stack->walk(links, [&](std::uint32_t n) {
        must(++listed <= idle && n <= labs_made());
        must(lab_at(n).door.state() == lab_state::idle && lab_at(n).site.load(order::relaxed) == s);
      });
    }
  }
  return idle - listed;
}

// A free grain that is a list: all blocks of it that were ever handed out.
void core::validate_list(mem::grain g, std::uint32_t w) const noexcept {
  const mem::span& s = arena_.spans()[g];
  const mem::chunk& k = arena_.chunk(mem::chunk_of(g));
  must(w == s.cls && ((k.dirty.load(order::relaxed) & ~k.taken.taken()) >> mem::position_in_chunk(g) & 1) != 0);
  std::uint32_t free = 0;
  for (const mem::block* b = s.free; b != mem::list_end(); b = links::next(b, secret_)) {
    must(links::fit(b, secret_) && arena_.find(address(b)) == g &&
         address(b) % mem::grain_size % s.block_size == 0);
    must(++free <= s.bumped / s.block_size);
  }
  must(free * s.block_size == s.bumped && s.bumped <= s.usable && s.handed == mem::scaled(s.multiplier, s.bumped));
}

core::found core::validate_words() const noexcept {
  found f;
  const auto look = [&](mem::chunk_number from, mem::chunk_number to) {
    for (mem::grain g = from * mem::grains_per_chunk; g < to * mem::grains_per_chunk; ++g) {
      if (!arena_.ready(mem::chunk_of(g))) continue;
      const std::uint32_t w = arena_.words()[g].load(order::relaxed);
      const unsigned c = mem::word::cls(w);
      if (c == 0) continue;
      if (mem::word::owner(w) == 0 && c <= classes::count) {
        validate_list(g, w);
        continue;
      }
      const bool is_run = mem::word::is_run(w);
      must(c <= classes::count || is_run || c == mem::word::metadata);
      const std::uint32_t n = is_run ? run_at(g).grains : 1;
      for (mem::grain i = g; i != g + n; ++i) {
        must((arena_.chunk(mem::chunk_of(i)).taken.taken() >> mem::position_in_chunk(i) & 1) != 0);
        must(i == g || arena_.words()[i].load(order::relaxed) == 0);
      }
      f.grains += n;
      f.spans += c <= classes::count;
    }
  };
  look(0, arena_.main_open());
  look(arena_.main_chunks(), arena_.main_chunks() + arena_.extra_open());
  return f;
}

}  // namespace polder::heap

#endif
