// print — characters, texts and numbers to a file, for the programs of the course.

int print_descriptor = 1;
int* print_buffer = 0;
int print_word = 0;
int print_unit = 1;
int print_length = 0;

void print_flush() {
  if (print_length > 0) {
    *(print_buffer + print_length / 4) = print_word;
    write(print_descriptor, print_buffer, print_length);
    print_length = 0;
    print_word = 0;
    print_unit = 1;
  }
}

void print_to(int descriptor) {
  print_flush();
  print_descriptor = descriptor;
}

void print_character(int c) {
  if (print_buffer == 0) print_buffer = malloc(1028);
  print_word = print_word + c * print_unit;
  print_length = print_length + 1;
  print_unit = print_unit * 256;
  if (print_length % 4 == 0) {
    *(print_buffer + print_length / 4 - 1) = print_word;
    print_word = 0;
    print_unit = 1;
    if (print_length == 1024) print_flush();
  }
  if (c == '\n') print_flush();
}

void print(int* text) {
  int word;
  int i;
  int c;

  while (1) {
    word = *text;
    i = 0;
    while (i < 4) {
      c = word % 256;
      if (c < 0) c = c + 256;
      if (c == 0) return;
      print_character(c);
      word = (word - c) / 256;
      if (word < 0)
        if (i < 2) word = word + 16777216;
      i = i + 1;
    }
    text = text + 1;
  }
}

void print_number(int n) {
  int unit;

  if (n == -2147483647 - 1) {
    print("-2147483648");
    return;
  }
  if (n < 0) {
    print_character('-');
    n = -n;
  }
  unit = 1;
  while (n / unit >= 10) unit = unit * 10;
  while (unit > 0) {
    print_character('0' + n / unit % 10);
    unit = unit / 10;
  }
}
