// chosen_signal under the model checker: one chooses, and who has the number finds its handler there.
#include <polder/smr/neutral/chosen_signal.hpp>

#include "explore.hpp"

namespace {

using polder::plain;

struct choosing : rl::test_suite<choosing, 3> {
  polder::smr::chosen_signal signal;
  rl::mutex lock;
  plain<int> handler;  // of which signal there is one

  static rl::debug_info here(polder::model::place at = polder::model::place::current()) {
    return polder::model::info(at);
  }
  struct holding {
    rl::mutex& lock;
    explicit holding(rl::mutex& l) : lock(l) { lock.lock(here()); }
    holding(const holding&) = delete;
    holding& operator=(const holding&) = delete;
    ~holding() { lock.unlock(here()); }
  };

  void send() {
    if (const int n = signal.get(); n != 0) POLDER_MODEL_CHECK(handler.get() == n);
  }
  void thread(unsigned self) {
    if (self != 2) {
      signal.choose([this] { return holding(lock); },
                    [&] {
                      POLDER_MODEL_CHECK(handler.get() == 0);
                      handler.set(int(self) + 1);
                      return int(self) + 1;
                    });
      POLDER_MODEL_CHECK(signal.get() != 0);
    }
    send();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<choosing>({.title = "chosen_signal: choosing", .how = search::bounded, .floor = 100, .switches = 2});
  return ok ? 0 : 1;
}
