// partial_queue under the model checker.
#include <polder/heap/michael/partial_lists_model.hpp>
#include <polder/heap/michael/partial_queue.hpp>

int main() {
  return polder::heap::michael::explore_partial_lists<polder::heap::michael::partial_queue>("partial_queue");
}
