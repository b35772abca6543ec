#pragma once
// era_answers — the cells in which others answer the requests of one thread (era_request.hpp): one for each that ever
// helped it, made when it is needed, kept until the domain goes.
//
//   progress   of: wait-free; the list grows once for each helper. at: as many steps as there are cells
//   in malloc  no
#include <new>

#include <polder/base/config.hpp>
#include <polder/smr/era/era_request.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class era_answers {
 public:
  struct cell : era_request::answer {
    // Written before the cell is linked.
    plain<const void*> helper;
    plain<unsigned> number;
    plain<cell*> next;
  };

  era_answers() = default;
  era_answers(const era_answers&) = delete;
  era_answers& operator=(const era_answers&) = delete;
  ~era_answers() {
    for (cell* c = first_.load(order::relaxed); c != nullptr;) {
      cell* const next = c->next.get();
      delete c;
      c = next;
    }
  }

  // The helper's own, which calls; null: there is no memory for it, or no number.
  cell* of(const void* helper) noexcept {
    cell* before = first_.load(order::acquire);  // sync: cell-made
    for (cell* c = before; c != nullptr; c = c->next.get()) {
      if (c->helper.get() == helper) return c;
    }
    cell* const made = new (std::nothrow) cell;
    if (made == nullptr) return nullptr;
    made->helper.set(helper);
    do {
      const unsigned number = before == nullptr ? 0 : before->number.get() + 1;
      if (number >= era_request::cells) {
        delete made;
        return nullptr;
      }
      made->number.set(number);
      made->next.set(before);
    } while (!first_.cas(before, made, order::acq_rel, order::acquire));  // sync: cell-made
    return made;
  }

  // One that somebody answered from.
  const era_request::answer& at(unsigned number) const noexcept {
    const cell* c = first_.load(order::acquire);  // sync: cell-made
    while (c->number.get() != number) c = c->next.get();
    return *c;
  }

 private:
  // first_: the newest. Written by who helps for the first time, by CAS; read by helpers, the asker, who looks. cell-made:
  // the cell is whole. The list only grows, and numbers with it.
  atomic<cell*> first_;
};

}  // namespace polder::smr
