// listing3 — deallocate of the scalloc paper, listing 3, lines 109 to 122, as printed.
//
//   broken     marking a span and moving it are two steps. A context marks it reusable (115) and is delayed before it puts
//              it into the set (116). Another makes the last free, marks it free (119), removes it from the set, where it
//              is not yet (120), and gives it to the pool (122). Then the first puts it into the set: it is in both

void set_put() {
  acquire();
  move(in_set, 1);
  release();
}

void set_try_remove() {
  acquire();
  if (*in_set > 0) move(in_set, -1);
  release();
}

void deallocate() {
  int old_epoch;

  old_epoch = *epoch;
  free_block();
  if (*blocks > 1)
    if (try_mark(old_epoch, REUSABLE)) set_put();  // 114 to 116
  if (*blocks == 3)
    if (try_mark(old_epoch, FREE)) {  // 118 to 122
      set_try_remove();
      move(in_pool, 1);
    }
}
