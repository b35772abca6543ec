// listing3_locked — deallocate as Polder's scalloc has it (src/polder/heap/scalloc/span_life.hpp): a span is marked and moved
// under the lock of the set that it moves to or from, so that nobody sees it between two places. And the epoch is read after
// the block was freed, so that the last free is never idle: as printed, a free that finds the epoch changed does nothing.

void deallocate() {
  int old_epoch;

  free_block();
  acquire();
  old_epoch = *epoch;
  if (*blocks > 1)
    if (try_mark(old_epoch, REUSABLE)) move(in_set, 1);
  old_epoch = *epoch;
  if (*blocks == 3)
    if (try_mark(old_epoch, FREE)) {
      assert(*in_set == 1);  // what is reusable is in the set
      move(in_set, -1);
      move(in_pool, 1);
    }
  release();
}
