// libcds' flat combining, which stands on Boost's threads.
#include <cds/container/fcqueue.h>
#include <cds/container/fcstack.h>

#include "rival/libcds_collection.hpp"

namespace polder::bench::rivals {

made_collection libcds_fc_queue(const collection_job& job) {
  return made<libcds_queue<cds::container::FCQueue<libcds_element>>>(job);
}
made_collection libcds_fc_stack(const collection_job& job) {
  return made<libcds_stack<cds::container::FCStack<libcds_element>>>(job);
}

}  // namespace polder::bench::rivals
