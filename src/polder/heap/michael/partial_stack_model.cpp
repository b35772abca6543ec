// partial_stack under the model checker.
#include <polder/heap/michael/partial_lists_model.hpp>
#include <polder/heap/michael/partial_stack.hpp>

int main() {
  return polder::heap::michael::explore_partial_lists<polder::heap::michael::partial_stack>("partial_stack");
}
