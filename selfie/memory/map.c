// map — a heap of 256 words and a picture of it. Allocators say what each word is; after each step of a program the map is
// drawn: as text, a character a word, and as a row of an SVG, if main was given a file for it.

int* heap;  // aligned to its size
int heap_words = 256;

int UNTOUCHED = 0;
int HEADER = 1;  // what the allocator keeps for itself
int USED = 2;
int FREE = 3;

int* kinds;  // of each word of the heap
int map_file = 0;
int map_steps = 0;
int map_most = 16;  // rows for which the picture has room

void paint(int* from, int words, int kind) {
  int i;

  i = from - heap;
  while (words > 0) {
    *(kinds + i) = kind;
    i = i + 1;
    words = words - 1;
  }
}

int painted(int i) { return *(kinds + i); }

void print_colour(int kind) {
  if (kind == HEADER) print("#7a8794");
  else if (kind == USED) print("#e08a3c");
  else if (kind == FREE) print("#bcd9b0");
  else print("#eeeeee");
}

void print_kind(int kind) {
  if (kind == HEADER) print_character('+');
  else if (kind == USED) print_character('#');
  else if (kind == FREE) print_character('o');
  else print_character('.');
}

void start_map(int argc, int* argv) {
  int* space;
  int i;

  space = malloc(heap_words * 8);
  heap = space + (heap_words * 4 - (int)space % (heap_words * 4)) / 4;
  kinds = malloc(heap_words * 4);
  i = 0;
  while (i < heap_words) {
    *(kinds + i) = UNTOUCHED;
    *(heap + i) = 0;
    i = i + 1;
  }
  if (argc > 1) {
    map_file = open((int*)*(argv + 1), 577, 420);
    assert(map_file >= 0);
    print_to(map_file);
    print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"monospace\" font-size=\"12\" viewBox=\"0 0 1100 ");
    print_number(40 + map_most * 30);
    print("\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    print("<text x=\"8\" y=\"20\">grey: the allocator's own; orange: in use; green: free; light: never ");
    print("used</text>\n");
    print_to(1);
  }
}

void map_text(int* what) {
  int i;

  print(what);
  print("\n");
  i = 0;
  while (i < heap_words) {
    if (i % 64 == 0) print("  ");
    print_kind(painted(i));
    i = i + 1;
    if (i % 64 == 0) print("\n");
  }
}

// Words of one kind that follow each other are one rectangle; a line ends each block's.
void map_row(int* what) {
  int i;
  int n;
  int y;

  y = 34 + map_steps * 30;
  print_to(map_file);
  print("<text x=\"8\" y=\"");
  print_number(y + 15);
  print("\">");
  print(what);
  print("</text>\n");
  i = 0;
  while (i < heap_words) {
    n = 1;
    while ((i + n < heap_words) * (painted(i) == painted((i + n) % heap_words))) n = n + 1;
    print("<rect stroke=\"white\" stroke-width=\"1\" height=\"22\" y=\"");
    print_number(y);
    print("\" x=\"");
    print_number(320 + i * 3);
    print("\" width=\"");
    print_number(n * 3);
    print("\" fill=\"");
    print_colour(painted(i));
    print("\"/>\n");
    i = i + n;
  }
  print_to(1);
}

void draw(int* what) {
  map_text(what);
  if (map_file > 0)
    if (map_steps < map_most) map_row(what);
  map_steps = map_steps + 1;
}

void end_map() {
  if (map_file > 0) {
    print_to(map_file);
    print("</svg>\n");
    print_to(1);
  }
}

int map_count(int kind) {
  int i;
  int n;

  n = 0;
  i = 0;
  while (i < heap_words) {
    n = n + (painted(i) == kind);
    i = i + 1;
  }
  return n;
}
