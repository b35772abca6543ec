#include "collection/quality.hpp"

#include <utility>
#include <vector>

#include "checker/lateness.hpp"

namespace polder::bench {

struct quality::recording {
  virtual ~recording() = default;
  virtual any_collection& view(unsigned worker) = 0;
  virtual checker::history take() = 0;
};

namespace {

using checker::order_of;

// Answers that nothing was inside are not written: a worker asks again until there is something.
template <class Clock>
class recorded_view final : public any_collection {
 public:
  recorded_view(any_collection& of, Clock& clock, std::size_t events) : of_(of), clock_(clock) {
    done_.resize(events, checker::event(checker::call::put, 0));  // touches the pages
    done_.clear();
  }
  bool put(std::uint64_t element) override {
    const std::uint64_t from = clock_.begin();
    const bool did = of_.put(element);
    const std::uint64_t to = clock_.end();
    if (did) done_.emplace_back(checker::call::put, element, checker::side::left, from, to);
    return did;
  }
  bool get(std::uint64_t& element) override {
    const std::uint64_t from = clock_.begin();
    const bool did = of_.get(element);
    const std::uint64_t to = clock_.end();
    if (did) done_.emplace_back(checker::call::get, element, checker::side::left, from, to);
    return did;
  }
  order_promise order() const override { return of_.order(); }
  std::vector<checker::event> take() { return std::move(done_); }

 private:
  any_collection& of_;
  Clock& clock_;
  std::vector<checker::event> done_;
};

template <class Clock>
struct recording_by final : quality::recording {
  recording_by(any_collection& of, unsigned workers, std::size_t elements) {
    for (unsigned w = 0; w != workers; ++w)
      views.push_back(std::make_unique<recorded_view<Clock>>(of, clock, 4 * elements / workers + 1));
  }
  any_collection& view(unsigned worker) override { return *views[worker]; }
  checker::history take() override {
    checker::history all;
    for (const auto& v : views) all.push_back(v->take());
    return all;
  }

  Clock clock;
  std::vector<std::unique_ptr<recorded_view<Clock>>> views;
};

}  // namespace

quality::quality(bool asked, any_collection& of, unsigned workers, std::size_t elements) : of_(of) {
  if (!asked) return;
  if (checker::ticks::agree()) recording_ = std::make_unique<recording_by<checker::ticks>>(of, workers, elements);
  else recording_ = std::make_unique<recording_by<checker::counter>>(of, workers, elements);
}

quality::~quality() = default;

any_collection& quality::view(unsigned worker) { return recording_ ? recording_->view(worker) : of_; }

void quality::tell(run& r) {
  if (!recording_) return;
  const checker::elements came = checker::elements_of(recording_->take());
  if (const checker::verdict v = came.sane(); !v) r.fail("%s", v.wrong.c_str());
  const order_promise promised = of_.order();
  bool as_stack = promised.kind == ds::shape::stack;
  checker::lateness found = checker::lateness_of(came.all, as_stack ? order_of::stack : order_of::queue);
  if (promised.kind == ds::shape::deque || promised.kind == ds::shape::pool) {
    const checker::lateness other = checker::lateness_of(came.all, order_of::stack);
    if (other.late.mean < found.late.mean) found = other, as_stack = true;
  }
  r.tell("lateness_mean", found.late.mean);
  r.tell("lateness_p99", found.late.p99);
  r.tell("lateness_max", found.late.max);
  r.tell("age_mean", found.age.mean);
  r.tell("age_p99", found.age.p99);
  r.tell("age_max", found.age.max);
  r.tell("k_measured", found.age.max);
  r.tell("as_stack", as_stack ? 1 : 0);
  if (!promised.k) return;
  r.tell("k_promised", static_cast<double>(*promised.k));
  if (found.age.max > *promised.k)
    r.fail("an element overtook %u others, and %zu are promised", found.age.max, *promised.k);
}

}  // namespace polder::bench
