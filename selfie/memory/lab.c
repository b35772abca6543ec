// lab — a local allocation buffer: for each size class one hot span, from which blocks come without a search. Aigner et al.
// 2015, sec. 3; Polder's is src/polder/heap/polder/lab.hpp.
//
//   span       32 words: class, blocks in use, first free block, next span of the list; then blocks of one size
//   classes    2, 4, 9, 14 and 28 words
//   states     hot: allocated from; partial: has free blocks, in its class's list; full: in no list; free: in the pool
//   invariant  a span that is not hot and has no block in use is in the pool
//
// The heap is aligned, so the span of a block is found from its address.

int SPAN_CLASS = 0;
int SPAN_USED = 1;
int SPAN_FREE = 2;
int SPAN_NEXT = 3;
int span_words = 32;
int span_header = 4;

int classes = 5;
int* class_words;
int* hot;      // of each class, 0: none
int* partial;  // first of each class
int* pool;     // free spans

void start_heap() {
  int i;
  int* span;

  class_words = malloc(20);
  hot = malloc(20);
  partial = malloc(20);
  *class_words = 2;
  *(class_words + 1) = 4;
  *(class_words + 2) = 9;
  *(class_words + 3) = 14;
  *(class_words + 4) = 28;
  i = 0;
  while (i < classes) {
    *(hot + i) = 0;
    *(partial + i) = 0;
    i = i + 1;
  }
  pool = 0;
  i = heap_words;
  while (i > 0) {
    i = i - span_words;
    span = heap + i;
    *(span + SPAN_NEXT) = (int)pool;
    pool = span;
  }
}

int* span_of(int* block) { return heap + (block - heap) / span_words * span_words; }

// Fresh from the pool: its blocks become a list.
void open_span(int* span, int class) {
  int* block;
  int words;

  words = *(class_words + class);
  *(span + SPAN_CLASS) = class;
  *(span + SPAN_USED) = 0;
  *(span + SPAN_FREE) = 0;
  block = span + span_header + (span_words - span_header) / words * words;
  paint(span, span_header, HEADER);
  while (block > span + span_header) {
    block = block - words;
    *block = *(span + SPAN_FREE);
    *(span + SPAN_FREE) = (int)block;
    paint(block, words, FREE);
  }
}

// A span with a free block for the class: a partial one, else one from the pool.
int* next_span(int class) {
  int* span;

  span = (int*)*(partial + class);
  if (span != 0) {
    *(partial + class) = *(span + SPAN_NEXT);
    return span;
  }
  span = pool;
  if (span != 0) {
    pool = (int*)*(span + SPAN_NEXT);
    open_span(span, class);
  }
  return span;
}

int* allocate(int words) {
  int class;
  int* span;
  int* block;

  class = 0;
  while (*(class_words + class) < words) {
    class = class + 1;
    if (class == classes) return 0;
  }
  span = (int*)*(hot + class);
  if (span != 0)
    if (*(span + SPAN_FREE) == 0) span = 0;  // full: in no list until a block comes back
  if (span == 0) {
    span = next_span(class);
    *(hot + class) = (int)span;
    if (span == 0) return 0;
  }
  block = (int*)*(span + SPAN_FREE);
  *(span + SPAN_FREE) = *block;
  *(span + SPAN_USED) = *(span + SPAN_USED) + 1;
  paint(block, *(class_words + class), USED);
  return block;
}

// Takes a span out of its class's list, if it is there.
void unlist(int* span) {
  int* before;
  int* s;
  int class;

  class = *(span + SPAN_CLASS);
  before = 0;
  s = (int*)*(partial + class);
  while (s != 0) {
    if (s == span) {
      if (before == 0) *(partial + class) = *(span + SPAN_NEXT);
      else *(before + SPAN_NEXT) = *(span + SPAN_NEXT);
      return;
    }
    before = s;
    s = (int*)*(s + SPAN_NEXT);
  }
}

void release(int* block) {
  int* span;
  int class;
  int was_full;

  span = span_of(block);
  class = *(span + SPAN_CLASS);
  was_full = *(span + SPAN_FREE) == 0;
  *block = *(span + SPAN_FREE);
  *(span + SPAN_FREE) = (int)block;
  *(span + SPAN_USED) = *(span + SPAN_USED) - 1;
  paint(block, *(class_words + class), FREE);
  if (span == (int*)*(hot + class)) return;
  if (*(span + SPAN_USED) == 0) {
    if (was_full == 0) unlist(span);
    *(span + SPAN_NEXT) = (int)pool;
    pool = span;
    paint(span, span_words, UNTOUCHED);
  } else if (was_full) {
    *(span + SPAN_NEXT) = *(partial + class);
    *(partial + class) = (int)span;
  }
}
