// ms_queue under what is asked of every collection.
#include <polder/ds/queue/ms_queue.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

// Not every compiler takes a template of four, with a default, for one of three.
template <class T, class R, class M>
using plain_one = ms_queue<T, R, M>;
POLDER_COLLECTION_SUITE(ms_queue, plain_one);

}  // namespace
}  // namespace polder::ds::collection_suite
