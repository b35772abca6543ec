// selfie — a compiler, an emulator, a hypervisor and an explorer of interleavings, in the small language they are about.
//
//   starc      compiles C* to MIPSter                                      (-c, -o, -S)
//   mipster    runs MIPSter                                                (-m, traced -d, profiled -p)
//   hypster    has the machine below run it: a hypervisor                  (-y)
//   libcstar   exit, malloc, open, read, write                             (and what concurrent programs call)
//   explorer   runs a concurrent program through all its interleavings     (-x, at random -r, once more -R)
//
// This file is a C* program, so starc compiles it, mipster runs it, and hypster hosts it. After Selfie as a talk describes
// it (docs/papers.md, K41 to K48); language and machine are drawn in selfie/README.md. What C* lacks shows everywhere:
// no struct, so a table is one array for each column; no break, so loops have a flag; no && and ||, so conditions nest.
//
// Other compilers take it too. There an int has 32 bits as well and must wrap (-fwrapv), and an int* may be wider than
// an int. So nothing here keeps a pointer in an int, except where only MIPSter can come by: tables hold indices.
//
// selfie/compile has the command line.
//
// Contents: library, files, scanner, symbols, code, libcstar, parser, binary, disassembler, machine, mipster, monitor,
// arguments, profile and trace, explorer, driver. Each has its line of dashes.

// ---- library: what is missing from a language of five statements ---------------------------------------------------

int smallest = 0;  // -2^31, which cannot be written down in one literal

int* out_buffer;         // packed bytes that wait to be written
int out_length = 0;      // so many bytes
int out_word = 0;        // the last one to three of them
int out_unit = 1;        // weight of the next byte in out_word
int out_descriptor = 1;  // where they go
int out_limit = 4096;

int* reading;  // a packed buffer for what is read

// What libcstar has beyond C's library, and this program needs. Compiled by starc, the library's own stands and this one is
// not used; compiled by others, there is no machine below that could run a context.
int hypster_run(int* state) { return -1; }

// Characters of a packed string: four a word, the first in the lowest byte.
int character_of(int* text, int i) {
  int word;
  int place;

  word = *(text + i / 4);
  place = i % 4;
  if (place == 3) {
    if (word < 0) return (word - smallest) / 16777216 + 128;
    return word / 16777216;
  }
  if (word < 0) word = word - smallest;  // the top bit belongs to the fourth
  if (place == 0) return word % 256;
  if (place == 1) return word / 256 % 256;
  return word / 65536 % 256;
}

void set_character(int* text, int i, int character) {
  int unit;
  int place;

  unit = 1;
  place = i % 4;
  while (place > 0) {
    unit = unit * 256;
    place = place - 1;
  }
  *(text + i / 4) = *(text + i / 4) + (character - character_of(text, i)) * unit;
}

void flush() {
  int done;
  int i;

  if (out_length > 0) *(out_buffer + out_length / 4) = out_word;
  while (out_length > 0) {
    done = write(out_descriptor, out_buffer, out_length);
    if (done <= 0) {
      write(2, "selfie: the output could not be written\n", 40);
      exit(4);
    }
    out_length = out_length - done;
    i = 0;
    while (i < out_length) {  // what is left comes first
      set_character(out_buffer, i, character_of(out_buffer, done + i));
      i = i + 1;
    }
  }
  out_word = 0;
  out_unit = 1;
}

void put(int character) {
  out_word = out_word + character * out_unit;
  out_length = out_length + 1;
  if (out_length % 4 == 0) {
    *(out_buffer + out_length / 4 - 1) = out_word;
    out_word = 0;
    out_unit = 1;
    if (out_length == out_limit) flush();
  } else out_unit = out_unit * 256;
}

// From here on output goes there; the descriptor so far.
int put_to(int descriptor) {
  int before;

  before = out_descriptor;
  if (before != descriptor) {
    flush();
    out_descriptor = descriptor;
  }
  return before;
}

void put_text(int* text) {
  int i;
  int c;

  i = 0;
  c = character_of(text, 0);
  while (c != 0) {
    put(c);
    i = i + 1;
    c = character_of(text, i);
  }
}

void put_line(int* text) {
  put_text(text);
  put('\n');
}

void put_number(int n) {
  int unit;

  if (n == smallest) {
    put_text("-2147483648");
    return;
  }
  if (n < 0) {
    put('-');
    n = -n;
  }
  unit = 1;
  while (n / unit >= 10) unit = unit * 10;
  while (unit > 0) {
    put('0' + n / unit % 10);
    unit = unit / 10;
  }
}

// "1 line", "2 lines".
void put_count(int n, int* what) {
  put_number(n);
  put_text(what);
  if (n != 1) put('s');
}

// Right-aligned.
void put_wide(int n, int width) {
  int digits;
  int rest;

  digits = 1;
  if (n < 0) digits = 2;
  rest = n / 10;
  while (rest != 0) {
    digits = digits + 1;
    rest = rest / 10;
  }
  while (digits < width) {
    put(' ');
    width = width - 1;
  }
  put_number(n);
}

void put_hex(int n) {
  int i;
  int digit;
  int top;

  top = 0;
  if (n < 0) {
    n = n - smallest;
    top = 8;
  }
  put_text("0x");
  i = 268435456;
  while (i > 0) {
    digit = n / i % 16 + top;
    top = 0;
    if (digit < 10) put('0' + digit);
    else put('A' + digit - 10);
    i = i / 16;
  }
}

// Ends the program: everything is written, and the status says whether it went well.
void stop(int status) {
  flush();
  exit(status);
}

// Statuses: 1 an error in the program that was read, 2 a wrong command line, 3 a machine that cannot go on, 4 no output.
void fail(int status, int* text) {
  put_to(2);
  put_text("selfie: ");
  put_line(text);
  stop(status);
}

int* allocate(int words) {
  int* block;

  block = malloc(words * 4);
  if (block == 0) {
    put_to(2);
    put_text("selfie: out of memory: no room for ");
    put_number(words * 4);
    put_line(" bytes more");
    stop(3);
  }
  return block;
}

void clear(int* block, int words) {
  int i;

  i = 0;
  while (i < words) {
    *(block + i) = 0;
    i = i + 1;
  }
}

int* allocate_clear(int words) {
  int* block;

  block = allocate(words);
  clear(block, words);
  return block;
}

int length_of(int* text) {
  int n;

  n = 0;
  while (character_of(text, n) != 0) n = n + 1;
  return n;
}

int same_text(int* a, int* b) {
  int i;
  int c;

  i = 0;
  c = character_of(a, 0);
  while (c == character_of(b, i)) {
    if (c == 0) return 1;
    i = i + 1;
    c = character_of(a, i);
  }
  return 0;
}

// A whole number at position i, -1 if there is none.
int number_in(int* text, int i) {
  int n;
  int c;

  n = -1;
  c = character_of(text, i);
  while (c >= '0') {
    if (c > '9') return n;
    if (n < 0) n = 0;
    if (n > 214748364) return -1;
    n = n * 10 + c - '0';
    if (n < 0) return -1;
    i = i + 1;
    c = character_of(text, i);
  }
  return n;
}

// What is a whole number and nothing else; -1 if it is not.
int number_of(int* text) {
  int i;

  i = 0;
  while (character_of(text, i) != 0) {
    if (character_of(text, i) < '0') return -1;
    if (character_of(text, i) > '9') return -1;
    i = i + 1;
  }
  return number_in(text, 0);
}

void start_library() {
  smallest = -2147483647 - 1;
  out_buffer = allocate(out_limit / 4 + 1);
  reading = allocate_clear(1024);
}

// ---- files of source text -------------------------------------------------------------------------------------------

// Every file that was read, one character a word, one file after the other, each with a 0 behind it.
int* source;
int source_length = 0;
int source_limit = 1000000;

int file_limit = 64;
int files = 0;
int* file_name;    // its name in `names`, where there is room for more than identifiers
int* file_source;  // where it begins in source, -1: not read
int* file_lines;   // where its lines begin in line_begin
int* file_length;  // how many lines

int* line_begin;
int lines = 0;
int line_limit = 40000;

// Names of symbols and files: one character a word, 0 behind each; two are the same if their numbers are.
int* name_text;
int name_text_length = 0;
int name_text_limit = 120000;
int* name_begin;
int* name_next;  // the next of the same hash
int* name_first;
int names = 0;
int name_limit = 8000;
int name_buckets = 4096;

int* word_text;  // the name, number or string that is being read, one character a word
int word_length = 0;
int word_limit = 4096;

int intern() {
  int hash;
  int i;
  int n;
  int* text;

  *(word_text + word_length) = 0;
  hash = 0;
  i = 0;
  while (i < word_length) {
    hash = (hash * 31 + *(word_text + i)) % 1000003;
    i = i + 1;
  }
  hash = hash % name_buckets;
  n = *(name_first + hash);
  while (n >= 0) {
    text = name_text + *(name_begin + n);
    i = 0;
    while (*(text + i) == *(word_text + i)) {
      if (*(text + i) == 0) return n;
      i = i + 1;
    }
    n = *(name_next + n);
  }
  if (names == name_limit) fail(1, "too many names");
  if (name_text_length + word_length + 1 > name_text_limit) fail(1, "too many names");
  n = names;
  names = names + 1;
  *(name_begin + n) = name_text_length;
  *(name_next + n) = *(name_first + hash);
  *(name_first + hash) = n;
  i = 0;
  while (i <= word_length) {
    *(name_text + name_text_length) = *(word_text + i);
    name_text_length = name_text_length + 1;
    i = i + 1;
  }
  return n;
}

int intern_text(int* text) {
  word_length = 0;
  while (character_of(text, word_length) != 0) {
    if (word_length == word_limit - 1) fail(2, "a name is too long");
    *(word_text + word_length) = character_of(text, word_length);
    word_length = word_length + 1;
  }
  return intern();
}

void put_name(int name) {
  int* text;

  text = name_text + *(name_begin + name);
  while (*text != 0) {
    put(*text);
    text = text + 1;
  }
}

int name_length(int name) {
  int n;

  n = 0;
  while (*(name_text + *(name_begin + name) + n) != 0) n = n + 1;
  return n;
}

// Packed, as the library wants it.
int* packed_name(int name) {
  int* text;
  int n;
  int i;

  n = name_length(name);
  text = allocate_clear(n / 4 + 1);
  i = 0;
  while (i < n) {
    set_character(text, i, *(name_text + *(name_begin + name) + i));
    i = i + 1;
  }
  return text;
}

void start_files() {
  int i;

  source = allocate(source_limit + 1);
  file_name = allocate(file_limit);
  file_source = allocate(file_limit);
  file_lines = allocate(file_limit);
  file_length = allocate(file_limit);
  line_begin = allocate(line_limit);
  name_text = allocate(name_text_limit);
  name_begin = allocate(name_limit);
  name_next = allocate(name_limit);
  name_first = allocate(name_buckets);
  word_text = allocate(word_limit + 1);
  i = 0;
  while (i < name_buckets) {
    *(name_first + i) = -1;
    i = i + 1;
  }
}

int new_file(int name) {
  if (files == file_limit) fail(1, "too many files");
  *(file_name + files) = name;
  *(file_source + files) = -1;
  *(file_lines + files) = 0;
  *(file_length + files) = 0;
  files = files + 1;
  return files - 1;
}

// Reads the text of a file; 0 if it cannot be read.
int read_source(int file) {
  int descriptor;
  int got;
  int i;
  int c;

  if (*(file_source + file) >= 0) return 1;
  descriptor = open(packed_name(*(file_name + file)), 0, 0);
  if (descriptor < 0) return 0;
  if (lines == line_limit) fail(1, "too many lines of source text");
  if (source_length > source_limit) fail(1, "too much source text");
  *(file_source + file) = source_length;
  *(file_lines + file) = lines;
  *(line_begin + lines) = source_length;
  lines = lines + 1;
  got = read(descriptor, reading, 4096);
  if (got < 0) return 0;
  while (got > 0) {
    i = 0;
    while (i < got) {
      c = character_of(reading, i);
      if (source_length >= source_limit) fail(1, "too much source text");
      if (c == 0) c = 1;  // 0 is the end
      *(source + source_length) = c;
      source_length = source_length + 1;
      if (c == '\n') {
        if (lines == line_limit) fail(1, "too many lines of source text");
        *(line_begin + lines) = source_length;
        lines = lines + 1;
      }
      i = i + 1;
    }
    got = read(descriptor, reading, 4096);
  }
  *(source + source_length) = 0;
  source_length = source_length + 1;
  *(file_length + file) = lines - *(file_lines + file);
  return 1;
}

// The text of a line without its indentation, up to the next line; 0 if the file cannot be read (any more) or is shorter now.
int* source_line(int file, int line) {
  int* text;

  if (read_source(file) == 0) return 0;
  if (line < 1) return 0;
  if (line > *(file_length + file)) return 0;
  text = source + *(line_begin + *(file_lines + file) + line - 1);
  while (*text == ' ') text = text + 1;
  while (*text == '\t') text = text + 1;
  return text;
}

void put_source_line(int file, int line) {
  int* text;

  text = source_line(file, line);
  if (text == 0) return;
  while (*text != '\n') {
    if (*text == 0) return;
    put(*text);
    text = text + 1;
  }
}

void put_place(int file, int line) {
  put_name(*(file_name + file));
  put(':');
  put_number(line);
}

// ---- scanner: characters to tokens ----------------------------------------------------------------------------------

int END_OF_FILE = 0;
int NAME = 1;
int NUMBER = 2;
int STRING = 3;
int LEFT = 4;
int RIGHT = 5;
int LEFT_BRACE = 6;
int RIGHT_BRACE = 7;
int SEMICOLON = 8;
int COMMA = 9;
int ASSIGN = 10;
int EQUAL = 11;
int UNEQUAL = 12;
int LESS = 13;
int LESS_EQUAL = 14;
int GREATER = 15;
int GREATER_EQUAL = 16;
int PLUS = 17;
int MINUS = 18;
int STAR = 19;
int SLASH = 20;
int PERCENT = 21;
int INT = 22;  // the keywords, in the order of their names
int VOID = 23;
int WHILE = 24;
int IF = 25;
int ELSE = 26;
int RETURN = 27;
int FOREIGN = 28;  // a word or sign of C that is none of C*; the scanner has said so

int scanned_file = 0;
int position = 0;  // in source: the next character
int line = 1;

int token = 0;
int token_line = 1;
int token_begin = 0;  // in source
int token_value = 0;  // of a name its number, of a number its value
int previous_line = 1;
int previous_begin = -1;  // -1: there is none before

int errors = 0;
int last_error = -2;  // where in source the last error was reported: one for each token; -2: there is none

int first_keyword = 0;  // names of keywords are consecutive
int first_foreign = 0;
int last_foreign = 0;

void begin_error(int file, int at_line) {
  errors = errors + 1;
  put_to(2);
  put_place(file, at_line);
  put_text(": ");
}

void end_error() {
  put('\n');
  put_to(1);
}

void stop_for_errors() {
  put_to(2);
  put_text("selfie: ");
  put_count(errors, " error");
  put('\n');
  stop(1);
}

void error_here(int* text) {
  if (last_error != token_begin) {
    last_error = token_begin;
    begin_error(scanned_file, token_line);
    put_text(text);
    end_error();
  }
}

void put_token(int which) {
  if (which == END_OF_FILE) put_text("the end of the file");
  else if (which == NAME) put_text("a name");
  else if (which == NUMBER) put_text("a number");
  else if (which == STRING) put_text("a string");
  else {
    put(39);
    if (which == LEFT) put('(');
    else if (which == RIGHT) put(')');
    else if (which == LEFT_BRACE) put('{');
    else if (which == RIGHT_BRACE) put('}');
    else if (which == SEMICOLON) put(';');
    else if (which == COMMA) put(',');
    else if (which == ASSIGN) put('=');
    else if (which == EQUAL) put_text("==");
    else if (which == UNEQUAL) put_text("!=");
    else if (which == LESS) put('<');
    else if (which == LESS_EQUAL) put_text("<=");
    else if (which == GREATER) put('>');
    else if (which == GREATER_EQUAL) put_text(">=");
    else if (which == PLUS) put('+');
    else if (which == MINUS) put('-');
    else if (which == STAR) put('*');
    else if (which == SLASH) put('/');
    else if (which == PERCENT) put('%');
    else if (which >= INT) put_name(first_keyword + which - INT);
    put(39);
  }
}

// What stands where something else was expected.
void put_found() {
  if (token == NAME) {
    put(39);
    put_name(token_value);
    put(39);
  } else if (token == NUMBER) put_number(token_value);
  else put_token(token);
}

// One error for a token, in the words "expected …, found …". A missing end is reported where it should have been.
void expected(int* what, int which) {
  int at;

  if (token == FOREIGN) return;
  if (last_error == token_begin) return;
  if (last_error == previous_begin) {  // what follows a mistake is no second one
    last_error = token_begin;
    return;
  }
  last_error = token_begin;
  at = token_line;
  if (which == SEMICOLON) at = previous_line;
  if (which == RIGHT) at = previous_line;
  begin_error(scanned_file, at);
  put_text("expected ");
  if (which >= 0) put_token(which);
  else put_text(what);
  put_text(", found ");
  put_found();
  end_error();
}

int is_letter(int c) {
  if (c >= 'a')
    if (c <= 'z') return 1;
  if (c >= 'A')
    if (c <= 'Z') return 1;
  return c == '_';
}

int is_digit(int c) {
  if (c >= '0')
    if (c <= '9') return 1;
  return 0;
}

int skip_line() {
  while (*(source + position) != '\n') {
    if (*(source + position) == 0) return 0;
    position = position + 1;
  }
  return 1;
}

// Blanks and comments. 0 at the end.
int skip_blanks() {
  int c;
  int open_line;
  int open_at;

  while (1) {
    c = *(source + position);
    if (c == '\n') {
      line = line + 1;
      position = position + 1;
    } else if (c == ' ') position = position + 1;
    else if (c == '\t') position = position + 1;
    else if (c == 13) position = position + 1;
    else if (c == '/') {
      c = *(source + position + 1);
      if (c == '/') skip_line();
      else if (c == '*') {
        open_line = line;
        open_at = position;
        position = position + 2;
        c = 1;
        while (c) {
          c = *(source + position);
          if (c == 0) {
            begin_error(scanned_file, open_line);
            put_text("expected '*/', found the end of the file: this comment has no end");
            end_error();
            last_error = position;
          } else {
            if (c == '\n') line = line + 1;
            if (c == '*')
              if (*(source + position + 1) == '/') {
                position = position + 1;
                c = 0;
              }
            position = position + 1;
          }
        }
      } else return 1;
    } else return c;
  }
}

// After a backslash; -1 if there is no such character.
int escaped(int c) {
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  if (c == '0') return 0;
  if (c == '\\') return c;
  if (c == 39) return c;
  if (c == '"') return c;
  return -1;
}

void foreign(int* what) {
  token = FOREIGN;
  error_here(what);
}

void scan_name() {
  int n;

  word_length = 0;
  n = *(source + position);
  while (is_letter(n) + is_digit(n)) {
    if (word_length < word_limit) {
      *(word_text + word_length) = n;
      word_length = word_length + 1;
    } else error_here("expected a name of at most 4096 characters");
    position = position + 1;
    n = *(source + position);
  }
  token_value = intern();
  token = NAME;
  if (token_value >= first_keyword) {
    if (token_value < first_foreign) token = INT + token_value - first_keyword;
    else if (token_value < last_foreign) {
      token = FOREIGN;
      if (last_error != token_begin) {
        last_error = token_begin;
        begin_error(scanned_file, line);
        put_text("C* has no '");
        put_name(token_value);
        put_text("': its statements are assignment, while, if, return and call, its types int and int*");
        end_error();
      }
    }
  }
}

void scan_number() {
  int digit;
  int big;

  token = NUMBER;
  token_value = 0;
  big = 0;
  if (*(source + position) == '0')
    if (is_digit(*(source + position + 1))) error_here("expected a decimal number, found a 0 before its digits");
  while (is_digit(*(source + position))) {
    digit = *(source + position) - '0';
    if (token_value > 214748364) big = 1;
    else if (token_value == 214748364)
      if (digit > 7) big = 1;
    token_value = token_value * 10 + digit;
    position = position + 1;
  }
  if (big) {
    error_here("expected a number of at most 2147483647");
    token_value = 0;
  }
  if (is_letter(*(source + position))) {
    error_here("expected a decimal number, found a letter in it");
    while (is_letter(*(source + position)) + is_digit(*(source + position))) position = position + 1;
  }
}

int ends_line(int c) { return (c == '\n') + (c == 0); }

// What a backslash and the next character mean; the end of a line or of the file is no such character, and not passed.
int scan_escaped() {
  int c;

  c = *(source + position);
  if (ends_line(c) == 0) position = position + 1;
  c = escaped(c);
  if (c >= 0) return c;
  error_here("expected one of n t 0 \\ ' \" after the backslash");
  return 0;
}

void scan_character() {
  int c;

  token = NUMBER;
  token_value = 0;
  position = position + 1;
  c = *(source + position);
  if ((c == 39) + ends_line(c)) {
    error_here("expected a character between the quotes");
    if (c == 39) position = position + 1;
    return;
  }
  position = position + 1;
  if (c == '\\') c = scan_escaped();
  token_value = c;
  if (*(source + position) == 39) position = position + 1;
  else {
    error_here("expected ' after the character");
    c = position;
    while (*(source + c) != 39) {
      if (ends_line(*(source + c))) return;
      c = c + 1;
    }
    position = c + 1;
  }
}

void scan_string() {
  int c;
  int more;

  token = STRING;
  word_length = 0;
  position = position + 1;
  more = 1;
  while (more) {
    c = *(source + position);
    if (c == '"') {
      position = position + 1;
      more = 0;
    } else if (c == '\n') {
      error_here("expected \" before the end of the line");
      more = 0;
    } else if (c == 0) {
      error_here("expected \" before the end of the file");
      more = 0;
    } else {
      position = position + 1;
      if (c == '\\') c = scan_escaped();
      if (word_length == word_limit) error_here("expected a string of at most 4096 characters");
      else {
        *(word_text + word_length) = c;
        word_length = word_length + 1;
      }
    }
  }
}

// One or two characters; the second only if it is '='.
void scan_sign(int alone, int with_equal) {
  token = alone;
  position = position + 1;
  if (with_equal >= 0)
    if (*(source + position) == '=') {
      token = with_equal;
      position = position + 1;
    }
}

// += and ++ and the like begin as signs of C* do.
void no_combination(int c) {
  int d;

  d = *(source + position);
  if (d == '=') {
    position = position + 1;
    foreign("C* has no assignment that calculates: write x = x + 1");
  } else if (d == c)
    if (c != '*') {
      position = position + 1;
      foreign("C* has no ++ and no --: write x = x + 1");
    }
}

void next_token() {
  int c;

  previous_line = token_line;
  previous_begin = token_begin;
  c = skip_blanks();
  token_line = line;
  token_begin = position;
  if (c == 0) {
    token = END_OF_FILE;
    return;
  }
  c = *(source + position);
  if (is_letter(c)) scan_name();
  else if (is_digit(c)) scan_number();
  else if (c == 39) scan_character();
  else if (c == '"') scan_string();
  else if (c == '(') scan_sign(LEFT, -1);
  else if (c == ')') scan_sign(RIGHT, -1);
  else if (c == '{') scan_sign(LEFT_BRACE, -1);
  else if (c == '}') scan_sign(RIGHT_BRACE, -1);
  else if (c == ';') scan_sign(SEMICOLON, -1);
  else if (c == ',') scan_sign(COMMA, -1);
  else if (c == '=') scan_sign(ASSIGN, EQUAL);
  else if (c == '<') scan_sign(LESS, LESS_EQUAL);
  else if (c == '>') scan_sign(GREATER, GREATER_EQUAL);
  else if (c == '+') {
    scan_sign(PLUS, -1);
    no_combination(c);
  } else if (c == '-') {
    scan_sign(MINUS, -1);
    no_combination(c);
  } else if (c == '*') {
    scan_sign(STAR, -1);
    no_combination(c);
  } else if (c == '/') scan_sign(SLASH, -1);
  else if (c == '%') scan_sign(PERCENT, -1);
  else if (c == '!') {
    scan_sign(FOREIGN, UNEQUAL);
    if (token == FOREIGN) error_here("C* has no Boolean operators: compare with 0");
  } else {
    position = position + 1;
    if (c == '&') {
      if (*(source + position) == '&') {
        position = position + 1;
        foreign("C* has no Boolean operators: nest one if in another");
      } else foreign("C* has no bitwise operators, and no address-of");
    } else if (c == '|') {
      if (*(source + position) == '|') {
        position = position + 1;
        foreign("C* has no Boolean operators: write one if after the other");
      } else foreign("C* has no bitwise operators: use * / %");
    } else if (c == '^') foreign("C* has no bitwise operators: use * / %");
    else if (c == '~') foreign("C* has no bitwise operators: use * / %");
    else if (c == '[') foreign("C* has no arrays: write *(a + i)");
    else if (c == ']') foreign("C* has no arrays: write *(a + i)");
    else if (c == '.') foreign("C* has no data structures");
    else if (c == '#') foreign("C* has no preprocessor");
    else if (c == '?') foreign("C* has no conditional expression: use if and else");
    else foreign("C* has no such character");
    if (c == '#') skip_line();
  }
}

void begin_scanning(int file) {
  scanned_file = file;
  position = *(file_source + file);
  line = 1;
  token_line = 1;
  previous_line = 1;
  token_begin = -1;
  next_token();
}

void start_scanner() {
  first_keyword = intern_text("int");
  intern_text("void");
  intern_text("while");
  intern_text("if");
  intern_text("else");
  intern_text("return");
  first_foreign = intern_text("for");
  intern_text("do");
  intern_text("switch");
  intern_text("case");
  intern_text("default");
  intern_text("break");
  intern_text("continue");
  intern_text("goto");
  intern_text("struct");
  intern_text("union");
  intern_text("enum");
  intern_text("typedef");
  intern_text("sizeof");
  intern_text("char");
  intern_text("short");
  intern_text("long");
  intern_text("float");
  intern_text("double");
  intern_text("signed");
  intern_text("unsigned");
  intern_text("const");
  intern_text("volatile");
  intern_text("static");
  intern_text("extern");
  intern_text("register");
  last_foreign = intern_text("auto") + 1;
}

// ---- symbols: what names mean ---------------------------------------------------------------------------------------

int GLOBAL = 1;  // kinds
int PROCEDURE = 2;
int LOCAL = 3;

int ANY = 0;  // types; ANY after an error, so that one mistake is one message
int INTEGER = 1;
int POINTER = 2;
int NOTHING = 3;  // void
int ZERO = 4;     // the literal 0, which may be an int and a pointer to nothing

int DECLARED = 0;  // states of a procedure
int DEFINED = 1;
int LIBRARY = 2;

int* symbol_name;
int* symbol_kind;
int* symbol_type;
int* symbol_place;  // offset of a variable from $gp or $fp in bytes; address of a procedure
int* symbol_state;
int* symbol_arguments;  // how many
int* symbol_first;      // where their types are in argument_type
int* symbol_file;
int* symbol_line;
int* symbol_called;
int symbols = 0;
int symbol_limit = 6000;
int first_local = 0;  // symbols behind are locals

int* global_symbol;  // of a name, -1 without
int* local_symbol;

int* argument_type;
int argument_types = 0;
int argument_type_limit = 12000;

int* global_value;  // what a global variable begins with
int global_count = 0;
int global_limit = 8000;  // $gp reaches so far

int new_symbol(int name, int kind, int type, int place) {
  if (symbols == symbol_limit) fail(1, "too many symbols");
  *(symbol_name + symbols) = name;
  *(symbol_kind + symbols) = kind;
  *(symbol_type + symbols) = type;
  *(symbol_place + symbols) = place;
  *(symbol_state + symbols) = DECLARED;
  *(symbol_arguments + symbols) = 0;
  *(symbol_first + symbols) = argument_types;
  *(symbol_file + symbols) = scanned_file;
  *(symbol_line + symbols) = token_line;
  *(symbol_called + symbols) = 0;
  symbols = symbols + 1;
  return symbols - 1;
}

void new_argument_type(int type) {
  if (argument_types == argument_type_limit) fail(1, "too many parameters");
  *(argument_type + argument_types) = type;
  argument_types = argument_types + 1;
}

int symbol_of(int name) {
  if (*(local_symbol + name) >= 0) return *(local_symbol + name);
  return *(global_symbol + name);
}

int procedure_named(int* text) {
  int symbol;

  symbol = *(global_symbol + intern_text(text));
  if (symbol >= 0)
    if (*(symbol_kind + symbol) == PROCEDURE)
      if (*(symbol_state + symbol) != DECLARED) return symbol;
  return -1;
}

void start_symbols() {
  int i;

  symbol_name = allocate(symbol_limit);
  symbol_kind = allocate(symbol_limit);
  symbol_type = allocate(symbol_limit);
  symbol_place = allocate(symbol_limit);
  symbol_state = allocate(symbol_limit);
  symbol_arguments = allocate(symbol_limit);
  symbol_first = allocate(symbol_limit);
  symbol_file = allocate(symbol_limit);
  symbol_line = allocate(symbol_limit);
  symbol_called = allocate(symbol_limit);
  global_symbol = allocate(name_limit);
  local_symbol = allocate(name_limit);
  argument_type = allocate(argument_type_limit);
  global_value = allocate(global_limit);
  i = 0;
  while (i < name_limit) {
    *(global_symbol + i) = -1;
    *(local_symbol + i) = -1;
    i = i + 1;
  }
}

// ---- code: the 17 instructions of MIPSter, as MIPS32 encodes them -----------------------------------------------------
//
//   register    0       rs rt rd 0 function    nop syscall jr mfhi mflo multu divu addu subu slt
//   immediate   op      rs rt immediate        beq bne addiu lw sw
//   jump        op      target / 4             j jal
//
// As MIPS I wants it a nop stands behind every jump and branch, and two behind mflo and mfhi.

int OP_J = 2;
int OP_JAL = 3;
int OP_BEQ = 4;
int OP_BNE = 5;
int OP_ADDIU = 9;
int OP_LW = 35;
int OP_SW = 43;

int F_NOP = 0;
int F_JR = 8;
int F_SYSCALL = 12;
int F_MFHI = 16;
int F_MFLO = 18;
int F_MULTU = 25;
int F_DIVU = 27;
int F_ADDU = 33;
int F_SUBU = 35;
int F_SLT = 42;

int R_ZERO = 0;
int R_V0 = 2;
int R_A0 = 4;
int R_T0 = 8;
int R_T8 = 24;  // calculations within one operation
int R_T9 = 25;
int R_GP = 28;
int R_SP = 29;
int R_FP = 30;
int R_RA = 31;

int* code;
int* code_place;  // where in the source: file * 65536 + line
int code_count = 0;
int code_limit = 120000;
int statement_line = 1;

int* data;  // packed strings
int data_count = 0;
int data_limit = 60000;

int* call_place;  // jal whose target is known when all is compiled
int* call_symbol;
int calls = 0;
int call_limit = 20000;

int has_code = 0;      // a program was compiled or loaded
int main_address = 0;  // 0: it has no main
int data_begin = 0;    // address of the first global variable

int here() { return code_count * 4; }

void emit(int word) {
  if (code_count == code_limit) fail(1, "the program is too long");
  *(code + code_count) = word;
  *(code_place + code_count) = scanned_file * 65536 + statement_line;
  code_count = code_count + 1;
}

int immediate_word(int op, int rs, int rt, int immediate) {
  if (immediate < 0) immediate = immediate + 65536;
  return op * 67108864 + rs * 2097152 + rt * 65536 + immediate;
}

void emit_immediate(int op, int rs, int rt, int immediate) {
  if (immediate < -32768) error_here("this offset is too far for one instruction");
  if (immediate > 32767) error_here("this offset is too far for one instruction");
  emit(immediate_word(op, rs, rt, immediate));
}

void emit_register(int function, int rs, int rt, int rd) { emit(rs * 2097152 + rt * 65536 + rd * 2048 + function); }

void emit_nop() { emit(0); }

void emit_jump(int op, int target) {
  emit(op * 67108864 + target / 4);
  emit_nop();
}

// A branch forward; returns where, for land().
int emit_branch(int op, int rs, int rt) {
  emit_immediate(op, rs, rt, 0);
  emit_nop();
  return code_count - 2;
}

void land(int branch) {
  int distance;

  distance = code_count - branch - 1;
  if (distance > 32767) error_here("this statement is too long for a branch");
  *(code + branch) = *(code + branch) + distance;
}

// lo or hi, with the two instructions that may not follow.
void emit_from(int function, int rd) {
  emit_register(function, R_ZERO, R_ZERO, rd);
  emit_nop();
  emit_nop();
}

void start_code() {
  code = allocate(code_limit);
  code_place = allocate(code_limit);
  data = allocate(data_limit);
  call_place = allocate(call_limit);
  call_symbol = allocate(call_limit);
}

// Temporaries $t0 to $t7 are a stack: the value of an expression is in the topmost.
int depth = 0;

int top() { return R_T0 + depth - 1; }

int below() { return R_T0 + depth - 2; }

int push() {
  if (depth == 8) {
    error_here("this expression is too deep: calculate a part of it before");
    return R_T0 + 7;
  }
  depth = depth + 1;
  return top();
}

void pop() {
  if (depth > 0) depth = depth - 1;
}

// There is no instruction for a constant of more than 16 bits.
void emit_constant(int rd, int value) {
  if (value >= -32768)
    if (value <= 32767) {
      emit_immediate(OP_ADDIU, R_ZERO, rd, value);
      return;
    }
  emit_constant(rd, value / 16384);
  emit_immediate(OP_ADDIU, R_ZERO, R_T8, 16384);
  emit_register(F_MULTU, rd, R_T8, R_ZERO);
  emit_from(F_MFLO, rd);
  if (value % 16384 != 0) emit_immediate(OP_ADDIU, rd, rd, value % 16384);
}

// An address that is known when all is compiled: below 2^29.
void emit_address(int rd) {
  emit_immediate(OP_ADDIU, R_ZERO, rd, 0);
  emit_immediate(OP_ADDIU, R_ZERO, R_T8, 16384);
  emit_register(F_MULTU, rd, R_T8, R_ZERO);
  emit_from(F_MFLO, rd);
  emit_immediate(OP_ADDIU, rd, rd, 0);
}

void set_address(int at, int value) {
  *(code + at) = *(code + at) + value / 16384;
  *(code + at + 6) = *(code + at + 6) + value % 16384;
}

// a * b, a / b, a % b into a. divu knows no signs: C's quotient is truncated, its remainder has the sign of a.
void emit_multiply(int a, int b) {
  emit_register(F_MULTU, a, b, R_ZERO);
  emit_from(F_MFLO, a);
}

void emit_divide(int a, int b, int remainder) {
  int skip;

  emit_register(F_SLT, a, R_ZERO, R_T8);
  skip = emit_branch(OP_BEQ, R_T8, R_ZERO);
  emit_register(F_SUBU, R_ZERO, a, a);
  land(skip);
  emit_register(F_SLT, b, R_ZERO, R_T9);
  skip = emit_branch(OP_BEQ, R_T9, R_ZERO);
  emit_register(F_SUBU, R_ZERO, b, b);
  land(skip);
  emit_register(F_DIVU, a, b, R_ZERO);
  if (remainder) {
    emit_from(F_MFHI, a);
    skip = emit_branch(OP_BEQ, R_T8, R_ZERO);
  } else {
    emit_from(F_MFLO, a);
    skip = emit_branch(OP_BEQ, R_T8, R_T9);
  }
  emit_register(F_SUBU, R_ZERO, a, a);
  land(skip);
}

// By a positive literal: its sign needs no look.
void emit_divide_positive(int a, int b, int remainder) {
  int skip;

  emit_register(F_SLT, a, R_ZERO, R_T8);
  skip = emit_branch(OP_BEQ, R_T8, R_ZERO);
  emit_register(F_SUBU, R_ZERO, a, a);
  land(skip);
  emit_register(F_DIVU, a, b, R_ZERO);
  if (remainder) emit_from(F_MFHI, a);
  else emit_from(F_MFLO, a);
  skip = emit_branch(OP_BEQ, R_T8, R_ZERO);
  emit_register(F_SUBU, R_ZERO, a, a);
  land(skip);
}

// ---- libcstar and the start of every program ------------------------------------------------------------------------

int CALL_EXIT = 4001;  // numbers of Linux on MIPS where there is one
int CALL_READ = 4003;
int CALL_WRITE = 4004;
int CALL_OPEN = 4005;
int CALL_MALLOC = 5001;
int CALL_RUN = 5002;
int CALL_SWAP = 5003;
int CALL_YIELD = 5004;
int CALL_ASSERT = 5005;
int CALL_INVOKE = 5006;
int CALL_RESPOND = 5007;

int stack_pointer_symbol = 0;  // compiled only where they are called
int globals_symbol = 0;
int globals_end_symbol = 0;
int unknown_symbol = 0;  // stands for all that was not declared

int library_symbol(int* name, int type, int arguments, int t0, int t1, int t2) {
  int symbol;
  int number;

  number = intern_text(name);
  symbol = new_symbol(number, PROCEDURE, type, here());
  *(symbol_state + symbol) = LIBRARY;
  *(symbol_arguments + symbol) = arguments;
  *(global_symbol + number) = symbol;
  if (arguments > 0) new_argument_type(t0);
  if (arguments > 1) new_argument_type(t1);
  if (arguments > 2) new_argument_type(t2);
  return symbol;
}

// A procedure that hands its arguments to a system call.
void library_call(int* name, int type, int arguments, int t0, int t1, int t2, int number) {
  int i;

  library_symbol(name, type, arguments, t0, t1, t2);
  i = 0;
  while (i < arguments) {
    emit_immediate(OP_LW, R_SP, R_A0 + i, 4 * i);
    i = i + 1;
  }
  emit_immediate(OP_ADDIU, R_ZERO, R_V0, number);
  emit_register(F_SYSCALL, R_ZERO, R_ZERO, R_ZERO);
  if (number != CALL_EXIT) {
    emit_register(F_JR, R_RA, R_ZERO, R_ZERO);
    emit_nop();
  }
}

// At address 0: $gp, then main(argc, argv), whose arguments the loader has put on the stack, then exit(its result).
void compile_start() {
  emit_address(R_GP);
  emit_jump(OP_JAL, 0);
  emit_immediate(OP_ADDIU, R_SP, R_SP, -4);
  emit_immediate(OP_SW, R_SP, R_V0, 0);
  library_call("exit", NOTHING, 1, INTEGER, 0, 0, CALL_EXIT);
  library_call("read", INTEGER, 3, INTEGER, POINTER, INTEGER, CALL_READ);
  library_call("write", INTEGER, 3, INTEGER, POINTER, INTEGER, CALL_WRITE);
  library_call("open", INTEGER, 3, POINTER, INTEGER, INTEGER, CALL_OPEN);
  library_call("malloc", POINTER, 1, INTEGER, 0, 0, CALL_MALLOC);
  library_call("hypster_run", INTEGER, 1, POINTER, 0, 0, CALL_RUN);
  library_call("compare_and_swap", INTEGER, 3, POINTER, INTEGER, INTEGER, CALL_SWAP);
  library_call("yield", NOTHING, 0, 0, 0, 0, CALL_YIELD);
  library_call("assert", NOTHING, 1, INTEGER, 0, 0, CALL_ASSERT);
  library_call("invoke", NOTHING, 2, INTEGER, INTEGER, 0, CALL_INVOKE);
  library_call("respond", NOTHING, 1, INTEGER, 0, 0, CALL_RESPOND);
  stack_pointer_symbol = library_symbol("stack_pointer", POINTER, 0, 0, 0, 0);
  globals_symbol = library_symbol("globals", POINTER, 0, 0, 0, 0);
  globals_end_symbol = library_symbol("globals_end", POINTER, 0, 0, 0, 0);
  *(symbol_place + stack_pointer_symbol) = -1;  // nowhere yet
  *(symbol_place + globals_symbol) = -1;
  *(symbol_place + globals_end_symbol) = -1;
}

// What a collector needs: where the stack ends, and where the global variables begin and end.
void compile_rest_of_library() {
  if (*(symbol_called + stack_pointer_symbol)) {
    *(symbol_place + stack_pointer_symbol) = here();
    emit_register(F_ADDU, R_ZERO, R_SP, R_V0);
    emit_register(F_JR, R_RA, R_ZERO, R_ZERO);
    emit_nop();
  }
  if (*(symbol_called + globals_symbol)) {
    *(symbol_place + globals_symbol) = here();
    emit_immediate(OP_ADDIU, R_GP, R_V0, -4 * global_count);
    emit_register(F_JR, R_RA, R_ZERO, R_ZERO);
    emit_nop();
  }
  if (*(symbol_called + globals_end_symbol)) {
    *(symbol_place + globals_end_symbol) = here();
    emit_register(F_ADDU, R_ZERO, R_GP, R_V0);
    emit_register(F_JR, R_RA, R_ZERO, R_ZERO);
    emit_nop();
  }
}

// ---- parser: one pass, one token ahead, code as it goes -------------------------------------------------------------
//
//   program    = { type name ( ";" | "=" [ "-" ] number ";" | "(" [ parameters ] ")" ( ";" | body ) ) } .
//   type       = "int" [ "*" ] | "void" .                       void: of procedures alone
//   parameters = type name { "," type name } .
//   body       = "{" { type name ";" } { statement } "}" .
//   statement  = name "=" expression ";" | "*" factor "=" expression ";" | call ";"
//              | "while" "(" expression ")" block | "if" "(" expression ")" block [ "else" block ]
//              | "return" [ expression ] ";" .
//   block      = statement | "{" { statement } "}" .
//   expression = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum ] .
//   sum        = product { ( "+" | "-" ) product } .
//   product    = factor { ( "*" | "/" | "%" ) factor } .
//   factor     = "(" type ")" factor | "(" expression ")" | "-" factor | "*" factor | number | string | name | call .
//   call       = name "(" [ expression { "," expression } ] ")" .
//
// A frame, from high to low: arguments (the first lowest), $ra, the caller's $fp (here $fp points), locals, temporaries.

int procedure = 0;  // whose body is being compiled
int literal = 0;    // value of the expression just compiled, if it was one number: see product()
int was_literal = 0;
int* return_place;  // jumps to the end of the procedure
int returns = 0;
int return_limit = 4000;

int must_be(int which) {
  if (token == which) {
    next_token();
    return 1;
  }
  expected("", which);
  return 0;
}

void put_type(int type) {
  if (type == INTEGER) put_text("int");
  else if (type == ZERO) put_text("int");
  else if (type == POINTER) put_text("int*");
  else put_text("void");
}

int fits(int wanted, int type) {
  if (wanted == type) return 1;
  if (wanted == ANY) return 1;
  if (type == ANY) return 1;
  if (type == ZERO) return wanted != NOTHING;
  if (wanted == ZERO) return type != NOTHING;
  return 0;
}

// `where` begins with a space.
void check_type(int wanted, int type, int* where) {
  if (fits(wanted, type)) return;
  begin_error(scanned_file, previous_line);
  put_text("expected ");
  put_type(wanted);
  put_text(", found ");
  put_type(type);
  put_text(where);
  end_error();
}

void about_name(int* before, int name, int* after) {
  begin_error(scanned_file, token_line);
  put_text(before);
  put(39);
  put_name(name);
  put(39);
  put_text(after);
  end_error();
}

// Whether a type begins here; then it is read. 0 if not.
int maybe_type() {
  if (token == VOID) {
    next_token();
    if (token == STAR) {
      error_here("C* has no void*: expected a name after 'void', found '*'");
      next_token();
      return POINTER;
    }
    return NOTHING;
  }
  if (token == INT) {
    next_token();
    if (token == STAR) {
      next_token();
      if (token == STAR) {
        error_here("C* has no pointers to pointers: expected a name after 'int*', found '*'");
        while (token == STAR) next_token();
      }
      return POINTER;
    }
    return INTEGER;
  }
  return 0;
}

void emit_string() {
  int offset;
  int i;
  int words;

  offset = data_count * 4;
  words = word_length / 4 + 1;
  if (data_count + words > data_limit) fail(1, "too many strings");
  clear(data + data_count, words);
  i = 0;
  while (i < word_length) {
    set_character(data + data_count, i, *(word_text + i));
    i = i + 1;
  }
  data_count = data_count + words;
  next_token();
  push();
  if (offset <= 32767) emit_immediate(OP_ADDIU, R_GP, top(), offset);
  else {
    emit_constant(top(), offset);
    emit_register(F_ADDU, top(), R_GP, top());
  }
}

int base_of(int symbol) {
  if (*(symbol_kind + symbol) == GLOBAL) return R_GP;
  return R_FP;
}

void emit_jal(int symbol) {
  if (calls == call_limit) fail(1, "too many calls");
  *(call_place + calls) = code_count;
  *(call_symbol + calls) = symbol;
  calls = calls + 1;
  *(symbol_called + symbol) = 1;
  emit_jump(OP_JAL, 0);
}

int expression();

// The arguments of a call and the call; the result is in $v0. Temporaries in use survive on the stack.
void call(int symbol, int name) {
  int saved;
  int count;
  int room;
  int i;
  int type;
  int first_line;
  int closed;

  first_line = token_line;
  saved = depth;
  if (saved > 0) {
    emit_immediate(OP_ADDIU, R_SP, R_SP, -4 * saved);
    i = 0;
    while (i < saved) {
      emit_immediate(OP_SW, R_SP, R_T0 + i, 4 * i);
      i = i + 1;
    }
  }
  depth = 0;
  count = 0;
  next_token();
  room = code_count;
  if (token != RIGHT) {
    emit_nop();  // becomes room for them all
    i = 1;
    while (i) {
      depth = 0;
      type = expression();
      if (symbol >= 0) {
        if (count < *(symbol_arguments + symbol))
          check_type(*(argument_type + *(symbol_first + symbol) + count), type, " as an argument");
      }
      if (depth > 0) emit_immediate(OP_SW, R_SP, top(), 4 * count);
      count = count + 1;
      i = 0;
      if (token == COMMA) {
        next_token();
        i = 1;
      }
    }
    *(code + room) = immediate_word(OP_ADDIU, R_SP, R_SP, -4 * count);
  }
  closed = must_be(RIGHT);
  depth = 0;
  if (symbol >= 0) {
    if ((count != *(symbol_arguments + symbol)) * closed) {
      begin_error(scanned_file, first_line);
      put_text("expected ");
      put_count(*(symbol_arguments + symbol), " argument");
      put_text(" of '");
      put_name(name);
      put_text("', found ");
      put_number(count);
      end_error();
    }
    emit_jal(symbol);
  }
  if (count > 0) emit_immediate(OP_ADDIU, R_SP, R_SP, 4 * count);
  if (saved > 0) {
    i = 0;
    while (i < saved) {
      emit_immediate(OP_LW, R_SP, R_T0 + i, 4 * i);
      i = i + 1;
    }
    emit_immediate(OP_ADDIU, R_SP, R_SP, 4 * saved);
  }
  depth = saved;
}

// The symbol of a procedure that is called; -1 after an error.
int called_procedure(int name) {
  int symbol;

  symbol = symbol_of(name);
  if (symbol < 0) about_name("expected a procedure that is declared before, found ", name, "");
  else if (*(symbol_kind + symbol) != PROCEDURE) {
    about_name("expected a procedure, found the variable ", name, "");
    return -1;
  }
  return symbol;
}

int called_variable(int name) {
  int symbol;

  symbol = symbol_of(name);
  if (symbol < 0) {
    about_name("expected a variable that is declared before, found ", name, "");
    symbol = unknown_symbol;  // once is enough: from now on it is known, as of any type
    *(global_symbol + name) = symbol;
  } else if (*(symbol_kind + symbol) == PROCEDURE) {
    about_name("expected a variable, found the procedure ", name, "");
    return -1;
  }
  return symbol;
}

int nesting = 0;
int nesting_limit = 1000;

// One level further in: each is some calls of the parser, and their room is limited.
void nest() {
  if (nesting == nesting_limit) {
    begin_error(scanned_file, token_line);
    put_text("expected at most ");
    put_number(nesting_limit);
    put_text(" levels of nesting, found more");
    end_error();
    stop_for_errors();
  }
  nesting = nesting + 1;
}

int factor();

int factor_within() {
  int type;
  int name;
  int symbol;

  was_literal = 0;
  if (token == NUMBER) {
    literal = token_value;
    next_token();
    emit_constant(push(), literal);
    was_literal = 1;
    if (literal == 0) return ZERO;
    return INTEGER;
  }
  if (token == NAME) {
    name = token_value;
    next_token();
    if (token == LEFT) {
      symbol = called_procedure(name);
      call(symbol, name);
      was_literal = 0;
      emit_register(F_ADDU, R_ZERO, R_V0, push());
      if (symbol < 0) return ANY;
      if (*(symbol_type + symbol) == NOTHING) {
        about_name("expected a value, found a call of the void procedure ", name, "");
        return ANY;
      }
      return *(symbol_type + symbol);
    }
    symbol = called_variable(name);
    push();
    if (symbol < 0) return ANY;
    emit_immediate(OP_LW, base_of(symbol), top(), *(symbol_place + symbol));
    return *(symbol_type + symbol);
  }
  if (token == STRING) {
    emit_string();
    return POINTER;
  }
  if (token == LEFT) {
    next_token();
    type = maybe_type();
    if (type) {
      must_be(RIGHT);
      if (type == NOTHING) {
        error_here("expected a cast to int or int*, found one to void");
        type = ANY;
      }
      if (factor() == NOTHING) type = ANY;
      was_literal = 0;
      return type;
    }
    type = expression();
    must_be(RIGHT);
    was_literal = 0;
    return type;
  }
  if (token == MINUS) {
    next_token();
    if (token == NUMBER) {
      literal = -token_value;
      next_token();
      emit_constant(push(), literal);
      was_literal = 1;
      return INTEGER;
    }
    type = factor();
    check_type(INTEGER, type, " after '-'");
    emit_register(F_SUBU, R_ZERO, top(), top());
    was_literal = 0;
    return INTEGER;
  }
  if (token == STAR) {
    next_token();
    type = factor();
    check_type(POINTER, type, " after '*'");
    emit_immediate(OP_LW, top(), top(), 0);
    was_literal = 0;
    return INTEGER;
  }
  expected("an expression", -1);
  push();
  if (token == FOREIGN) next_token();
  return ANY;
}

int factor() {
  int type;

  nest();
  type = factor_within();
  nesting = nesting - 1;
  return type;
}

int product() {
  int type;
  int right;
  int sign;

  type = factor();
  sign = token;
  while ((sign == STAR) + (sign == SLASH) + (sign == PERCENT)) {
    next_token();
    check_type(INTEGER, type, " before an operator for numbers");
    right = factor();
    check_type(INTEGER, right, " after an operator for numbers");
    if (depth > 1) {
      if (sign == STAR) emit_multiply(below(), top());
      else {
        if (was_literal * (literal > 0)) emit_divide_positive(below(), top(), sign == PERCENT);
        else emit_divide(below(), top(), sign == PERCENT);
        if (was_literal)
          if (literal == 0) error_here("expected a divisor, found 0");
      }
      pop();
    }
    type = INTEGER;
    was_literal = 0;
    sign = token;
  }
  return type;
}

// A pointer counts in ints: what is added to it is multiplied by 4.
void emit_scale(int rd) {
  int four;

  four = push();
  emit_immediate(OP_ADDIU, R_ZERO, four, 4);
  emit_register(F_MULTU, rd, four, R_ZERO);
  emit_from(F_MFLO, rd);
  pop();
}

int sum() {
  int type;
  int right;
  int sign;

  type = product();
  sign = token;
  while ((sign == PLUS) + (sign == MINUS)) {
    next_token();
    right = product();
    if (type == NOTHING) type = ANY;
    if (right == NOTHING) right = ANY;
    if (type == ZERO) type = INTEGER;
    if (right == ZERO) right = INTEGER;
    if (depth > 1) {
      if (sign == PLUS) {
        if (type == POINTER) {
          if (right == POINTER) check_type(INTEGER, right, " added to a pointer");
          emit_scale(top());
        } else if (right == POINTER) {
          emit_scale(below());
          type = POINTER;
        }
        emit_register(F_ADDU, below(), top(), below());
      } else if (type == POINTER) {
        if (right == POINTER) {
          emit_register(F_SUBU, below(), top(), below());
          emit_immediate(OP_ADDIU, R_ZERO, top(), 4);
          emit_divide_positive(below(), top(), 0);
          type = INTEGER;
        } else {
          emit_scale(top());
          emit_register(F_SUBU, below(), top(), below());
        }
      } else {
        check_type(type, right, " subtracted from a number");
        emit_register(F_SUBU, below(), top(), below());
      }
      pop();
    }
    was_literal = 0;
    sign = token;
  }
  return type;
}

int is_comparison() {
  if (token >= EQUAL) return token <= GREATER_EQUAL;
  return 0;
}

// The right side of a comparison; returns 0 if there is none.
void compared(int type) {
  int right;

  right = sum();
  check_type(type, right, " compared with another type");
}

int expression() {
  int type;
  int sign;
  int skip;
  int a;
  int b;

  type = sum();
  if (is_comparison() == 0) return type;
  sign = token;
  next_token();
  compared(type);
  was_literal = 0;
  if (depth < 2) return INTEGER;
  a = below();
  b = top();
  if (sign == LESS) emit_register(F_SLT, a, b, a);
  else if (sign == GREATER) emit_register(F_SLT, b, a, a);
  else if (sign == LESS_EQUAL) {
    emit_register(F_SLT, b, a, a);
    emit_immediate(OP_ADDIU, R_ZERO, b, 1);
    emit_register(F_SUBU, b, a, a);
  } else if (sign == GREATER_EQUAL) {
    emit_register(F_SLT, a, b, a);
    emit_immediate(OP_ADDIU, R_ZERO, b, 1);
    emit_register(F_SUBU, b, a, a);
  } else {
    // 1 and over the 0, or 0 and over the 1
    if (sign == EQUAL) skip = emit_branch(OP_BEQ, a, b);
    else skip = emit_branch(OP_BNE, a, b);
    emit_immediate(OP_ADDIU, R_ZERO, a, 0);
    emit_immediate(OP_BEQ, R_ZERO, R_ZERO, 2);
    emit_nop();
    land(skip);
    emit_immediate(OP_ADDIU, R_ZERO, a, 1);
  }
  pop();
  return INTEGER;
}

// A condition and a branch that leaves when it does not hold; returns where, for land().
int condition() {
  int type;
  int sign;
  int leave;
  int a;
  int b;

  must_be(LEFT);
  depth = 0;
  type = sum();
  if (is_comparison()) {
    sign = token;
    next_token();
    compared(type);
    a = R_T0;
    b = R_T0 + 1;
    if (sign == EQUAL) leave = emit_branch(OP_BNE, a, b);
    else if (sign == UNEQUAL) leave = emit_branch(OP_BEQ, a, b);
    else {
      if ((sign == LESS) + (sign == GREATER_EQUAL)) emit_register(F_SLT, a, b, a);
      else emit_register(F_SLT, b, a, a);
      if ((sign == LESS) + (sign == GREATER)) leave = emit_branch(OP_BEQ, a, R_ZERO);
      else leave = emit_branch(OP_BNE, a, R_ZERO);
    }
  } else {
    if (type == NOTHING) check_type(INTEGER, type, " as a condition");
    leave = emit_branch(OP_BEQ, R_T0, R_ZERO);
  }
  depth = 0;
  must_be(RIGHT);
  return leave;
}

int begins_statement() {
  if (token == NAME) return 1;
  if (token == STAR) return 1;
  if (token == WHILE) return 1;
  if (token == IF) return 1;
  return token == RETURN;
}

// After an error: on to where a statement may begin.
void skip_statement() {
  while (token != SEMICOLON) {
    if (token == RIGHT_BRACE) return;
    if (token == LEFT_BRACE) return;
    if (token == END_OF_FILE) return;
    if (token >= WHILE)
      if (token != FOREIGN) return;
    next_token();
  }
  next_token();
  previous_begin = -1;  // the next statement's mistakes are its own
}

void end_statement() {
  if (must_be(SEMICOLON)) return;
  // Forgotten at the end of a line, with a statement in the next? Then nothing else is wrong.
  if (token_line > previous_line)
    if (begins_statement() + (token == RIGHT_BRACE) + (token == INT)) return;
  skip_statement();
}

void statement();

void block() {
  nest();
  if (token == LEFT_BRACE) {
    next_token();
    while ((token != RIGHT_BRACE) * (token != END_OF_FILE)) statement();
    must_be(RIGHT_BRACE);
  } else statement();
  nesting = nesting - 1;
}

void while_statement() {
  int again;
  int leave;
  int at_line;

  at_line = token_line;
  again = here();
  next_token();
  leave = condition();
  block();
  statement_line = at_line;
  emit_jump(OP_J, again);
  land(leave);
}

void if_statement() {
  int otherwise;
  int end;

  next_token();
  otherwise = condition();
  block();
  if (token == ELSE) {
    end = emit_branch(OP_BEQ, R_ZERO, R_ZERO);
    land(otherwise);
    next_token();
    block();
    land(end);
  } else land(otherwise);
}

void return_statement() {
  int type;
  int wanted;

  wanted = *(symbol_type + procedure);
  next_token();
  if (token == SEMICOLON) {
    if (wanted != NOTHING) check_type(wanted, NOTHING, " returned");
  } else {
    type = expression();
    if (wanted == NOTHING) {
      if (type != ANY) {
        begin_error(scanned_file, previous_line);
        put_text("expected no value, found ");
        put_type(type);
        put_text(" returned from a void procedure");
        end_error();
      }
    } else check_type(wanted, type, " returned");
    if (depth > 0) emit_register(F_ADDU, R_ZERO, top(), R_V0);
  }
  if (returns == return_limit) fail(1, "too many return statements in one procedure");
  *(return_place + returns) = emit_branch(OP_BEQ, R_ZERO, R_ZERO);
  returns = returns + 1;
  end_statement();
}

void name_statement() {
  int name;
  int symbol;
  int type;

  name = token_value;
  next_token();
  if (token == LEFT) {
    symbol = called_procedure(name);
    call(symbol, name);
    end_statement();
  } else if (token == ASSIGN) {
    symbol = called_variable(name);
    next_token();
    type = expression();
    if (symbol >= 0) {
      check_type(*(symbol_type + symbol), type, " assigned");
      if (depth > 0) emit_immediate(OP_SW, base_of(symbol), top(), *(symbol_place + symbol));
    }
    end_statement();
  } else {
    expected("'=' or '('", -1);
    skip_statement();
  }
}

void statement() {
  int type;
  int begun;

  depth = 0;
  statement_line = token_line;
  begun = token_begin;
  if (token == NAME) name_statement();
  else if (token == WHILE) while_statement();
  else if (token == IF) if_statement();
  else if (token == RETURN) return_statement();
  else if (token == STAR) {
    next_token();
    type = factor();
    check_type(POINTER, type, " after '*'");
    if (must_be(ASSIGN)) {
      type = expression();
      check_type(INTEGER, type, " assigned to what a pointer points to");
      if (depth > 1) emit_immediate(OP_SW, below(), top(), 0);
      end_statement();
    } else skip_statement();
  } else {
    if (token == INT)
      error_here("expected a statement, found 'int': variables are declared before the first statement");
    else if (token == LEFT_BRACE)
      error_here("expected a statement, found '{': C* has blocks after while, if and else alone");
    else expected("a statement", -1);
    // A loop of C goes with all its head, or each ';' in it would be one more error.
    if (token == FOREIGN) {
      next_token();
      if (token == LEFT) {
        type = 1;
        next_token();
        while (type * (token != END_OF_FILE) * (token != LEFT_BRACE) * (token != RIGHT_BRACE)) {
          if (token == LEFT) type = type + 1;
          if (token == RIGHT) type = type - 1;
          next_token();
        }
        if (token == LEFT_BRACE) block();
        return;
      }
    }
    skip_statement();
    if (token == LEFT_BRACE) block();
    if (token_begin == begun) next_token();
  }
}

// A name may have one meaning in the whole program and one more in a procedure.
int declare_local(int name, int type, int place) {
  int symbol;

  if (*(local_symbol + name) >= 0) {
    about_name("expected a new name, found ", name, ", which this procedure has already");
    return 0;
  }
  symbol = new_symbol(name, LOCAL, type, place);
  *(local_symbol + name) = symbol;
  return 1;
}

void forget_locals() {
  int i;

  i = first_local;
  while (i < symbols) {
    if (*(symbol_kind + i) == LOCAL) *(local_symbol + *(symbol_name + i)) = -1;
    i = i + 1;
  }
  symbols = first_local;
}

void body() {
  int locals;
  int type;
  int name;

  next_token();
  statement_line = previous_line;
  emit_immediate(OP_ADDIU, R_SP, R_SP, -8);
  emit_immediate(OP_SW, R_SP, R_RA, 4);
  emit_immediate(OP_SW, R_SP, R_FP, 0);
  emit_immediate(OP_ADDIU, R_SP, R_FP, 0);
  locals = 0;
  type = maybe_type();
  while (type) {
    if (type == NOTHING) error_here("expected a variable of type int or int*, found one of type void");
    name = token_value;
    if (token == NAME) {
      locals = locals + declare_local(name, type, -4 * locals - 4);
      next_token();
      if (token == ASSIGN) error_here("expected ';', found '=': a local variable gets its value by an assignment");
      end_statement();
    } else {
      expected("", NAME);
      skip_statement();
    }
    type = maybe_type();
  }
  if (locals > 0) emit_immediate(OP_ADDIU, R_SP, R_SP, -4 * locals);
  returns = 0;
  while ((token != RIGHT_BRACE) * (token != END_OF_FILE)) {
    statement();
    if (token == VOID) {  // surely the next procedure: a brace is missing
      expected("", RIGHT_BRACE);
      while (returns > 0) {
        returns = returns - 1;
        land(*(return_place + returns));
      }
      return;
    }
  }
  statement_line = token_line;
  must_be(RIGHT_BRACE);
  while (returns > 0) {
    returns = returns - 1;
    land(*(return_place + returns));
  }
  if (locals > 0) emit_immediate(OP_ADDIU, R_FP, R_SP, 0);
  emit_immediate(OP_LW, R_SP, R_FP, 0);
  emit_immediate(OP_LW, R_SP, R_RA, 4);
  emit_immediate(OP_ADDIU, R_SP, R_SP, 8);
  emit_register(F_JR, R_RA, R_ZERO, R_ZERO);
  emit_nop();
}

// From '(' on. `old` is the symbol that the name has already, or -1.
void procedure_declaration(int type, int name, int old) {
  int symbol;
  int first;
  int count;
  int parameter;
  int code_before;
  int calls_before;
  int more;

  code_before = code_count;
  calls_before = calls;
  first = argument_types;
  symbol = old;
  if (old < 0) {
    symbol = new_symbol(name, PROCEDURE, type, 0);
    *(global_symbol + name) = symbol;
  } else if (*(symbol_kind + old) != PROCEDURE) {
    about_name("expected a new name, found the variable ", name, "");
    symbol = new_symbol(name, PROCEDURE, type, 0);
  } else check_type(*(symbol_type + old), type, ", unlike the procedure's first declaration");
  first_local = symbols;
  next_token();
  count = 0;
  more = token != RIGHT;
  while (more) {
    parameter = maybe_type();
    if (parameter == 0) {
      expected("a type", -1);
      if (token == NAME) parameter = ANY;
    } else if (parameter == NOTHING) {
      error_here("expected a parameter of type int or int*, found one of type void");
      parameter = ANY;
    }
    new_argument_type(parameter);
    if (token == NAME) {
      declare_local(token_value, parameter, 8 + 4 * count);
      next_token();
    } else expected("", NAME);
    count = count + 1;
    more = 0;
    if (token == COMMA) {
      next_token();
      more = 1;
    } else if (token != RIGHT) {
      expected("',' or ')'", -1);
      while ((token != RIGHT) * (token != LEFT_BRACE) * (token != SEMICOLON) * (token != END_OF_FILE)) next_token();
    }
  }
  must_be(RIGHT);
  if (old < 0) {
    *(symbol_arguments + symbol) = count;
    *(symbol_first + symbol) = first;
  } else if (symbol == old) {
    if (count != *(symbol_arguments + symbol)) {
      begin_error(scanned_file, previous_line);
      put_text("expected ");
      put_count(*(symbol_arguments + symbol), " parameter");
      put_text(" of '");
      put_name(name);
      put_text("' as in its first declaration, found ");
      put_number(count);
      end_error();
    } else {
      more = 0;
      while (more < count) {
        check_type(*(argument_type + *(symbol_first + symbol) + more), *(argument_type + first + more),
                   ", unlike the procedure's first declaration");
        more = more + 1;
      }
    }
  }
  if (token == SEMICOLON) next_token();
  else if (token == LEFT_BRACE) {
    if (*(symbol_state + symbol) == DEFINED) about_name("expected one body of ", name, ", found a second");
    if (*(symbol_state + symbol) == LIBRARY)
      if (name != intern_text("hypster_run")) about_name("expected a new name, found ", name, " of the library");
    procedure = symbol;
    if (*(symbol_state + symbol) != LIBRARY) {
      *(symbol_state + symbol) = DEFINED;
      *(symbol_place + symbol) = here();
      *(symbol_file + symbol) = scanned_file;
      *(symbol_line + symbol) = previous_line;
    }
    body();
    if (*(symbol_state + symbol) == LIBRARY) {  // hypster_run is written for other compilers: checked and forgotten
      code_count = code_before;
      calls = calls_before;
    }
  } else {
    expected("';' or '{'", -1);
    skip_statement();
  }
  forget_locals();
}

void global_declaration(int type, int name, int old) {
  int value;
  int sign;

  if (type == NOTHING) about_name("expected a variable of type int or int*, found ", name, " of type void");
  if (old >= 0)
    if (*(symbol_type + old) != ANY) about_name("expected a new name, found ", name, ", which is declared already");
  if (global_count == global_limit) fail(1, "too many global variables");
  value = 0;
  if (token == ASSIGN) {
    next_token();
    sign = 1;
    if (token == MINUS) {
      next_token();
      sign = -1;
    }
    if (token == NUMBER) {
      if (type == POINTER)
        if (token_value != 0) check_type(POINTER, INTEGER, " as the first value");
      value = sign * token_value;
      next_token();
    } else expected("a number", -1);
  }
  global_count = global_count + 1;
  *(global_value + global_count - 1) = value;
  if (old < 0) *(global_symbol + name) = new_symbol(name, GLOBAL, type, -4 * global_count);
  if (token == COMMA) error_here("expected ';', found ',': one variable, one declaration");
  if (last_error == token_begin) skip_statement();
  else end_statement();
}

void declaration() {
  int type;
  int name;
  int old;
  int open_braces;

  statement_line = token_line;
  type = maybe_type();
  if (type == 0) {
    expected("'int' or 'void'", -1);
    // On to what may be the next declaration: over what is in braces.
    open_braces = token == LEFT_BRACE;
    next_token();
    while ((token != END_OF_FILE) * ((open_braces > 0) + (token != INT) * (token != VOID) > 0)) {
      if (token == LEFT_BRACE) open_braces = open_braces + 1;
      if (token == RIGHT_BRACE) open_braces = open_braces - (open_braces > 0);
      next_token();
    }
    return;
  }
  if (token != NAME) {
    expected("", NAME);
    skip_statement();
    return;
  }
  name = token_value;
  old = *(global_symbol + name);
  next_token();
  if (token == LEFT) procedure_declaration(type, name, old);
  else global_declaration(type, name, old);
}

void compile_file(int* name) {
  int file;

  file = new_file(intern_text(name));
  if (read_source(file) == 0) {
    put_to(2);
    put_text("selfie: ");
    put_text(name);
    put_line(": this file cannot be read");
    stop(1);
  }
  begin_scanning(file);
  while (token != END_OF_FILE) declaration();
}

void begin_program() {
  new_file(intern_text("libcstar"));
  *(file_source + 0) = -1;
  scanned_file = 0;
  statement_line = 0;
  compile_start();
  unknown_symbol = new_symbol(intern_text("?"), GLOBAL, ANY, -4);
  first_local = symbols;
}

// Calls get their targets, $gp its value.
void end_program() {
  int i;
  int symbol;
  int word;

  statement_line = 0;
  scanned_file = 0;
  compile_rest_of_library();
  i = 0;
  while (i < calls) {
    symbol = *(call_symbol + i);
    if (*(symbol_state + symbol) == DECLARED) {
      if (*(symbol_called + symbol) == 1) {
        *(symbol_called + symbol) = 2;
        word = *(code_place + *(call_place + i));
        begin_error(word / 65536, word % 65536);
        put_text("expected a body of '");
        put_name(*(symbol_name + symbol));
        put_text("', found its declaration alone");
        end_error();
      }
    } else *(code + *(call_place + i)) = OP_JAL * 67108864 + *(symbol_place + symbol) / 4;
    i = i + 1;
  }
  data_begin = (code_count * 4 + 4095) / 4096 * 4096;
  if (data_begin == 0) data_begin = 4096;
  set_address(0, data_begin + 4 * global_count);
  main_address = 0;
  symbol = procedure_named("main");
  if (symbol >= 0) {
    if (*(symbol_arguments + symbol) != 0)
      if (*(symbol_arguments + symbol) != 2) {
        begin_error(*(symbol_file + symbol), *(symbol_line + symbol));
        put_text("expected no parameters or two of 'main', found ");
        put_number(*(symbol_arguments + symbol));
        end_error();
      }
    main_address = *(symbol_place + symbol);
    *(code + 7) = OP_JAL * 67108864 + main_address / 4;
  }
  has_code = 1;
}

void start_parser() { return_place = allocate(return_limit); }

// ---- binary: what -o writes and -l reads ----------------------------------------------------------------------------
//
//   header     8 words: magic, version, words of code, global variables, words of strings, of the rest; 0; sum of all
//   code       one word an instruction
//   variables  what the global variables begin with
//   strings
//   the rest   files: count, each its name; symbols: count, each kind, place, name; of each instruction its place in
//              the source. A name is its length and its characters, one a word.

int magic = 1279677779;  // the four bytes "SEFL"
int version = 1;
int header_words = 8;

int* image;
int image_length = 0;
int image_limit = 0;
int image_read = 0;

// After -l, symbols are these alone: procedures and global variables, for listings, profiles and schedules.
void image_put(int word) {
  if (image_length < image_limit) *(image + image_length) = word;
  image_length = image_length + 1;
}

void image_put_name(int name) {
  int i;

  image_put(name_length(name));
  i = 0;
  while (i < name_length(name)) {
    image_put(*(name_text + *(name_begin + name) + i));
    i = i + 1;
  }
}

int symbol_is_shown(int symbol) {
  if (*(symbol_kind + symbol) == GLOBAL) return *(symbol_type + symbol) != ANY;
  if (*(symbol_place + symbol) < 0) return 0;
  return *(symbol_state + symbol) != DECLARED;
}

// Once to count, once to write.
void image_fill() {
  int i;
  int n;

  image_length = 0;
  image_put(magic);
  image_put(version);
  image_put(code_count);
  image_put(global_count);
  image_put(data_count);
  image_put(0);
  image_put(0);
  image_put(0);
  i = 0;
  while (i < code_count) {
    image_put(*(code + i));
    i = i + 1;
  }
  i = global_count;
  while (i > 0) {
    i = i - 1;
    image_put(*(global_value + i));
  }
  i = 0;
  while (i < data_count) {
    image_put(*(data + i));
    i = i + 1;
  }
  image_put(files);
  i = 0;
  while (i < files) {
    image_put_name(*(file_name + i));
    i = i + 1;
  }
  n = 0;
  i = 0;
  while (i < symbols) {
    n = n + symbol_is_shown(i);
    i = i + 1;
  }
  image_put(n);
  i = 0;
  while (i < symbols) {
    if (symbol_is_shown(i)) {
      image_put(*(symbol_kind + i));
      image_put(*(symbol_place + i));
      image_put_name(*(symbol_name + i));
    }
    i = i + 1;
  }
  i = 0;
  while (i < code_count) {
    image_put(*(code_place + i));
    i = i + 1;
  }
}

int image_sum() {
  int i;
  int sum;

  sum = 0;
  i = header_words;
  while (i < image_length) {
    sum = sum * 31 + *(image + i);
    i = i + 1;
  }
  return sum;
}

int create(int* name) {
  int descriptor;

  descriptor = open(name, 577, 420);  // O_WRONLY, O_CREAT, O_TRUNC as Linux numbers them; rw-r--r--
  if (descriptor < 0) {
    put_to(2);
    put_text("selfie: ");
    put_text(name);
    put_line(": this file cannot be written");
    stop(4);
  }
  return descriptor;
}

void write_binary(int* name) {
  int descriptor;
  int i;

  image_limit = 0;
  image_fill();
  image_limit = image_length;
  image = allocate(image_limit);
  image_fill();
  *(image + 5) = image_length - header_words - code_count - global_count - data_count;
  *(image + 7) = image_sum();
  descriptor = create(name);
  i = 0;
  while (i < image_length) {
    if (write(descriptor, image + i, 4 * (image_length - i)) != 4 * (image_length - i))
      fail(4, "the binary could not be written");
    i = image_length;
  }
}

void bad_binary(int* name, int* why) {
  put_to(2);
  put_text("selfie: ");
  put_text(name);
  put_text(": bad binary: ");
  put_line(why);
  stop(3);
}

int image_get() {
  image_read = image_read + 1;
  if (image_read > image_length) return -1;
  return *(image + image_read - 1);
}

// A name, -1 if there is none.
int image_get_name() {
  int n;
  int c;

  n = image_get();
  if (n < 0) return -1;
  if (n > word_limit) return -1;
  if (image_read + n > image_length) return -1;
  word_length = 0;
  while (word_length < n) {
    c = image_get();
    if (c < 1) return -1;
    if (c > 255) return -1;
    *(word_text + word_length) = c;
    word_length = word_length + 1;
  }
  return intern();
}

// Reads so many words; what there is, in words.
int read_words(int descriptor, int* to, int words) {
  int got;
  int done;

  done = 0;
  while (done < words) {
    got = read(descriptor, to + done, 4 * (words - done));
    if (got <= 0) return done;
    if (got % 4 != 0) return done;
    done = done + got / 4;
  }
  return done;
}

void load_binary(int* name) {
  int descriptor;
  int i;
  int n;
  int bad;
  int kind;
  int place;

  descriptor = open(name, 0, 0);
  if (descriptor < 0) {
    put_to(2);
    put_text("selfie: ");
    put_text(name);
    put_line(": this file cannot be read");
    stop(3);
  }
  image = allocate(header_words);
  if (read_words(descriptor, image, header_words) != header_words) bad_binary(name, "it is shorter than a header");
  if (*image != magic) bad_binary(name, "it does not begin as binaries do");
  if (*(image + 1) != version) bad_binary(name, "it is of another version");
  bad = 0;
  i = 2;
  while (i < 6) {
    if (*(image + i) < 0) bad = 1;
    if (*(image + i) > 4000000) bad = 1;
    i = i + 1;
  }
  if (*(image + 2) > code_limit) bad = 1;
  if (*(image + 2) < 12) bad = 1;
  if (*(image + 3) > global_limit) bad = 1;
  if (*(image + 4) > data_limit) bad = 1;
  if (bad) bad_binary(name, "its header gives impossible lengths");
  code_count = *(image + 2);
  global_count = *(image + 3);
  data_count = *(image + 4);
  n = *(image + 7);
  image_limit = header_words + code_count + global_count + data_count + *(image + 5);
  image = allocate(image_limit + 1);
  image_length = header_words + read_words(descriptor, image + header_words, image_limit - header_words + 1);
  if (image_length < image_limit) bad_binary(name, "it is shorter than its header says");
  if (image_length > image_limit) bad_binary(name, "it is longer than its header says");
  if (image_sum() != n) bad_binary(name, "its sum is wrong");
  image_read = header_words;
  i = 0;
  while (i < code_count) {
    *(code + i) = image_get();
    i = i + 1;
  }
  i = global_count;
  while (i > 0) {
    i = i - 1;
    *(global_value + i) = image_get();
  }
  i = 0;
  while (i < data_count) {
    *(data + i) = image_get();
    i = i + 1;
  }
  files = 0;
  n = image_get();
  while (n > 0) {
    i = image_get_name();
    if (i < 0) bad_binary(name, "the name of a file is missing");
    new_file(i);
    n = n - 1;
  }
  symbols = 0;
  n = image_get();
  while (n > 0) {
    kind = image_get();
    place = image_get();
    i = image_get_name();
    if (i < 0) bad_binary(name, "the name of a symbol is missing");
    bad = place % 4 != 0;
    if (kind == GLOBAL) {
      if (place >= 0) bad = 1;
      if (place < -4 * global_count) bad = 1;
    } else {
      if (place < 0) bad = 1;
      if (place >= 4 * code_count) bad = 1;
    }
    if (bad) bad_binary(name, "a symbol lies outside of code and variables");
    new_symbol(i, kind, INTEGER, place);
    *(symbol_state + symbols - 1) = DEFINED;
    *(global_symbol + i) = symbols - 1;
    n = n - 1;
  }
  i = 0;
  while (i < code_count) {
    *(code_place + i) = image_get();
    if (*(code_place + i) < 0) bad_binary(name, "it ends too early");
    if (*(code_place + i) / 65536 >= files) bad_binary(name, "an instruction is of no file");
    i = i + 1;
  }
  data_begin = (code_count * 4 + 4095) / 4096 * 4096;
  main_address = *(code + 7) % 67108864 * 4;
  has_code = 1;
}

// ---- disassembler ---------------------------------------------------------------------------------------------------

// Bits of a word: from one that weighs `unit`, so many as 0 to `range` - 1 need. Words may be negative.
int field(int word, int unit, int range) {
  if (word < 0) {
    if (unit == 1) return (word - smallest) % range;
    return ((word - smallest) / unit + 1073741824 / unit * 2) % range;
  }
  return word / unit % range;
}

int signed_immediate(int word) {
  int immediate;

  immediate = field(word, 1, 65536);
  if (immediate > 32767) return immediate - 65536;
  return immediate;
}

void put_register(int number) {
  put('$');
  if (number == 0) put_text("zero");
  else if (number == 1) put_text("at");
  else if (number < 4) {
    put('v');
    put('0' + number - 2);
  } else if (number < 8) {
    put('a');
    put('0' + number - 4);
  } else if (number < 16) {
    put('t');
    put('0' + number - 8);
  } else if (number < 24) {
    put('s');
    put('0' + number - 16);
  } else if (number < 26) {
    put('t');
    put('0' + number - 16);
  } else if (number < 28) {
    put('k');
    put('0' + number - 26);
  } else if (number == 28) put_text("gp");
  else if (number == 29) put_text("sp");
  else if (number == 30) put_text("fp");
  else put_text("ra");
}

void put_registers(int* name, int a, int b, int c) {
  put_text(name);
  put(' ');
  put_register(a);
  if (b >= 0) {
    put(',');
    put_register(b);
  }
  if (c >= 0) {
    put(',');
    put_register(c);
  }
}

void put_instruction(int word, int pc) {
  int op;
  int rs;
  int rt;
  int rd;
  int f;

  op = field(word, 67108864, 64);
  rs = field(word, 2097152, 32);
  rt = field(word, 65536, 32);
  rd = field(word, 2048, 32);
  f = field(word, 1, 64);
  if (word == 0) put_text("nop");
  else if (op == 0) {
    if (f == F_ADDU) put_registers("addu", rd, rs, rt);
    else if (f == F_SUBU) put_registers("subu", rd, rs, rt);
    else if (f == F_SLT) put_registers("slt", rd, rs, rt);
    else if (f == F_MULTU) put_registers("multu", rs, rt, -1);
    else if (f == F_DIVU) put_registers("divu", rs, rt, -1);
    else if (f == F_MFLO) put_registers("mflo", rd, -1, -1);
    else if (f == F_MFHI) put_registers("mfhi", rd, -1, -1);
    else if (f == F_JR) put_registers("jr", rs, -1, -1);
    else if (f == F_SYSCALL) put_text("syscall");
    else {
      put_text("no instruction: ");
      put_hex(word);
    }
  } else if (op == OP_ADDIU) {
    put_registers("addiu", rt, rs, -1);
    put(',');
    put_number(signed_immediate(word));
  } else if ((op == OP_LW) + (op == OP_SW)) {
    if (op == OP_LW) put_registers("lw", rt, -1, -1);
    else put_registers("sw", rt, -1, -1);
    put(',');
    put_number(signed_immediate(word));
    put('(');
    put_register(rs);
    put(')');
  } else if ((op == OP_BEQ) + (op == OP_BNE)) {
    if (op == OP_BEQ) put_registers("beq", rs, rt, -1);
    else put_registers("bne", rs, rt, -1);
    put(',');
    put_hex(pc + 4 + 4 * signed_immediate(word));
  } else if (op == OP_J) {
    put_text("j ");
    put_hex(field(word, 1, 67108864) * 4);
  } else if (op == OP_JAL) {
    put_text("jal ");
    put_hex(field(word, 1, 67108864) * 4);
  } else {
    put_text("no instruction: ");
    put_hex(word);
  }
}

// As the talk prints it: "atoi.c: $pc=0x000001CC: lw $t0,-4($fp)".
void put_code_line(int pc) {
  put_name(*(file_name + *(code_place + pc / 4) / 65536));
  put_text(": $pc=");
  put_hex(pc);
  put_text(": ");
  put_instruction(*(code + pc / 4), pc);
}

int procedure_at(int pc) {
  int i;

  i = 0;
  while (i < symbols) {
    if (*(symbol_kind + i) == PROCEDURE)
      if (*(symbol_state + i) != DECLARED)
        if (*(symbol_place + i) == pc) return i;
    i = i + 1;
  }
  return -1;
}

// All the code; before that of a line of the source, the line; before that of a procedure, its name.
void write_assembly(int* name) {
  int i;
  int place;
  int before;
  int descriptor;
  int symbol;

  descriptor = 1;
  if (same_text(name, "-") == 0) descriptor = create(name);
  put_to(descriptor);
  before = -1;
  i = 0;
  while (i < code_count) {
    place = *(code_place + i);
    symbol = -1;
    if (place != before) symbol = procedure_at(4 * i);
    if (place < 65536) symbol = procedure_at(4 * i);
    if (symbol >= 0) {
      put('\n');
      put_name(*(symbol_name + symbol));
      put_line("():");
    }
    if (place != before) {
      before = place;
      if (place >= 65536) {
        put_text("// ");
        put_place(place / 65536, place % 65536);
        put_text(": ");
        put_source_line(place / 65536, place % 65536);
        put('\n');
      }
    }
    put_code_line(4 * i);
    put('\n');
    i = i + 1;
  }
  put_to(1);
}

// ---- machine: contexts and their memory -----------------------------------------------------------------------------
//
// A context is a state block, which is all that a machine needs to go on with it, and a page table. Machines know one
// operation: run a context until something happens that it cannot do alone. mipster does it by interpretation, hypster by
// asking the machine below, with the call hypster_run(state). So whatever is said about contexts holds on both.
//
//   0 - 31 registers, 32 where writes to $zero go, 33 $pc, 34 hi, 35 lo
//   36 LOW       lowest address of data: below is code, which can only be executed, and nothing at address 0
//   37 PAGES     so many pages of 4 KB can be mapped
//   38 TABLE     address of the page table, 39 BASE of the memory that its entries mean, for the machine below
//   40 CAUSE     why the machine stopped, 41 DETAIL: the address or the word that it is about
//   42 FUEL      instructions that may be executed; what is left of them
//   43 MAPS      counts changes of the table, other than from nothing to something
//
// A page table has an entry a page: what is to be added to address / 4 for the index of that word in memory. Without a
// frame the sum is negative.

int S_PC = 33;
int S_LO = 35;
int S_LOW = 36;
int S_PAGES = 37;
int S_TABLE = 38;
int S_BASE = 39;
int S_CAUSE = 40;
int S_DETAIL = 41;
int S_FUEL = 42;
int S_MAPS = 43;
int state_words = 44;

int BY_CALL = 1;        // a system call; $pc is at it
int BY_PAGE = 2;        // no frame at the address
int BY_FUEL = 3;        // so many instructions were executed
int BY_WORD = 4;        // no instruction
int BY_ALIGNMENT = 5;   // address of a word that is no multiple of 4
int BY_DIVISION = 6;    // by zero
int BY_PROTECTION = 7;  // an address in the code, or at nothing
int BY_JUMP = 8;        // to what is no code

int page_bytes = 4096;
int unmapped = -1073741824;
int all_fuel = 1000000000;

int* memory;  // of all contexts, in frames of 1024 words
int memory_frames = 0;
int next_frame = 0;

int context_limit = 40;
int contexts = 0;
int* context_parent;  // who runs it: another context by hypster_run, or -1: we do
int* context_block;   // address of the parent's state block
int* context_table;   // where its page table is in tables
int* context_end;     // of its data and heap
int* context_begin;   // lowest address of its stack
int* context_maps;
int* context_stack_top;

int* states;
int* tables;
int tables_length = 0;
int tables_limit = 0;

int hosting = 0;   // the machine below runs our contexts
int executed = 0;  // instructions, and in millions
int executed_millions = 0;

// Decoded instructions of the frames with code: in each block 1024 times four words, and one entry behind, which leads to
// the next page. Decoded when first executed, forgotten when the frame is written to.
int* frame_decoded;  // block of a frame, 0: none
int* decoded;
int decoded_blocks = 1;
int decoded_limit = 0;
int decoded_words = 4100;

int* state_of(int context) { return states + context * state_words; }

int* table_of(int context) { return tables + *(context_table + context); }

int new_context(int parent, int block, int pages) {
  int c;
  int i;
  int* table;

  if (contexts == context_limit) fail(3, "too many contexts");
  if (pages > tables_limit - tables_length) fail(3, "out of memory: no room for the page table of another context");
  c = contexts;
  contexts = contexts + 1;
  *(context_parent + c) = parent;
  *(context_block + c) = block;
  *(context_table + c) = tables_length;
  *(context_end + c) = 0;
  *(context_begin + c) = 0;
  *(context_maps + c) = 0;
  tables_length = tables_length + pages;
  table = table_of(c);
  i = 0;
  while (i < pages) {
    *(table + i) = unmapped;
    i = i + 1;
  }
  clear(state_of(c), state_words);
  *(state_of(c) + S_PAGES) = pages;
  return c;
}

void start_machine(int megabytes) {
  memory_frames = megabytes * 256;
  memory = allocate(memory_frames * 1024 + 1024);
  // Frames of ours are frames of the machine below: it maps whole pages.
  if (hosting) memory = memory + (page_bytes - (int)memory % page_bytes) % page_bytes / 4;
  next_frame = 0;
  frame_decoded = allocate_clear(memory_frames);
  decoded_limit = 160;
  decoded = allocate(decoded_limit * decoded_words);
  decoded_blocks = 1;
  context_parent = allocate(context_limit);
  context_block = allocate(context_limit);
  context_table = allocate(context_limit);
  context_end = allocate(context_limit);
  context_begin = allocate(context_limit);
  context_maps = allocate(context_limit);
  context_stack_top = allocate(context_limit);
  states = allocate(context_limit * state_words);
  tables_limit = memory_frames * 20 + 4096;
  tables = allocate(tables_limit);
  contexts = 0;
  tables_length = 0;
}

void map(int context, int page, int word) { *(table_of(context) + page) = word - page * 1024; }

// A frame of zeros for a page.
int map_new(int context, int page) {
  if (next_frame == memory_frames) return 0;
  clear(memory + next_frame * 1024, 1024);
  map(context, page, next_frame * 1024);
  next_frame = next_frame + 1;
  return 1;
}

// ---- mipster: the emulator ------------------------------------------------------------------------------------------
//
// A decoded instruction is four words: what to do, then three operands. Most frequent first, as each is compared in turn:
//
//   1 lw     to, base, offset       7 multu a, b           13 jal     target
//   2 addiu  to, from, immediate    8 beq   a, b, by       14 jr      register
//   3 sw     from, base, offset     9 bne   a, b, by       15 divu    a, b
//   4 addu   to, a, b              10 slt   to, a, b       16 mfhi    to
//   5 nop                          11 subu  to, a, b       17 syscall
//   6 mflo   to                    12 j     target         18 the next page; 19 no instruction; 0 not decoded yet

void decode(int word, int* entry) {
  int op;
  int rs;
  int rt;
  int rd;
  int f;

  op = field(word, 67108864, 64);
  rs = field(word, 2097152, 32);
  rt = field(word, 65536, 32);
  rd = field(word, 2048, 32);
  f = field(word, 1, 2048);  // with the shift amount, which is 0 in all of ours
  *entry = 19;
  if (op == 0) {
    if (rd == 0) rd = 32;
    *(entry + 1) = rd;
    *(entry + 2) = rs;
    *(entry + 3) = rt;
    if (word == 0) *entry = 5;
    else if (f == F_ADDU) *entry = 4;
    else if (f == F_SUBU) *entry = 11;
    else if (f == F_SLT) *entry = 10;
    else if (f == F_MFLO) *entry = 6;
    else if (f == F_MFHI) *entry = 16;
    else if (f == F_SYSCALL) *entry = 17;
    else {
      *(entry + 1) = rs;
      *(entry + 2) = rt;
      if (f == F_MULTU) *entry = 7;
      else if (f == F_DIVU) *entry = 15;
      else if (f == F_JR) *entry = 14;
    }
  } else if (op == OP_J) {
    *entry = 12;
    *(entry + 1) = field(word, 1, 67108864) * 4;
  } else if (op == OP_JAL) {
    *entry = 13;
    *(entry + 1) = field(word, 1, 67108864) * 4;
  } else {
    *(entry + 1) = rt;
    *(entry + 2) = rs;
    *(entry + 3) = signed_immediate(word);
    if (op == OP_SW) *entry = 3;
    else if (op == OP_BEQ) {
      *entry = 8;
      *(entry + 3) = *(entry + 3) * 4 + 4;
    } else if (op == OP_BNE) {
      *entry = 9;
      *(entry + 3) = *(entry + 3) * 4 + 4;
    } else {
      if (rt == 0) *(entry + 1) = 32;
      if (op == OP_LW) *entry = 1;
      else if (op == OP_ADDIU) *entry = 2;
    }
  }
}

void forget_decoded(int block) {
  int i;
  int* entry;

  entry = decoded + block * decoded_words;
  i = 0;
  while (i < 4096) {
    *(entry + i) = 0;
    i = i + 4;
  }
  *(entry + 4096) = 18;
}

int decoded_block(int frame) {
  int i;

  if (*(frame_decoded + frame) == 0) {
    if (decoded_blocks == decoded_limit) {  // start again with all
      i = 0;
      while (i < memory_frames) {
        *(frame_decoded + i) = 0;
        i = i + 1;
      }
      decoded_blocks = 1;
    }
    *(frame_decoded + frame) = decoded_blocks;
    forget_decoded(decoded_blocks);
    decoded_blocks = decoded_blocks + 1;
  }
  return *(frame_decoded + frame);
}

// Unsigned, as divu has it: from signed ones.
int unsigned_quotient(int a, int b) {
  int half;
  int quotient;

  if (b < 0) {  // 2^31 and more goes once or not at all
    if (a >= 0) return 0;
    return a >= b;
  }
  if (a >= 0) return a / b;
  if (b == 1) return a;
  half = (a - smallest) / 2 + 1073741824;
  quotient = half / b * 2;
  a = a - quotient * b;  // less than 2 b + 1
  if (a < 0) return quotient + 1;
  if (a >= b) return quotient + 1;
  return quotient;
}

// The upper word of a product of two unsigned words, by halves.
int high_product(int a, int b) {
  int a1;
  int a0;
  int b1;
  int b0;
  int middle;
  int carry;
  int other;

  a0 = field(a, 1, 65536);
  a1 = field(a, 65536, 65536);
  b0 = field(b, 1, 65536);
  b1 = field(b, 65536, 65536);
  middle = a1 * b0;
  carry = field(a0 * b0, 65536, 65536);
  other = field(middle, 1, 65536) + carry;
  carry = field(middle, 65536, 65536);
  middle = a0 * b1;
  other = other + field(middle, 1, 65536);
  return a1 * b1 + carry + field(middle, 65536, 65536) + other / 65536;
}

void interpret(int* state, int* table) {
  int* m;
  int* e;  // the decoded instruction
  int* page_code;
  int pc;
  int base;  // address of the page of pc
  int fuel;
  int left;
  int more;
  int cause;
  int detail;
  int op;
  int word;
  int address;
  int low;
  int pages;
  int lo;
  int a;  // of the last multu: hi is calculated when it is asked for
  int b;
  int lazy;

  m = memory;
  pc = *(state + 33);
  lo = *(state + 35);
  low = *(state + 36);
  pages = *(state + 37);
  left = *(state + 42);
  lazy = 0;
  more = 1;
  cause = 3;
  detail = 0;
  while (more) {
    if (left <= 0) more = 0;
    else if (pc < 0) {
      cause = 8;
      more = 0;
    } else if (pc >= low) {
      cause = 8;
      more = 0;
    } else if (pc % 4 != 0) {
      cause = 5;
      detail = pc;
      more = 0;
    } else {
      base = pc / 4096 * 4096;
      word = *(table + pc / 4096) + base / 4;
      if (word < 0) {
        cause = 2;
        detail = pc;
        more = 0;
      } else {
        page_code = decoded + decoded_block(word / 1024) * decoded_words;
        fuel = left;
        left = 0;
        while (fuel > 0) {
          fuel = fuel - 1;
          e = page_code + (pc - base);
          op = *e;
          if (op == 1) {  // lw
            address = *(state + *(e + 2)) + *(e + 3);
            if (address < low) {
              cause = 7;
              detail = address;
              left = fuel + 1;
              fuel = 0;
              more = 0;
            } else {
              word = address / 4;
              if (word * 4 != address) {
                cause = 5;
                detail = address;
                left = fuel + 1;
                fuel = 0;
                more = 0;
              } else {
                op = word / 1024;
                if (op < pages) word = *(table + op) + word;
                else word = -1;
                if (word < 0) {
                  cause = 2;
                  detail = address;
                  left = fuel + 1;
                  fuel = 0;
                  more = 0;
                } else {
                  *(state + *(e + 1)) = *(m + word);
                  pc = pc + 4;
                }
              }
            }
          } else if (op == 2) {  // addiu
            *(state + *(e + 1)) = *(state + *(e + 2)) + *(e + 3);
            pc = pc + 4;
          } else if (op == 3) {  // sw
            address = *(state + *(e + 2)) + *(e + 3);
            if (address < low) {
              cause = 7;
              detail = address;
              left = fuel + 1;
              fuel = 0;
              more = 0;
            } else {
              word = address / 4;
              if (word * 4 != address) {
                cause = 5;
                detail = address;
                left = fuel + 1;
                fuel = 0;
                more = 0;
              } else {
                op = word / 1024;
                if (op < pages) word = *(table + op) + word;
                else word = -1;
                if (word < 0) {
                  cause = 2;
                  detail = address;
                  left = fuel + 1;
                  fuel = 0;
                  more = 0;
                } else {
                  *(m + word) = *(state + *(e + 1));
                  if (*(frame_decoded + word / 1024) != 0) forget_decoded(*(frame_decoded + word / 1024));
                  pc = pc + 4;
                }
              }
            }
          } else if (op == 4) {  // addu
            *(state + *(e + 1)) = *(state + *(e + 2)) + *(state + *(e + 3));
            pc = pc + 4;
          } else if (op == 5)  // nop
            pc = pc + 4;
          else if (op == 6) {  // mflo
            *(state + *(e + 1)) = lo;
            pc = pc + 4;
          } else if (op == 7) {  // multu
            a = *(state + *(e + 1));
            b = *(state + *(e + 2));
            lo = a * b;
            lazy = 1;
            pc = pc + 4;
          } else if (op == 8) {  // beq
            if (*(state + *(e + 1)) == *(state + *(e + 2))) {
              pc = pc + *(e + 3);
              if (pc < base) {
                left = fuel;
                fuel = 0;
              } else if (pc - base >= 4096) {
                left = fuel;
                fuel = 0;
              }
            } else pc = pc + 4;
          } else if (op == 9) {  // bne
            if (*(state + *(e + 1)) != *(state + *(e + 2))) {
              pc = pc + *(e + 3);
              if (pc < base) {
                left = fuel;
                fuel = 0;
              } else if (pc - base >= 4096) {
                left = fuel;
                fuel = 0;
              }
            } else pc = pc + 4;
          } else if (op == 10) {  // slt
            *(state + *(e + 1)) = *(state + *(e + 2)) < *(state + *(e + 3));
            pc = pc + 4;
          } else if (op == 11) {  // subu
            *(state + *(e + 1)) = *(state + *(e + 2)) - *(state + *(e + 3));
            pc = pc + 4;
          } else if (op == 12) {  // j
            pc = *(e + 1);
            if (pc < base) {
              left = fuel;
              fuel = 0;
            } else if (pc - base >= 4096) {
              left = fuel;
              fuel = 0;
            }
          } else if (op == 13) {  // jal
            *(state + 31) = pc + 8;
            pc = *(e + 1);
            left = fuel;
            fuel = 0;
          } else if (op == 14) {  // jr
            pc = *(state + *(e + 1));
            left = fuel;
            fuel = 0;
          } else if (op == 15) {             // divu
            if (*(state + *(e + 2)) == 0) {  // hi may still be that of a and b
              cause = 6;
              left = fuel + 1;
              fuel = 0;
              more = 0;
            } else {
              a = *(state + *(e + 1));
              b = *(state + *(e + 2));
              if (a < 0) lo = unsigned_quotient(a, b);
              else if (b < 0) lo = 0;
              else lo = a / b;
              *(state + 34) = a - lo * b;
              lazy = 0;
              pc = pc + 4;
            }
          } else if (op == 16) {  // mfhi
            if (lazy) {
              *(state + 34) = high_product(a, b);
              lazy = 0;
            }
            *(state + *(e + 1)) = *(state + 34);
            pc = pc + 4;
          } else if (op == 0) {
            decode(*(m + (*(table + pc / 4096) + pc / 4)), e);
            fuel = fuel + 1;
          } else if (op == 18) {
            left = fuel + 1;
            fuel = 0;
          } else {
            cause = 1;
            if (op == 19) {
              cause = 4;
              detail = *(m + (*(table + pc / 4096) + pc / 4));
            }
            left = fuel + 1;
            fuel = 0;
            more = 0;
          }
        }
      }
    }
  }
  if (lazy) *(state + 34) = high_product(a, b);
  *(state + 33) = pc;
  *(state + 35) = lo;
  *(state + 40) = cause;
  *(state + 41) = detail;
  executed = executed + *(state + 42) - left;
  while (executed >= 1000000) {
    executed = executed - 1000000;
    executed_millions = executed_millions + 1;
  }
  *(state + 42) = left;
}

// The one operation of a machine. Returns why it stopped.
int run(int context) {
  int* state;

  state = state_of(context);
  if (hosting) {
    *(state + S_TABLE) = (int)table_of(context);
    *(state + S_BASE) = (int)memory;
    if (hypster_run(state) == 0) return *(state + S_CAUSE);
    hosting = 0;  // nobody is below: do it ourselves
  }
  interpret(state, table_of(context));
  return *(state + S_CAUSE);
}

// ---- monitor: what a context cannot do alone ------------------------------------------------------------------------

int exit_status = 0;
int running = 0;

int* call_name;  // packed name of a file, for open

int is_code(int pc) {
  if (pc < 0) return 0;
  if (pc / 4 >= code_count) return 0;
  return pc % 4 == 0;
}

// Where in the source a context is: not in the library, but where it was called from. Less than 65536: nowhere.
int place_of(int context) {
  int* state;
  int pc;

  state = state_of(context);
  pc = *(state + S_PC);
  if (is_code(pc) == 0) return 0;
  if (*(code_place + pc / 4) < 65536) pc = *(state + R_RA) - 8;
  if (is_code(pc) == 0) return 0;
  return *(code_place + pc / 4);
}

// Why a context cannot go on: file and line, what happened, the instruction; and the end.
void begin_trouble(int context) {
  int place;

  put_to(2);
  put_text("selfie: ");
  if (*(context_parent + context) >= 0) return;
  place = place_of(context);
  if (place < 65536) return;
  put_place(place / 65536, place % 65536);
  put_text(": ");
}

void put_instruction_at(int context) {
  int pc;

  pc = *(state_of(context) + S_PC);
  if (is_code(pc)) {
    put_text(" by ");
    put_instruction(*(code + pc / 4), pc);
  }
  put_text(" at $pc=");
  put_hex(pc);
}

void put_cause(int context) {
  int cause;
  int* state;

  state = state_of(context);
  cause = *(state + S_CAUSE);
  if (cause == BY_CALL) {
    put_text("unknown system call ");
    put_number(*(state + R_V0));
  } else if (cause == BY_PAGE) {
    if (*(state + S_DETAIL) / page_bytes >= *(state + S_PAGES)) {
      put_text("access beyond the end of memory: ");
    } else put_text("access to neither data, heap nor stack: ");
    put_hex(*(state + S_DETAIL));
  } else if (cause == BY_WORD) {
    put_text("no instruction: ");
    put_hex(*(state + S_DETAIL));
  } else if (cause == BY_ALIGNMENT) {
    put_text("unaligned access: ");
    put_hex(*(state + S_DETAIL));
    put_text(" is no multiple of 4");
  } else if (cause == BY_DIVISION) put_text("division by zero");
  else if (cause == BY_PROTECTION) {
    if (*(state + S_DETAIL) >= 0) {
      if (*(state + S_DETAIL) < 64) put_text("access through a null pointer: ");
      else put_text("access to code as if it were data: ");
    } else put_text("access to a negative address: ");
    put_hex(*(state + S_DETAIL));
  } else if (cause == BY_JUMP) put_text("jump to what is no code");
  else put_text("out of fuel");
}

void trouble(int context) {
  begin_trouble(context);
  put_cause(context);
  put_instruction_at(context);
  put('\n');
  stop(3);
}

void trouble_because(int context, int* why) {
  begin_trouble(context);
  put_text(why);
  put_instruction_at(context);
  put('\n');
  stop(3);
}

int heap_page_end(int context) { return (*(context_end + context) + page_bytes - 1) / page_bytes * page_bytes; }

// Where in memory a word of a context is; its page is mapped if it is the context's own. -1: nowhere.
int word_of(int context, int address) {
  int page;
  int word;
  int parent;
  int entry;
  int* state;

  state = state_of(context);
  if (address < 0) return -1;
  page = address / page_bytes;
  if (page >= *(state + S_PAGES)) return -1;
  word = *(table_of(context) + page) + address / 4;
  if (word >= 0) return word;
  parent = *(context_parent + context);
  if (parent < 0) {
    if (address >= heap_page_end(context))
      if (page < *(context_begin + context) / page_bytes) {
        // The stack may grow: it is where $sp is, and one page in advance.
        if (address < *(state + R_SP) - page_bytes) return -1;
        // One page stays unmapped between heap and stack: who comes there has no more room.
        if (address < heap_page_end(context) + page_bytes) return -1;
        *(context_begin + context) = page * page_bytes;
      }
    if (map_new(context, page) == 0) {
      trouble_because(context, "out of memory: no frame is left for another page");
    }
    return *(table_of(context) + page) + address / 4;
  }
  // The parent's table says where; of the parent we know it ourselves.
  word = word_of(parent, *(context_block + context) + 4 * S_TABLE);
  if (word < 0) return -1;
  word = word_of(parent, *(memory + word) + 4 * page);
  if (word < 0) return -1;
  entry = *(memory + word);
  word = word_of(parent, *(context_block + context) + 4 * S_BASE);
  if (word < 0) return -1;
  entry = entry + page * 1024;  // the page's first word, in the parent's array
  if (entry < 0) return -1;
  word = word_of(parent, *(memory + word) + 4 * entry);
  if (word < 0) return -1;
  if (word % 1024 != 0) return -1;
  map(context, page, word);
  return word + address / 4 % 1024;
}

// Copies a state block to or from the parent.
void copy_state(int context, int out) {
  int i;
  int word;
  int parent;
  int* state;

  state = state_of(context);
  parent = *(context_parent + context);
  i = 0;
  while (i < state_words) {
    word = word_of(parent, *(context_block + context) + 4 * i);
    if (word < 0) trouble_because(parent, "hypster_run with a bad state block");
    if (out) {
      if (i < S_LOW) *(memory + word) = *(state + i);
      else if (i >= S_CAUSE)
        if (i < S_MAPS) *(memory + word) = *(state + i);
    } else *(state + i) = *(memory + word);
    i = i + 1;
  }
  // What is executed is looked up in the table without a look at its length.
  if ((*(state + S_LOW) < 0) + ((*(state + S_LOW) - 1) / page_bytes >= *(state + S_PAGES)))
    trouble_because(parent, "hypster_run with more code than pages");
}

void forget_maps(int context) {
  int i;

  i = 0;
  while (i < *(state_of(context) + S_PAGES)) {
    *(table_of(context) + i) = unmapped;
    i = i + 1;
  }
}

// The context calls hypster_run(block): the child it means.
int child_of(int context, int block) {
  int c;
  int pages;
  int word;

  if (block % 4 != 0) trouble_because(context, "hypster_run with an unaligned state block");
  if (block < *(state_of(context) + S_LOW)) trouble_because(context, "hypster_run with a bad state block");
  c = 0;
  while (c < contexts) {
    if (*(context_parent + c) == context)
      if (*(context_block + c) == block) {
        pages = *(state_of(c) + S_PAGES);
        copy_state(c, 0);
        if (pages != *(state_of(c) + S_PAGES))
          trouble_because(context, "hypster_run with another number of pages than before");
        if (*(context_maps + c) != *(state_of(c) + S_MAPS)) {
          *(context_maps + c) = *(state_of(c) + S_MAPS);
          forget_maps(c);
        }
        return c;
      }
    c = c + 1;
  }
  word = word_of(context, block + 4 * S_PAGES);
  if (word < 0) trouble_because(context, "hypster_run with a bad state block");
  pages = *(memory + word);
  if (pages < 1) trouble_because(context, "hypster_run with a bad state block");
  c = new_context(context, block, pages);
  copy_state(c, 0);
  *(context_maps + c) = *(state_of(c) + S_MAPS);
  return c;
}

// A word whose address a call was given: what no instruction may reach ends the program.
int word_for_call(int context, int address) {
  int* state;
  int word;

  state = state_of(context);
  *(state + S_DETAIL) = address;
  *(state + S_CAUSE) = BY_PROTECTION;
  if (address < *(state + S_LOW)) trouble(context);
  *(state + S_CAUSE) = BY_ALIGNMENT;
  if (address % 4 != 0) trouble(context);
  *(state + S_CAUSE) = BY_PAGE;
  word = word_of(context, address);
  if (word < 0) trouble(context);
  return word;
}

void copy_bytes(int* to, int* from, int n) {
  int i;

  i = 0;
  while (i + 4 <= n) {
    *(to + i / 4) = *(from + i / 4);
    i = i + 4;
  }
  while (i < n) {
    set_character(to, i, character_of(from, i));
    i = i + 1;
  }
}

// Moves bytes between a file and a context's memory, page by page; what the library's procedure returns.
int transfer(int context, int reads) {
  int* state;
  int descriptor;
  int address;
  int n;
  int done;
  int part;
  int word;
  int i;

  state = state_of(context);
  descriptor = *(state + R_A0);
  address = *(state + R_A0 + 1);
  n = *(state + R_A0 + 2);
  if (n < 0) return -1;
  flush();
  if (reads) {
    // Once, whatever pages it is for: who asks again after there was something may wait for what never comes.
    if (n > 4096) n = 4096;
    if (n > 0) word_for_call(context, address);
    n = read(descriptor, reading, n);
    if (n < 0) return -1;
  }
  done = 0;
  while (done < n) {
    part = page_bytes - (address + done) % page_bytes;
    if (part > n - done) part = n - done;
    word = word_for_call(context, address + done);
    if (reads) {
      copy_bytes(memory + word, reading + done / 4, part);
      if (*(frame_decoded + word / 1024) != 0) forget_decoded(*(frame_decoded + word / 1024));
    } else {
      i = write(descriptor, memory + word, part);
      if (i < 0) {
        if (done > 0) return done;
        return -1;
      }
      if (i < part) return done + i;
    }
    done = done + part;
  }
  return done;
}

int open_call(int context) {
  int i;
  int c;
  int address;

  address = *(state_of(context) + R_A0);
  i = 0;
  c = 1;
  while (c != 0) {
    if (i == 1000) return -1;
    if (i % 4 == 0) *(call_name + i / 4) = *(memory + word_for_call(context, address + i));
    c = character_of(call_name, i);
    i = i + 1;
  }
  return open(call_name, *(state_of(context) + R_A0 + 1), *(state_of(context) + R_A0 + 2));
}

// Words that follow each other, never given back; 0 when the stack is in the way.
int malloc_call(int context) {
  int bytes;
  int block;

  bytes = *(state_of(context) + R_A0);
  block = *(context_end + context);
  if (bytes < 0) return 0;
  if (bytes > *(context_begin + context) - 65536 - block) return 0;
  *(context_end + context) = block + (bytes + 7) / 8 * 8;
  return block;
}

int swap_call(int context) {
  int* state;
  int word;

  state = state_of(context);
  word = word_for_call(context, *(state + R_A0));
  if (*(memory + word) != *(state + R_A0 + 1)) return 0;
  *(memory + word) = *(state + R_A0 + 2);
  if (*(frame_decoded + word / 1024) != 0) forget_decoded(*(frame_decoded + word / 1024));
  return 1;
}

// A system call of a context that is ours. Returns who runs next.
int handle_call(int context) {
  int* state;
  int number;
  int result;

  state = state_of(context);
  number = *(state + R_V0);
  result = *(state + R_V0);
  if (number == CALL_EXIT) {
    exit_status = *(state + R_A0);
    running = 0;
    return context;
  }
  if (number == CALL_RUN) {
    result = child_of(context, *(state + R_A0));
    *(state + S_PC) = *(state + S_PC) + 4;
    return result;
  }
  if (number == CALL_WRITE) result = transfer(context, 0);
  else if (number == CALL_READ) result = transfer(context, 1);
  else if (number == CALL_OPEN) result = open_call(context);
  else if (number == CALL_MALLOC) result = malloc_call(context);
  else if (number == CALL_SWAP) result = swap_call(context);
  else if (number == CALL_ASSERT) {
    if (*(state + R_A0) == 0) trouble_because(context, "this assertion does not hold");
  } else if (number != CALL_YIELD)
    if (number != CALL_INVOKE)
      if (number != CALL_RESPOND) trouble(context);
  *(state + R_V0) = result;
  *(state + S_PC) = *(state + S_PC) + 4;
  return context;
}

// Something happened to a context: do it, or tell the parent. Returns who runs next.
int handle(int context) {
  int cause;
  int parent;
  int* state;

  state = state_of(context);
  cause = *(state + S_CAUSE);
  parent = *(context_parent + context);
  if (cause == BY_PAGE)
    if (word_of(context, *(state + S_DETAIL)) >= 0) return context;
  if (parent >= 0) {
    copy_state(context, 1);
    *(state_of(parent) + R_V0) = 0;
    return parent;
  }
  if (cause == BY_CALL) return handle_call(context);
  if (cause == BY_FUEL) return context;
  if (cause == BY_PAGE)
    if (*(state + S_DETAIL) < *(context_begin + context))
      if (*(state + R_SP) < heap_page_end(context) + 2 * page_bytes)
        if (*(state + S_DETAIL) / page_bytes < *(state + S_PAGES))
          trouble_because(context, "out of memory: the stack has grown into the heap");
  trouble(context);
}

// The program into a new context: code, variables and strings, then the arguments on the stack:
//
//   $sp  argc, argv; argv[0] … argv[argc - 1]; their characters
int store(int context, int address, int value) {
  int word;

  word = word_of(context, address);
  if (word < 0) fail(3, "out of memory: the program does not fit");
  *(memory + word) = value;
  return address + 4;
}

int load_program(int megabytes) {
  int c;
  int i;
  int* state;

  c = new_context(-1, 0, megabytes * 256);
  state = state_of(c);
  *(context_end + c) = data_begin + 4 * (global_count + data_count);
  *(context_begin + c) = megabytes * 1048576;
  *(context_stack_top + c) = megabytes * 1048576;
  if (*(context_end + c) > *(context_begin + c) - 65536) fail(3, "out of memory: the program does not fit");
  *(state + S_LOW) = data_begin;
  *(state + S_FUEL) = all_fuel;
  *(state + R_SP) = megabytes * 1048576;
  i = 0;
  while (i < code_count) {
    store(c, 4 * i, *(code + i));
    i = i + 1;
  }
  i = 0;
  while (i < global_count) {
    store(c, data_begin + 4 * (global_count - 1 - i), *(global_value + i));
    i = i + 1;
  }
  i = 0;
  while (i < data_count) {
    store(c, data_begin + 4 * (global_count + i), *(data + i));
    i = i + 1;
  }
  *(context_end + c) = (*(context_end + c) + 7) / 8 * 8;
  return c;
}

// ---- arguments: the driver's own, and those it hands to a program ---------------------------------------------------

int arguments = 0;
int next_argument = 0;
int* argument_vector;
int pointer_words = 1;  // of a pointer in the vector, in ints

// Where ints are narrower than pointers, argv is a vector of pointers of two words each. What they point to lies near the
// vector, so the lower words' distance leads there. Each argument is copied, packed and aligned.
int* argument(int i) {
  int* text;
  int* copy;
  int from;
  int n;

  text = argument_vector;
  from = *(argument_vector + pointer_words * i) - (int)argument_vector;
  text = text + from / 4;
  from = from % 4;
  if (from < 0) {
    text = text - 1;
    from = from + 4;
  }
  n = 0;
  while (character_of(text, from + n) != 0) n = n + 1;
  copy = allocate_clear(n / 4 + 1);
  while (n > 0) {
    n = n - 1;
    set_character(copy, n, character_of(text, from + n));
  }
  return copy;
}

void start_arguments(int count, int* vector) {
  arguments = count;
  argument_vector = vector;
  next_argument = 1;
  // Behind the last pointer is a null pointer; half way there is none.
  if (*(vector + count) != 0) pointer_words = 2;
}

int* take_argument(int* what) {
  int* text;

  if (next_argument >= arguments) {
    put_to(2);
    put_text("selfie: expected ");
    put_text(what);
    put_line(", found the end of the command line");
    stop(2);
  }
  text = argument(next_argument);
  next_argument = next_argument + 1;
  return text;
}

int take_number(int* what, int least, int most) {
  int* text;
  int n;
  int good;

  text = take_argument(what);
  n = number_of(text);
  good = n >= least;
  if (n > most) good = 0;
  if (good) return n;
  put_to(2);
  put_text("selfie: expected ");
  put_text(what);
  put_text(" from ");
  put_number(least);
  put_text(" to ");
  put_number(most);
  put_text(", found ");
  put_line(text);
  stop(2);
}

void push_word(int context, int value) {
  int* state;

  state = state_of(context);
  *(state + R_SP) = *(state + R_SP) - 4;
  store(context, *(state + R_SP), value);
}

int push_text(int context, int* text) {
  int i;

  i = length_of(text) / 4;
  // A word's unused bytes are 0 already, and the last word has at least one.
  while (i >= 0) {
    push_word(context, *(text + i));
    i = i - 1;
  }
  return *(state_of(context) + R_SP);
}

// The program's name and what is left of the command line.
void push_arguments(int context, int* name) {
  int* places;
  int count;
  int i;

  push_word(context, 0);
  places = allocate(arguments - next_argument + 1);
  *places = push_text(context, name);
  count = 1;
  while (next_argument < arguments) {
    *(places + count) = push_text(context, take_argument("an argument"));
    count = count + 1;
  }
  push_word(context, 0);
  i = count;
  while (i > 0) {
    i = i - 1;
    push_word(context, *(places + i));
  }
  push_word(context, *(state_of(context) + R_SP));
  push_word(context, count);
}

// ---- profile and trace: the machine, one instruction at a time ------------------------------------------------------

int tracing = 0;
int profiling = 0;
int verbose = 0;

// Counts that may outgrow an int are in two columns: what is left of whole millions, and these.
int* executions;  // of each instruction, while profiling
int* million_executions;

void add_count(int* counts, int* millions, int i, int more, int more_millions) {
  more = *(counts + i) + more;
  *(counts + i) = more % 1000000;
  *(millions + i) = *(millions + i) + more / 1000000 + more_millions;
}

void count_execution(int i) { add_count(executions, million_executions, i, 1, 0); }

int profile_rows = 10;

// What the instruction that was just executed has left behind.
void put_effect(int context, int pc, int base_value) {
  int* state;
  int word;
  int op;
  int to;

  state = state_of(context);
  word = *(code + pc / 4);
  op = field(word, 67108864, 64);
  to = 0;
  if (op == OP_SW) {
    put_text(" | memory[");
    put_hex(base_value + signed_immediate(word));
    put_text("]=");
    put_number(*(state + field(word, 65536, 32)));
  } else if (op == OP_LW) {
    put_text(" | memory[");
    put_hex(base_value + signed_immediate(word));
    put_text("]");
    to = field(word, 65536, 32);
  } else if (op == OP_ADDIU) to = field(word, 65536, 32);
  else if (op == 0) to = field(word, 2048, 32);
  else if (op == OP_JAL) to = R_RA;
  if (to > 0) {
    put_text(" | ");
    put_register(to);
    put('=');
    put_number(*(state + to));
  }
  if (field(word, 1, 64) == F_MULTU)
    if (op == 0) {
      put_text(" | lo=");
      put_number(*(state + S_LO));
    }
  if (*(state + S_PC) != pc + 4) {
    put_text(" | $pc=");
    put_hex(*(state + S_PC));
  }
  put('\n');
}

// One instruction of a context of ours; children, whose code we do not know, run at once.
void step(int context) {
  int* state;
  int pc;
  int base_value;
  int known;

  state = state_of(context);
  if (*(context_parent + context) >= 0) {
    run(context);
    return;
  }
  pc = *(state + S_PC);
  known = is_code(pc);
  base_value = 0;
  if (known) base_value = *(state + field(*(code + pc / 4), 2097152, 32));
  *(state + S_FUEL) = 1;
  run(context);
  if (known)
    if (*(state + S_FUEL) == 0) {
      if (profiling) count_execution(pc / 4);
      if (tracing) {
        put_code_line(pc);
        put_effect(context, pc, base_value);
      }
    } else if (*(state + S_CAUSE) == BY_CALL) {
      if (profiling) count_execution(pc / 4);
      if (tracing) {
        put_code_line(pc);
        put_text(" | call ");
        put_number(*(state + R_V0));
        put('\n');
      }
    }
}

// 1 call, 2 jump back of a loop, 3 load, 4 store, 0 none of them.
int kind_of(int i) {
  int op;

  op = field(*(code + i), 67108864, 64);
  if (op == OP_JAL) return 1;
  if (op == OP_J) return 2;
  if (op == OP_LW) return 3;
  if (op == OP_SW) return 4;
  return 0;
}

int* tally;  // and, behind those of all instructions, of the whole
int* million_tally;

void add_to_tally(int to, int i) {
  add_count(tally, million_tally, to, *(executions + i), *(million_executions + i));
}

void clear_tally() {
  clear(tally, code_count + 1);
  clear(million_tally, code_count + 1);
}

void put_tally(int i, int width) {
  int unit;

  if (*(million_tally + i) == 0) {
    put_wide(*(tally + i), width);
    return;
  }
  put_wide(*(million_tally + i), width - 6);
  unit = 100000;
  while (unit > 0) {
    put('0' + *(tally + i) / unit % 10);
    unit = unit / 10;
  }
}

int is_more(int i, int than) {
  if (*(million_tally + i) == *(million_tally + than)) return *(tally + i) > *(tally + than);
  return *(million_tally + i) > *(million_tally + than);
}

// Of the whole, in units, thousands or millions, as it is large.
int percent(int i) {
  int part;
  int whole;

  part = *(tally + i);
  whole = *(tally + code_count);
  if (*(million_tally + code_count) >= 1000) {
    part = *(million_tally + i);
    whole = *(million_tally + code_count);
  } else if (*(million_tally + code_count) > 0) {
    part = *(million_tally + i) * 1000 + part / 1000;
    whole = *(million_tally + code_count) * 1000 + whole / 1000;
  }
  if (whole > 20000000) return part / (whole / 100);
  return part * 100 / whole;
}

// For each procedure its calls, for each line its loops, loads or stores; in `tally` at the first instruction of it.
void fill_tally(int kind) {
  int i;
  int at;
  int place;
  int to;

  clear_tally();
  i = 0;
  at = 0;
  place = -1;
  while (i < code_count) {
    if (*(code_place + i) != place) {
      place = *(code_place + i);
      at = i;
    }
    if ((kind_of(i) == kind) * (*(executions + i) + *(million_executions + i) != 0)) {
      to = at;
      if (kind == 1) to = field(*(code + i), 1, 67108864);  // in the code, as it was executed
      add_to_tally(to, i);
      add_to_tally(code_count, i);
    }
    i = i + 1;
  }
}

void put_profile_part(int* title, int kind) {
  int row;
  int best;
  int i;

  fill_tally(kind);
  put_text(title);
  put_text(": ");
  put_tally(code_count, 1);
  put('\n');
  row = 0;
  while (row < profile_rows) {
    best = 0;
    i = 1;
    while (i < code_count) {
      if (is_more(i, best)) best = i;
      i = i + 1;
    }
    if (*(tally + best) + *(million_tally + best) > 0) {
      put_tally(best, 12);
      put_text("  ");
      put_wide(percent(best), 3);
      put_text(" %  ");
      i = -1;
      if (kind == 1) i = procedure_at(4 * best);
      if (i >= 0) {
        put_name(*(symbol_name + i));
        put_text("()");
      } else {
        put_place(*(code_place + best) / 65536, *(code_place + best) % 65536);
        put_text(": ");
        put_source_line(*(code_place + best) / 65536, *(code_place + best) % 65536);
      }
      put('\n');
    } else row = profile_rows;
    *(tally + best) = 0;
    *(million_tally + best) = 0;
    row = row + 1;
  }
}

void put_profile() {
  int i;

  tally = allocate(code_count + 1);
  million_tally = allocate(code_count + 1);
  clear_tally();
  i = 0;
  while (i < code_count) {
    add_to_tally(code_count, i);
    i = i + 1;
  }
  put_text("instructions: ");
  put_tally(code_count, 1);
  put('\n');
  put_profile_part("calls", 1);
  put_profile_part("loops", 2);
  put_profile_part("loads", 3);
  put_profile_part("stores", 4);
}

// The program from its start to its end.
void execute(int megabytes, int* name) {
  int context;

  start_machine(megabytes);
  context = load_program(megabytes);
  push_arguments(context, name);
  if (profiling) {
    executions = allocate_clear(code_count);
    million_executions = allocate_clear(code_count);
  }
  call_name = allocate(300);
  flush();
  running = 1;
  while (running) {
    if (*(context_parent + context) < 0) *(state_of(context) + S_FUEL) = all_fuel;
    if (tracing + profiling > 0) step(context);
    else run(context);
    context = handle(context);
  }
  if (profiling) put_profile();
  if (verbose) {
    put_to(2);
    put_text("selfie: ");
    put_number(executed_millions);
    put_text(" million instructions, ");
    put_number(next_frame);
    put_text(" of ");
    put_number(memory_frames);
    put_line(" frames");
  }
  stop(exit_status);
}

// ---- explorer: all interleavings of a concurrent program ------------------------------------------------------------
//
// The program has a variable `threads` and procedures before(), thread(self) and after(), each of which may be missing but
// thread. before() runs alone; then so many contexts run thread(0), thread(1), … at once; when all are done, after().
// They share variables and heap; each has a stack of its own. compare_and_swap(address, old, new) is one step. Any of
//
//   assert(0) · an access that no machine allows · contexts that wait for each other · a history that is not linearizable
//   a state that comes back, so that it could come back for ever
//
// is a failure. A *schedule* is the sequence of who makes the next step. A step is an access to a word that two contexts
// use and one of them writes: all other instructions cannot be seen by others, so nothing is lost if nobody is
// interrupted before them. Which words these are is found out on the way: when a word turns out to be shared after it was
// taken for private, everything begins again, knowing it.
//
// How such an access is noticed: the pages of variables and heap are mapped for nobody. The machine stops there, and the
// explorer makes the access when it is that context's turn, noting what the word was. So a schedule is undone by writing
// the old words back, and all is deterministic: the same schedule gives the same run.
//
// The search is depth-first, always from the start, following the same choices up to the last one that has another
// answer. To take a step from a context that could go on costs one switch; at most `bound` of these in a schedule. Where
// a state is met again that was met with as many switches left, the rest is known. States are compared by two sums of 31
// bits each over memory, registers, stacks and history; -f compares none.

int thread_limit = 8;
int threads = 0;
int* thread_context;
int* thread_is;        // READY, DONE, WAITING
int* thread_invoking;  // the operation that is about to be recorded with the next step, 0: none
int* thread_argument;
int* thread_operation;  // in the history, -1: none open
int* thread_news;       // another one wrote since this one looked
int* thread_moved;      // since its sums were made
int* thread_sum;
int* thread_other_sum;
int after_thread = 0;  // after() runs in a context of its own
int READY = 0;
int DONE = 1;
int WAITING = 2;

int first_stack = 0;  // address of the stack pages
int stack_pages = 2;
int explored_end = 0;  // end of the heap after before()
int return_address = -4;

int* shared;  // of each word of memory: 0 unknown, 1 + n only used by context n, -1 - n also written by it,
int SHARED_WORD = 1000;
int READ_BY_MANY = 1001;
int learnt = 0;  // a word has become shared in this run
int learning = 0;
int* late;  // words that were not known to be shared when the search began: a schedule names them
int late_count = 0;

int* log_word;  // what the run has overwritten
int* log_value;
int log_length = 0;
int log_limit = 200000;

int memory_sum = 0;
int memory_other_sum = 0;
int history_sum = 0;
int history_other_sum = 0;

int step_limit = 20000;  // of a schedule
int steps = 0;
int* step_thread;
int* step_current;   // who made the step before
int* step_switches;  // before it
int* step_enabled;   // thread_limit words each
int* step_sum;       // of the state before it, where states are compared
int* step_other_sum;
int prefix = 0;  // so many steps are given

int bound = 0;
int no_bound = 1000000;
int compare_states = 1;
int RANDOM = 1;
int GIVEN = 2;
int mode = 0;
int random_state = 1;

int failed = 0;  // what went wrong
int failed_thread = 0;
int FAILED_ASSERT = 1;
int FAILED_MACHINE = 2;
int FAILED_WAITING = 3;
int FAILED_HISTORY = 4;
int FAILED_LENGTH = 5;
int FAILED_CALL = 6;
int FAILED_SCHEDULE = 7;
int FAILED_AGAIN = 8;
int showing = 0;  // print every step
int drawing = 0;  // a failing schedule is to be drawn
int* picture_name;
int picture = 0;  // descriptor of the SVG, 0: none yet
int picture_top = 46;
int picture_lane = 330;
int picture_row = 26;

int* visited;  // three words a state: two sums, switches + 1
int visited_limit = 0;
int visited_count = 0;

int schedules = 0;
int known_ends = 0;  // schedules that met a known state
int longest = 0;

int operation_limit = 64;
int operations = 0;
int first_operations = 0;  // those that before() recorded
int* operation_thread;
int* operation_kind;
int* operation_argument;
int* operation_result;
int* operation_begin;
int* operation_end;
int* operation_taken;
int* model;  // the sequential stack or queue
int model_first = 0;
int model_length = 0;
int moment = 0;
int PUSH = 1;  // kinds of operations; the result of POP and DEQUEUE is 0 if there was nothing
int POP = 2;
int ENQUEUE = 3;
int DEQUEUE = 4;
int never = 2147483647;

int fold(int sum, int a, int b) {
  sum = sum * 31 + a * 668265261 + b * 374761393 + 1013904223;
  sum = sum + sum / 65536;
  sum = sum * 1103515245 + 12345;
  return sum + sum / 32768;
}

void log_write(int word, int value) {
  int old;

  old = *(memory + word);
  if (log_length == log_limit) {
    failed = FAILED_LENGTH;
    return;
  }
  *(log_word + log_length) = word;
  *(log_value + log_length) = old;
  log_length = log_length + 1;
  *(memory + word) = value;
  memory_sum = memory_sum - fold(1, word, old) + fold(1, word, value);
  memory_other_sum = memory_other_sum - fold(7, old, word) + fold(7, value, word);
}

void undo_all() {
  while (log_length > 0) {
    log_length = log_length - 1;
    *(memory + *(log_word + log_length)) = *(log_value + log_length);
  }
  memory_sum = 0;
  memory_other_sum = 0;
  *(context_end + 0) = explored_end;
}

// Whether an access by this thread to this word is a step; remembers who uses the word.
int is_step(int thread, int word, int writes) {
  int use;

  if (thread == after_thread) return 0;
  use = *(shared + word);
  if (use == SHARED_WORD) return 1;
  if (use == 0) {
    *(shared + word) = 1 + thread;
    if (writes) *(shared + word) = -1 - thread;
    return 0;
  }
  if (use == READ_BY_MANY) {
    if (writes == 0) return 0;
  } else if (use == 1 + thread) {
    if (writes) *(shared + word) = -1 - thread;
    return 0;
  } else if (use == -1 - thread) return 0;
  else if (use > 0)
    if (writes == 0) {
      *(shared + word) = READ_BY_MANY;
      return 0;
    }
  *(shared + word) = SHARED_WORD;
  learnt = 1;
  if (learning == 0) {
    *(late + late_count) = word;
    late_count = late_count + 1;
  }
  return 1;
}

void fail_run(int thread, int what) {
  if (failed == 0) {
    failed = what;
    failed_thread = thread;
  }
}

void record(int kind, int a, int b) {
  history_sum = fold(history_sum, kind, fold(3, a, b));
  history_other_sum = fold(history_other_sum, fold(5, b, a), kind);
}

void note_invocation(int thread, int kind, int argument) {
  if ((kind < PUSH) + (kind > DEQUEUE)) fail_run(thread, FAILED_CALL);
  *(thread_invoking + thread) = kind;
  *(thread_argument + thread) = argument;
}

// An operation begins as late as it can: with its first step.
void record_invocation(int thread) {
  if (*(thread_invoking + thread) == 0) return;
  if (operations == operation_limit) fail(3, "a history has too many operations");
  *(operation_thread + operations) = thread;
  *(operation_kind + operations) = *(thread_invoking + thread);
  *(operation_argument + operations) = *(thread_argument + thread);
  *(operation_result + operations) = 0;
  *(operation_begin + operations) = moment;
  *(operation_end + operations) = never;
  moment = moment + 1;
  *(thread_operation + thread) = operations;
  *(thread_invoking + thread) = 0;
  record(*(operation_kind + operations), thread, *(operation_argument + operations));
  operations = operations + 1;
}

void record_response(int thread, int result) {
  int i;

  record_invocation(thread);
  i = *(thread_operation + thread);
  if (i < 0) {
    fail_run(thread, FAILED_CALL);
    return;
  }
  *(operation_result + i) = result;
  *(operation_end + i) = moment;
  moment = moment + 1;
  *(thread_operation + thread) = -1;
  record(100, thread, result);
}

// A word of the shared memory, -1 where there is none.
int shared_word(int thread, int address) {
  if (address < *(state_of(0) + S_LOW)) return -1;
  if (address >= *(context_end + 0)) return -1;
  return word_of(0, address);
}

void sum_thread(int thread) {
  int* state;
  int* table;
  int a;
  int b;
  int i;
  int last;
  int word;
  int at;

  state = state_of(*(thread_context + thread));
  table = table_of(*(thread_context + thread));
  a = fold(11, *(state + S_PC), *(thread_is + thread) * 2 + *(thread_news + thread));
  b = fold(13, *(thread_is + thread) * 2 + *(thread_news + thread), *(state + S_PC));
  if (*(thread_is + thread) != DONE) {
    a = fold(a, *(state + R_SP), *(thread_invoking + thread));
    b = fold(b, *(thread_invoking + thread), *(state + R_SP));
    if (*(thread_invoking + thread)) {
      a = fold(a, *(thread_argument + thread), 17);
      b = fold(b, 17, *(thread_argument + thread));
    }
    // Of the temporaries those up to the highest that the access names are in use; of a call its arguments, and since the
    // library keeps no frame, where it was called from.
    word = *(code + *(state + S_PC) / 4);
    if (field(word, 67108864, 64) == 0) {
      a = fold(a, *(state + R_RA), R_RA);
      b = fold(b, R_RA, *(state + R_RA));
      i = R_A0;
      last = R_A0 + 2;
    } else {
      i = R_T0;
      last = field(word, 2097152, 32);
      if (field(word, 65536, 32) > last) last = field(word, 65536, 32);
      if (last > R_T0 + 7) last = R_T0 + 7;
    }
    while (i <= last) {
      a = fold(a, *(state + i), i);
      b = fold(b, i, *(state + i));
      i = i + 1;
    }
    at = *(state + R_SP);
    while (at < first_stack + stack_pages * page_bytes) {
      if (at >= first_stack) {
        word = *(memory + (*(table + at / page_bytes) + at / 4));
        a = fold(a, word, at);
        b = fold(b, at, word);
      }
      at = at + 4;
    }
  }
  *(thread_sum + thread) = a;
  *(thread_other_sum + thread) = b;
}

void wake_others(int thread) {
  int t;

  t = 0;
  while (t < threads) {
    if (t != thread) {
      if (*(thread_is + t) == WAITING) {
        *(thread_is + t) = READY;
        *(thread_moved + t) = 1;
      } else if (*(thread_is + t) == READY)
        if (*(thread_news + t) == 0) {
          *(thread_news + t) = 1;
          *(thread_moved + t) = 1;
        }
    }
    t = t + 1;
  }
}

// ---- showing a schedule

// A variable by its name; a word of the heap by the variable that points nearest below it.
void put_address(int address) {
  int i;
  int best;
  int distance;
  int value;

  best = -1;
  distance = 1024;
  i = 0;
  while (i < symbols) {
    if (*(symbol_kind + i) == GLOBAL)
      if (symbol_is_shown(i)) {
        value = data_begin + 4 * global_count + *(symbol_place + i);
        if (value == address) {
          put_name(*(symbol_name + i));
          return;
        }
        value = address - *(memory + word_of(0, value));
        if (address >= data_begin + 4 * (global_count + data_count))
          if (value >= 0)
            if (value < distance) {
              best = i;
              distance = value;
            }
      }
    i = i + 1;
  }
  if (best >= 0) {
    put('*');
    if (distance > 0) put('(');
    put_name(*(symbol_name + best));
    if (distance > 0) {
      put_text(" + ");
      put_number(distance / 4);
      put(')');
    }
  } else put_hex(address);
}

void put_safe(int* text) {
  int c;

  c = *text;
  while (c != '\n') {
    if (c == 0) return;
    if (c == '<') put_text("&lt;");
    else if (c == '>') put_text("&gt;");
    else if (c == '&') put_text("&amp;");
    else put(c);
    text = text + 1;
    c = *text;
  }
}

void begin_picture(int rows) {
  int t;

  picture = create(picture_name);
  put_to(picture);
  put_text("<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"monospace\" font-size=\"12\" viewBox=\"0 0 ");
  put_number(threads * picture_lane + 60);
  put(' ');
  put_number(picture_top + rows * picture_row + 40);
  put_line("\">");
  put_line("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
  t = 0;
  while (t < threads) {
    put_text("<text font-weight=\"bold\" x=\"");
    put_number(50 + t * picture_lane);
    put_text("\" y=\"24\">thread ");
    put_number(t);
    put_line("</text>");
    put_text("<line stroke=\"#ccc\" x1=\"");
    put_number(44 + t * picture_lane);
    put_text("\" x2=\"");
    put_number(44 + t * picture_lane);
    put_text("\" y1=\"32\" y2=\"");
    put_number(picture_top + rows * picture_row);
    put_line("\"/>");
    t = t + 1;
  }
  put_to(1);
}

// One row: who, where, and a colour for each thread.
void begin_row(int thread) {
  int y;

  y = picture_top + (steps - 1) * picture_row;
  put_to(picture);
  put_text("<text fill=\"#888\" x=\"6\" y=\"");
  put_number(y + 16);
  put_text("\">");
  put_number(steps);
  put_line("</text>");
  put_text("<rect rx=\"4\" height=\"22\" fill=\"");
  if (thread % 3 == 0) put_text("#d9e8f6");
  else if (thread % 3 == 1) put_text("#fbe3cf");
  else put_text("#dcefd9");
  put_text("\" width=\"");
  put_number(picture_lane - 14);
  put_text("\" x=\"");
  put_number(44 + thread * picture_lane);
  put_text("\" y=\"");
  put_number(y);
  put_line("\"/>");
  put_text("<text x=\"");
  put_number(50 + thread * picture_lane);
  put_text("\" y=\"");
  put_number(y + 15);
  put_text("\">");
}

// 1 reads, 2 writes, 3 compares and swaps, 4 allocates.
void put_action(int action, int address, int old, int value) {
  if (action == 1) {
    put_text("reads ");
    put_address(address);
    put_text(" = ");
    put_number(old);
  } else if (action == 2) {
    put_text("writes ");
    put_address(address);
    put_text(" = ");
    put_number(value);
    put_text(", was ");
    put_number(old);
  } else if (action == 4) {
    put_text("allocates ");
    put_hex(value);
  }
}

void put_swap(int address, int old, int wanted, int value) {
  put_text("cas ");
  put_address(address);
  put(' ');
  put_number(wanted);
  put_text(" to ");
  put_number(value);
  if (old == wanted) put_text(": done");
  else {
    put_text(": no, it is ");
    put_number(old);
  }
}

void show(int thread, int action, int address, int old, int value, int wanted) {
  int place;

  place = place_of(*(thread_context + thread));
  put_wide(steps, 5);
  put_text("  ");
  if (thread < threads) {
    put_text("thread ");
    put_number(thread);
  } else put_text("after   ");
  put_text("  ");
  if (action == 3) put_swap(address, old, wanted, value);
  else put_action(action, address, old, value);
  put_text("    // ");
  put_place(place / 65536, place % 65536);
  put_text(": ");
  put_source_line(place / 65536, place % 65536);
  put('\n');
  if (picture > 0) {
    begin_row(thread);
    put_number(place % 65536);
    put_text(": ");
    if (action == 3) put_swap(address, old, wanted, value);
    else put_action(action, address, old, value);
    put_line("</text>");
    put_to(1);
  }
}

void put_kind(int kind) {
  if (kind == PUSH) put_text("push");
  else if (kind == POP) put_text("pop");
  else if (kind == ENQUEUE) put_text("enqueue");
  else if (kind == DEQUEUE) put_text("dequeue");
  else {
    put_text("operation ");
    put_number(kind);
  }
}

void put_history() {
  int i;

  i = 0;
  while (i < operations) {
    put_text("       ");
    if (i < first_operations) put_text("before  ");
    else if (*(operation_thread + i) == after_thread) put_text("after   ");
    else {
      put_text("thread ");
      put_number(*(operation_thread + i));
    }
    put_text("  ");
    put_kind(*(operation_kind + i));
    put('(');
    if ((*(operation_kind + i) == PUSH) + (*(operation_kind + i) == ENQUEUE)) put_number(*(operation_argument + i));
    put(')');
    if ((*(operation_kind + i) == POP) + (*(operation_kind + i) == DEQUEUE)) {
      put_text(" gave ");
      if (*(operation_result + i) == 0) put_text("nothing");
      else put_number(*(operation_result + i));
    }
    put_text(", from moment ");
    put_number(*(operation_begin + i));
    put_text(" to ");
    put_number(*(operation_end + i));
    put('\n');
    i = i + 1;
  }
}

void put_failure() {
  int place;

  if (failed == FAILED_ASSERT) put_text("an assertion does not hold");
  else if (failed == FAILED_MACHINE) put_cause(*(thread_context + failed_thread));
  else if (failed == FAILED_WAITING) put_text("everyone waits for another's write");
  else if (failed == FAILED_HISTORY) put_text("the history is not linearizable");
  else if (failed == FAILED_LENGTH) put_text("no end: too many steps");
  else if (failed == FAILED_AGAIN) put_text("no end: all is as it was some steps before");
  else if (failed == FAILED_CALL) put_text("a call that has no place in an explored program");
  else put_text("this schedule cannot be followed");
  if ((failed == FAILED_ASSERT) + (failed == FAILED_MACHINE) + (failed == FAILED_CALL) > 0) {
    if (failed_thread < threads) {
      put_text(", in thread ");
      put_number(failed_thread);
    } else put_text(", in after()");
    place = place_of(*(thread_context + failed_thread));
    put_text("    // ");
    put_place(place / 65536, place % 65536);
    put_text(": ");
    put_source_line(place / 65536, place % 65536);
  }
}

// The address that context 0 has for a word of memory.
int address_of(int word) {
  int page;

  page = 0;
  while (page < *(state_of(0) + S_PAGES)) {
    if (*(table_of(0) + page) != unmapped)
      if ((*(table_of(0) + page) + page * 1024) / 1024 == word / 1024) return page * page_bytes + word % 1024 * 4;
    page = page + 1;
  }
  return 0;
}

// Runs of the same thread: "0*3 1*2"; then the addresses of words that only the search has found to be shared.
void put_schedule() {
  int i;
  int run_length;

  i = 0;
  while (i < steps) {
    run_length = 1;
    while (i + run_length < steps) {
      if (*(step_thread + i + run_length) == *(step_thread + i)) run_length = run_length + 1;
      else {
        put_number(*(step_thread + i));
        put('*');
        put_number(run_length);
        put(' ');
        i = i + run_length;
        run_length = 0;
      }
    }
    if (i < steps) {
      put_number(*(step_thread + i));
      put('*');
      put_number(run_length);
    }
    i = i + run_length;
  }
  i = 0;
  while (i < late_count) {
    put_text(" @");
    put_number(address_of(*(late + i)));
    i = i + 1;
  }
}

// ---- running threads

// The access at which a thread stands. Returns 1 if it was made, 0 if it would be a step and `now` is 0.
int access(int thread, int address, int writes, int now) {
  int* state;
  int word;
  int instruction;
  int rt;
  int old;

  state = state_of(*(thread_context + thread));
  word = shared_word(thread, address);
  if (word < 0) {
    fail_run(thread, FAILED_MACHINE);
    return 0;
  }
  if (is_step(thread, word, writes))
    if (now == 0) return 0;
  instruction = *(code + *(state + S_PC) / 4);
  rt = field(instruction, 65536, 32);
  old = *(memory + word);
  if (writes) {
    if (showing)
      if (now) show(thread, 2, address, old, *(state + rt), 0);
    log_write(word, *(state + rt));
    if (now) wake_others(thread);
  } else {
    if (showing)
      if (now) show(thread, 1, address, old, 0, 0);
    *(state + rt) = old;
  }
  *(state + S_PC) = *(state + S_PC) + 4;
  return 1;
}

int swap_access(int thread, int now) {
  int* state;
  int word;
  int address;
  int old;

  state = state_of(*(thread_context + thread));
  address = *(state + R_A0);
  word = -1;
  if (address >= 0)
    if (address % 4 == 0) word = shared_word(thread, address);
  if (word < 0) {
    *(state + S_CAUSE) = BY_PAGE;
    *(state + S_DETAIL) = address;
    if (address % 4 != 0) *(state + S_CAUSE) = BY_ALIGNMENT;
    if (address < *(state + S_LOW)) *(state + S_CAUSE) = BY_PROTECTION;
    fail_run(thread, FAILED_MACHINE);
    return 0;
  }
  if (is_step(thread, word, 1))
    if (now == 0) return 0;
  old = *(memory + word);
  if (showing)
    if (now) show(thread, 3, address, old, *(state + R_A0 + 2), *(state + R_A0 + 1));
  *(state + R_V0) = 0;
  if (old == *(state + R_A0 + 1)) {
    *(state + R_V0) = 1;
    log_write(word, *(state + R_A0 + 2));
    if (now) wake_others(thread);
  }
  *(state + S_PC) = *(state + S_PC) + 4;
  return 1;
}

int malloc_access(int thread, int now) {
  int* state;

  if (thread < threads)
    if (now == 0) return 0;
  state = state_of(*(thread_context + thread));
  *(state_of(0) + R_A0) = *(state + R_A0);
  *(state + R_V0) = malloc_call(0);
  if (showing)
    if (now) show(thread, 4, 0, 0, *(state + R_V0), 0);
  *(state + S_PC) = *(state + S_PC) + 4;
  return 1;
}

// A system call. Returns 1 if the thread may go on.
int explored_call(int thread, int now) {
  int* state;
  int number;

  state = state_of(*(thread_context + thread));
  number = *(state + R_V0);
  if (number == CALL_SWAP) return swap_access(thread, now);
  if (number == CALL_MALLOC) return malloc_access(thread, now);
  if (number == CALL_ASSERT) {
    if (*(state + R_A0) == 0) {
      fail_run(thread, FAILED_ASSERT);
      return 0;
    }
  } else if (number == CALL_INVOKE) note_invocation(thread, *(state + R_A0), *(state + R_A0 + 1));
  else if (number == CALL_RESPOND) record_response(thread, *(state + R_A0));
  else if (number == CALL_YIELD) {
    if (thread < threads) {
      if (*(thread_news + thread)) {
        *(thread_news + thread) = 0;
      } else {
        *(state + S_PC) = *(state + S_PC) + 4;
        *(thread_is + thread) = WAITING;
        return 0;
      }
    }
  } else {
    fail_run(thread, FAILED_CALL);
    return 0;
  }
  *(state + S_PC) = *(state + S_PC) + 4;
  return 1;
}

// Lets a thread run up to its next step. If `now`, it makes the one at which it stands first.
void advance(int thread, int now) {
  int* state;
  int context;
  int more;
  int cause;
  int accesses;

  context = *(thread_context + thread);
  state = state_of(context);
  more = 1;
  accesses = 0;
  while (more) {
    accesses = accesses + 1;
    if (accesses == log_limit) fail_run(thread, FAILED_LENGTH);
    *(state + S_FUEL) = 1000000;
    cause = run(context);
    more = 0;
    if (cause == BY_PAGE) {
      if (now) record_invocation(thread);
      more = access(thread, *(state + S_DETAIL), field(*(code + *(state + S_PC) / 4), 67108864, 64) == OP_SW, now);
    } else if (cause == BY_CALL) {
      if (now)
        if ((*(state + R_V0) == CALL_SWAP) + (*(state + R_V0) == CALL_MALLOC)) record_invocation(thread);
      more = explored_call(thread, now);
    } else if (cause == BY_JUMP) {
      if (*(state + S_PC) == return_address) *(thread_is + thread) = DONE;
      else fail_run(thread, FAILED_MACHINE);
    } else fail_run(thread, FAILED_MACHINE);
    if (failed) more = 0;
    now = 0;
  }
  if (thread < threads) *(thread_moved + thread) = 1;
}

// To the beginning of a procedure, with one argument.
void begin_thread(int thread, int symbol) {
  int* state;
  int* table;
  int i;

  state = state_of(*(thread_context + thread));
  table = table_of(*(thread_context + thread));
  clear(state, 36);
  i = 0;
  while (i < stack_pages) {
    clear(memory + (*(table + first_stack / page_bytes + i) + (first_stack / page_bytes + i) * 1024), 1024);
    i = i + 1;
  }
  *(state + S_PC) = *(symbol_place + symbol);
  *(state + R_GP) = data_begin + 4 * global_count;
  *(state + R_RA) = return_address;
  i = first_stack + stack_pages * page_bytes - 4;
  *(state + R_SP) = i;
  *(memory + (*(table + i / page_bytes) + i / 4)) = thread;
  *(thread_is + thread) = READY;
  *(thread_news + thread) = 0;
  *(thread_invoking + thread) = 0;
  *(thread_operation + thread) = -1;
}

// Deterministic chance, the same on every machine. All words come in turn, whichever is the first; the upper bits count
// most, for the lower ones soon come as they came before.
int random_below(int n) {
  random_state = random_state * 1103515245 + 12345;
  return field(random_state, 65536, 32768) * n / 32768;
}

// Twice the room for states, if it can be had.
void more_room() {
  int* larger;
  int i;
  int j;

  larger = malloc(3 * visited_limit * 2 * 4);
  if (larger == 0) return;
  clear(larger, 3 * visited_limit * 2);
  i = 0;
  while (i < visited_limit) {
    if (*(visited + 3 * i + 2) != 0) {
      j = *(visited + 3 * i) % (2 * visited_limit);
      while (*(larger + 3 * j + 2) != 0) j = (j + 1) % (2 * visited_limit);
      *(larger + 3 * j) = *(visited + 3 * i);
      *(larger + 3 * j + 1) = *(visited + 3 * i + 1);
      *(larger + 3 * j + 2) = *(visited + 3 * i + 2);
    }
    i = i + 1;
  }
  visited = larger;
  visited_limit = 2 * visited_limit;
}

// The sums of the state before the next step.
void sum_state(int current) {
  int a;
  int b;
  int t;

  if (bound == no_bound) current = 0;  // then nothing depends on who came before
  a = fold(fold(memory_sum, history_sum, current), *(context_end + 0), 17);
  b = fold(fold(memory_other_sum, current, history_other_sum), 17, *(context_end + 0));
  t = 0;
  while (t < threads) {
    if (*(thread_moved + t)) sum_thread(t);
    *(thread_moved + t) = 0;
    a = fold(a, *(thread_sum + t), t);
    b = fold(b, t, *(thread_other_sum + t));
    t = t + 1;
  }
  if (a < 0) a = a - smallest;
  if (b < 0) b = b - smallest;
  *(step_sum + steps) = a;
  *(step_other_sum + steps) = b;
}

// Whether this schedule has been in this state before.
int comes_back() {
  int s;

  s = 0;
  while (s < steps) {
    if (*(step_sum + s) == *(step_sum + steps))
      if (*(step_other_sum + s) == *(step_other_sum + steps)) return 1;
    s = s + 1;
  }
  return 0;
}

// Whether this state was met before with no more switches used; else it is remembered.
int met_before(int switches) {
  int a;
  int b;
  int i;

  if (bound == no_bound) switches = 0;
  a = *(step_sum + steps);
  b = *(step_other_sum + steps);
  i = a % visited_limit;
  while (*(visited + 3 * i + 2) != 0) {
    if (*(visited + 3 * i) == a)
      if (*(visited + 3 * i + 1) == b) {
        if (*(visited + 3 * i + 2) <= switches + 1) return 1;
        *(visited + 3 * i + 2) = switches + 1;
        return 0;
      }
    i = i + 1;
    if (i == visited_limit) i = 0;
  }
  if (visited_count >= visited_limit / 2) return 0;  // there is no more room: it will not be known again
  *(visited + 3 * i) = a;
  *(visited + 3 * i + 1) = b;
  *(visited + 3 * i + 2) = switches + 1;
  visited_count = visited_count + 1;
  if (visited_count == visited_limit / 2) more_room();
  return 0;
}

int step_cost(int s, int thread) {
  int current;

  current = *(step_current + s);
  if (current < 0) return 0;
  if (thread == current) return 0;
  return *(step_enabled + s * thread_limit + current);
}

// The next thread that step s may be given to, after `thread` (-1: the first). The one that runs comes first, then the
// others by number. -1: none.
int next_choice(int s, int thread) {
  int current;
  int t;

  current = *(step_current + s);
  if (current >= 0)
    if (*(step_enabled + s * thread_limit + current)) {
      if (thread < 0) return current;
      if (thread == current) thread = -1;
    }
  t = thread + 1;
  while (t < threads) {
    if (t != current)
      if (*(step_enabled + s * thread_limit + t))
        if (*(step_switches + s) + step_cost(s, t) <= bound) return t;
    t = t + 1;
  }
  return -1;
}

int random_choice(int s) {
  int t;

  if (*(step_current + s) >= 0)
    if (*(step_enabled + s * thread_limit + *(step_current + s)))
      if (random_below(3) > 0) return *(step_current + s);
  t = random_below(threads);
  while (*(step_enabled + s * thread_limit + t) == 0) t = (t + 1) % threads;
  return t;
}

int linearize(int done);

// Takes operation i as the next one, if the sequential object would have given the same.
int linearize_with(int i, int done) {
  int kind;
  int first;
  int length;
  int kept;

  kind = *(operation_kind + i);
  first = model_first;
  length = model_length;
  kept = 0;
  if ((kind == PUSH) + (kind == ENQUEUE)) {
    kept = *(model + model_first + model_length);
    *(model + model_first + model_length) = *(operation_argument + i);
    model_length = model_length + 1;
  } else {
    if (model_length == 0) {
      if (*(operation_result + i) != 0) return 0;
    } else if (kind == POP) {
      if (*(model + model_first + model_length - 1) != *(operation_result + i)) return 0;
      model_length = model_length - 1;
    } else {
      if (*(model + model_first) != *(operation_result + i)) return 0;
      model_first = model_first + 1;
      model_length = model_length - 1;
    }
  }
  *(operation_taken + i) = 1;
  if (linearize(done + 1)) return 1;
  *(operation_taken + i) = 0;
  model_first = first;
  model_length = length;
  if ((kind == PUSH) + (kind == ENQUEUE)) *(model + first + length) = kept;
  return 0;
}

// Whether the rest of the operations can follow, each before all that began after it had ended.
int linearize(int done) {
  int i;
  int earliest_end;

  if (done == operations) return 1;
  earliest_end = never;
  i = 0;
  while (i < operations) {
    if (*(operation_taken + i) == 0)
      if (*(operation_end + i) < earliest_end) earliest_end = *(operation_end + i);
    i = i + 1;
  }
  i = 0;
  while (i < operations) {
    if (*(operation_taken + i) == 0)
      if (*(operation_begin + i) < earliest_end)
        if (linearize_with(i, done)) return 1;
    i = i + 1;
  }
  return 0;
}

void check_history() {
  int i;

  i = 0;
  while (i < operations) {
    *(operation_taken + i) = 0;
    if (*(operation_end + i) == never) fail_run(*(operation_thread + i), FAILED_CALL);
    i = i + 1;
  }
  model_first = 0;
  model_length = 0;
  if (linearize(0) == 0) fail_run(0, FAILED_HISTORY);
}

// One schedule: the first `prefix` steps as they are in step_thread, the others as the mode says.
// Returns 0 if it met a known state.
int run_schedule() {
  int t;
  int thread_symbol;
  int current;
  int switches;
  int more;
  int enabled;
  int result;

  undo_all();
  failed = 0;
  steps = 0;
  operations = first_operations;
  moment = 2 * first_operations;
  history_sum = 0;
  history_other_sum = 0;
  thread_symbol = procedure_named("thread");
  t = 0;
  while (t < threads) {
    begin_thread(t, thread_symbol);
    t = t + 1;
  }
  t = 0;
  while (t < threads) {
    if (failed == 0) advance(t, 0);
    t = t + 1;
  }
  current = -1;
  switches = 0;
  result = 1;
  more = failed == 0;
  while (more) {
    if (steps == step_limit) {
      fail_run(0, FAILED_LENGTH);
      more = 0;
    } else {
      enabled = 0;
      result = 0;
      t = 0;
      while (t < threads) {
        *(step_enabled + steps * thread_limit + t) = *(thread_is + t) == READY;
        if (*(thread_is + t) == READY) enabled = enabled + 1;
        if (*(thread_is + t) == DONE) result = result + 1;
        t = t + 1;
      }
      *(step_current + steps) = current;
      *(step_switches + steps) = switches;
      if (enabled == 0) {
        if (result < threads) fail_run(0, FAILED_WAITING);
        else if (steps < prefix) fail_run(0, FAILED_SCHEDULE);
        more = 0;
        result = 1;
      } else {
        result = 1;
        // In a search those of the prefix are known from the schedule before.
        if (compare_states * (mode != RANDOM) * ((mode == GIVEN) + (steps >= prefix))) sum_state(current);
        if (steps >= prefix) {
          if (mode == RANDOM) *(step_thread + steps) = random_choice(steps);
          else if (mode == GIVEN) {
            if (compare_states)
              if (comes_back()) fail_run(0, FAILED_AGAIN);
            if (enabled > 1) fail_run(0, FAILED_SCHEDULE);
            *(step_thread + steps) = next_choice(steps, -1);
          } else {
            if (compare_states)
              if (met_before(switches)) {
                if (comes_back()) fail_run(0, FAILED_AGAIN);
                result = 0;
                more = 0;
              }
            if (more) *(step_thread + steps) = next_choice(steps, -1);
          }
        } else if (*(step_enabled + steps * thread_limit + *(step_thread + steps)) == 0)
          fail_run(0, FAILED_SCHEDULE);
        if (failed) more = 0;
        if (more) {
          t = *(step_thread + steps);
          switches = switches + step_cost(steps, t);
          steps = steps + 1;
          current = t;
          advance(t, 1);
          if (failed) more = 0;
          if (learnt)
            if (mode != GIVEN) more = 0;
        }
      }
    }
  }
  if (steps > longest) longest = steps;
  if (failed) return 1;
  if (result == 0) return 0;
  if (learnt)
    if (mode != GIVEN) return 1;
  if (procedure_named("after") >= 0) {
    begin_thread(after_thread, procedure_named("after"));
    advance(after_thread, 0);
  }
  if (failed == 0)
    if (operations > 0) check_history();
  return 1;
}

// Prints the failing schedule by running it again.
void report_failure() {
  int what;
  int who;
  int length;
  int i;
  int* line;

  what = failed;
  who = failed_thread;
  length = steps;
  put_text("FAILED in schedule ");
  put_number(schedules);
  put_text(": ");
  put_failure();
  put('\n');
  put_text("schedule: ");
  put_schedule();
  put('\n');
  if (drawing) begin_picture(length);
  showing = 1;
  mode = GIVEN;
  prefix = length;
  run_schedule();
  showing = 0;
  put_text("       ");
  put_failure();
  put('\n');
  if (failed == FAILED_HISTORY) put_history();
  if (picture > 0) {
    put_to(picture);
    put_text("<text fill=\"#b00\" font-weight=\"bold\" x=\"50\" y=\"");
    put_number(picture_top + length * picture_row + 20);
    put_text("\">");
    i = place_of(*(thread_context + failed_thread));
    if (failed == FAILED_ASSERT) {
      put_text("thread ");
      put_number(failed_thread);
      put_text(", line ");
      put_number(i % 65536);
      put_text(": this does not hold: ");
      line = source_line(i / 65536, i % 65536);
      if (line != 0) put_safe(line);
    } else put_failure();
    put_line("</text>");
    put_line("</svg>");
    put_to(1);
  }
  i = 0;
  if (failed == what)
    if (failed_thread == who) i = steps == length;
  if (i) put_line("replayed: the same failure after the same steps");
  else put_line("replayed: ANOTHER outcome; the explorer is wrong");
  stop(1);
}

// Which words are shared is mostly found out by some schedules at random, the same ones each time.
void learn() {
  int i;

  learning = 1;
  mode = RANDOM;
  bound = no_bound;
  random_state = 1;
  i = 0;
  while (i < 100) {
    learnt = 0;
    run_schedule();
    i = i + 1;
  }
  learning = 0;
  learnt = 0;
  failed = 0;
  longest = 0;
  mode = 0;
}

void forget_states() {
  clear(visited, 3 * visited_limit);
  visited_count = 0;
}

// All schedules with at most so many switches. Returns how many there were.
int explore(int limit) {
  int more;
  int s;
  int choice;

  bound = limit;
  more = 1;
  while (more) {  // until no word turns out to be shared any more
    learnt = 0;
    schedules = 0;
    known_ends = 0;
    longest = 0;
    prefix = 0;
    forget_states();
    while (more) {
      schedules = schedules + 1;
      if (run_schedule() == 0) known_ends = known_ends + 1;
      if (failed) report_failure();
      if (learnt) more = 0;
      else {
        s = steps - 1;
        choice = -1;
        while (s >= 0) {
          choice = next_choice(s, *(step_thread + s));
          if (choice >= 0) {
            *(step_thread + s) = choice;
            prefix = s + 1;
            s = -1;
          } else s = s - 1;
        }
        if (choice < 0) more = 0;
      }
    }
    more = learnt;
  }
  return schedules;
}

void put_explored(int limit) {
  if (limit == no_bound) put_text("any number of switches: ");
  else {
    put_text("at most ");
    put_number(limit);
    put_text(" switches: ");
  }
  put_number(schedules);
  put_text(" schedules");
  if (compare_states) {
    put_text(", ");
    put_number(known_ends);
    put_text(" of them into known states; ");
    put_number(visited_count);
    put_text(" states");
  }
  put_text("; at most ");
  put_number(longest);
  put_line(" steps");
}

// Loads the program, runs before(), makes the threads.
void start_explorer(int megabytes) {
  int t;
  int i;
  int c;
  int symbol;
  int words;

  symbol = procedure_named("thread");
  if (symbol < 0) fail(1, "expected a procedure 'thread' to explore, found none");
  start_machine(megabytes);
  load_program(megabytes);
  call_name = allocate(300);
  thread_context = allocate(thread_limit + 1);
  thread_is = allocate_clear(thread_limit + 1);
  thread_invoking = allocate_clear(thread_limit + 1);
  thread_argument = allocate(thread_limit + 1);
  thread_operation = allocate(thread_limit + 1);
  thread_news = allocate(thread_limit + 1);
  thread_moved = allocate_clear(thread_limit + 1);
  thread_sum = allocate(thread_limit + 1);
  thread_other_sum = allocate(thread_limit + 1);
  words = memory_frames * 1024;
  shared = allocate_clear(words);
  late = allocate(words);
  log_word = allocate(log_limit);
  log_value = allocate(log_limit);
  step_thread = allocate(step_limit + 1);
  step_current = allocate(step_limit + 1);
  step_switches = allocate(step_limit + 1);
  step_enabled = allocate((step_limit + 1) * thread_limit);
  step_sum = allocate(step_limit + 1);
  step_other_sum = allocate(step_limit + 1);
  operation_thread = allocate(operation_limit);
  operation_kind = allocate(operation_limit);
  operation_argument = allocate(operation_limit);
  operation_result = allocate(operation_limit);
  operation_begin = allocate(operation_limit);
  operation_end = allocate(operation_limit);
  operation_taken = allocate(operation_limit);
  model = allocate(2 * operation_limit + 2);
  visited_limit = 16384;
  visited = allocate_clear(3 * visited_limit);
  first_stack = (megabytes * 256 - stack_pages) * page_bytes;

  // before(), in context 0, for which everything is mapped.
  if (procedure_named("before") >= 0) {
    *(state_of(0) + S_PC) = *(symbol_place + procedure_named("before"));
    *(state_of(0) + R_GP) = data_begin + 4 * global_count;
    *(state_of(0) + R_RA) = return_address;
    *(thread_operation + thread_limit) = -1;
    running = 1;
    while (running) {
      *(state_of(0) + S_FUEL) = all_fuel;
      run(0);
      if (*(state_of(0) + S_CAUSE) == BY_JUMP) {
        if (*(state_of(0) + S_PC) == return_address) running = 0;
        else trouble(0);
      } else {
        if (*(state_of(0) + S_CAUSE) == BY_CALL) {
          i = *(state_of(0) + R_V0);
          if (i == CALL_INVOKE) note_invocation(thread_limit, *(state_of(0) + R_A0), *(state_of(0) + R_A0 + 1));
          else if (i == CALL_RESPOND) record_response(thread_limit, *(state_of(0) + R_A0));
          else if ((i == CALL_EXIT) + (i == CALL_RUN)) failed = FAILED_CALL;  // neither is explored
          if (failed) trouble_because(0, "a call that has no place in an explored program");
        }
        handle(0);
        if (running == 0) stop(exit_status);
      }
    }
    flush();
  }
  first_operations = operations;
  explored_end = *(context_end + 0);

  i = *(global_symbol + intern_text("threads"));
  threads = 2;
  if (i >= 0)
    if (*(symbol_kind + i) == GLOBAL) {
      threads = *(memory + word_of(0, data_begin + 4 * global_count + *(symbol_place + i)));
      if ((threads < 1) + (threads > thread_limit)) fail(1, "expected 'threads' to be from 1 to 8");
    }
  after_thread = threads;
  t = 0;
  while (t <= threads) {
    c = new_context(-1, 0, megabytes * 256);
    *(thread_context + t) = c;
    *(state_of(c) + S_LOW) = data_begin;
    i = 0;
    while (i < data_begin / page_bytes) {
      if (4096 * i < code_count * 4) *(table_of(c) + i) = *(table_of(0) + i);
      i = i + 1;
    }
    i = 0;
    while (i < stack_pages) {
      if (map_new(c, first_stack / page_bytes + i) == 0) fail(3, "out of memory: no frames for the stacks");
      i = i + 1;
    }
    t = t + 1;
  }
  learn();
}

// A bound is a number or "all". Bounds are raised one by one: a failure is found with as few switches as it needs.
void explore_command() {
  int megabytes;
  int* text;
  int limit;
  int b;

  megabytes = take_number("megabytes of memory", 1, 64);
  text = take_argument("a bound on switches, or all");
  limit = number_of(text);
  if (same_text(text, "all")) limit = no_bound;
  if (limit < 0) {
    put_to(2);
    put_text("selfie: expected a bound on switches, or all, found ");
    put_line(text);
    stop(2);
  }
  start_explorer(megabytes);
  if (limit == no_bound) {
    explore(limit);
    put_explored(limit);
  } else {
    b = 0;
    while (b <= limit) {
      explore(b);
      put_explored(b);
      b = b + 1;
    }
  }
  put_line("no failure");
  stop(0);
}

void random_command() {
  int megabytes;
  int runs;
  int seed;
  int i;

  megabytes = take_number("megabytes of memory", 1, 64);
  runs = take_number("a number of schedules", 1, 100000000);
  seed = take_number("a seed", 0, 2147483647);
  put_text("seed ");
  put_number(seed);
  put('\n');
  start_explorer(megabytes);
  random_state = seed;
  mode = RANDOM;
  bound = no_bound;
  learnt = 0;
  i = 0;
  while (i < runs) {
    schedules = schedules + 1;
    learnt = 0;
    run_schedule();
    if (failed) report_failure();
    i = i + 1;
    if (learnt) i = i - 1;  // it was broken off
  }
  put_number(runs);
  put_text(" schedules at random; at most ");
  put_number(longest);
  put_line(" steps");
  put_line("no failure");
  stop(0);
}

// Follows a schedule as -x prints it: THREAD*STEPS …
void replay_command() {
  int megabytes;
  int* text;
  int i;
  int who;
  int times;
  int good;

  megabytes = take_number("megabytes of memory", 1, 64);
  text = take_argument("a schedule");
  start_explorer(megabytes);
  good = 1;
  i = 0;
  while ((character_of(text, i) != 0) * good) {
    if (character_of(text, i) == '@') {
      who = number_in(text, i + 1);
      if (who < *(state_of(0) + S_LOW)) good = 0;
      else if (shared_word(0, who) < 0) good = 0;
      else *(shared + shared_word(0, who)) = SHARED_WORD;
    } else {
      who = number_in(text, i);
      while (is_digit(character_of(text, i))) i = i + 1;
      if (character_of(text, i) != '*') good = 0;
      times = 0;
      if (good) times = number_in(text, i + 1);
      if (who < 0) good = 0;
      if (who >= threads) good = 0;
      if (times < 1) good = 0;
      if (times > step_limit - prefix) good = 0;
      while (times * good > 0) {
        *(step_thread + prefix) = who;
        prefix = prefix + 1;
        times = times - 1;
      }
    }
    if (good) {
      i = i + 1;
      while (is_digit(character_of(text, i))) i = i + 1;
      while (character_of(text, i) == ' ') i = i + 1;
    }
  }
  if (good == 0) {
    put_to(2);
    put_text("selfie: expected a schedule such as \"0*3 1*2\" of ");
    put_number(threads);
    put_text(" threads, found ");
    put_line(text);
    stop(2);
  }
  mode = GIVEN;
  bound = no_bound;
  if (drawing) {
    run_schedule();
    begin_picture(steps);
  }
  showing = 1;
  run_schedule();
  if (picture > 0) {
    put_to(picture);
    put_line("</svg>");
    put_to(1);
  }
  if (failed) {
    put_text("FAILED: ");
    put_failure();
    put('\n');
    if (failed == FAILED_HISTORY) put_history();
    stop(1);
  }
  put_line("no failure");
  stop(0);
}

// ---- driver ---------------------------------------------------------------------------------------------------------

void usage() {
  put_line("usage: selfie OPTION …, done in this order:");
  put_line("  -c FILES              compile these C* files together");
  put_line("  -l FILE               load a binary instead");
  put_line("  -o FILE               write the binary");
  put_line("  -S FILE               write the assembly with the source's lines; - is standard output");
  put_line("  -d | -p | -v          from here on: trace, profile, say more");
  put_line("  -m MB ARGS            run the program on mipster with so many megabytes");
  put_line("  -y MB ARGS            host it: the machine below runs it");
  put_line("  -x MB BOUND           explore before, thread, after: all schedules up to so many switches, or all");
  put_line("  -r MB RUNS SEED       explore at random");
  put_line("  -R MB SCHEDULE        follow one schedule and show it");
  put_line("  -f | -g FILE          before -x: compare no states; draw a failing schedule as SVG");
}

void need_code() {
  if (has_code) return;
  fail(2, "expected -c FILES or -l FILE before this, found no program");
}

void compile_command() {
  int* text;
  int count;
  int more;

  if (has_code) fail(2, "expected one -c or -l, found a second");
  begin_program();
  count = 0;
  more = next_argument < arguments;
  while (more) {
    text = argument(next_argument);
    if (character_of(text, 0) == '-') more = 0;
    else {
      next_argument = next_argument + 1;
      compile_file(text);
      count = count + 1;
      more = next_argument < arguments;
    }
  }
  if (count == 0) fail(2, "expected files after -c, found none");
  end_program();
  if (errors > 0) stop_for_errors();
  if (verbose) {
    put_to(2);
    put_text("selfie: ");
    put_number(lines);
    put_text(" lines, ");
    put_number(code_count);
    put_text(" instructions, ");
    put_number(global_count);
    put_text(" global variables, ");
    put_number(data_count * 4);
    put_line(" bytes of strings");
    put_to(1);
  }
}

int main(int argc, int* argv) {
  int* option;
  int* name;
  int megabytes;

  start_library();
  start_arguments(argc, (int*)argv);
  start_files();
  start_scanner();
  start_symbols();
  start_code();
  start_parser();
  if (arguments < 2) {
    usage();
    stop(2);
  }
  name = 0;
  while (next_argument < arguments) {
    option = take_argument("an option");
    if (same_text(option, "-c")) {
      if (next_argument < arguments) name = argument(next_argument);
      compile_command();
    } else if (same_text(option, "-l")) {
      if (has_code) fail(2, "expected one -c or -l, found a second");
      name = take_argument("a binary");
      load_binary(name);
    } else if (same_text(option, "-o")) {
      need_code();
      name = take_argument("a file to write");
      write_binary(name);
    } else if (same_text(option, "-S")) {
      need_code();
      write_assembly(take_argument("a file to write"));
    } else if (same_text(option, "-d")) tracing = 1;
    else if (same_text(option, "-p")) profiling = 1;
    else if (same_text(option, "-v")) verbose = 1;
    else if (same_text(option, "-f")) compare_states = 0;
    else if (same_text(option, "-g")) {
      drawing = 1;
      picture_name = take_argument("a file to draw");
    } else if (same_text(option, "-h")) {
      usage();
      stop(0);
    } else if (same_text(option, "-x")) {
      need_code();
      explore_command();
    } else if (same_text(option, "-r")) {
      need_code();
      random_command();
    } else if (same_text(option, "-R")) {
      need_code();
      replay_command();
    } else if (same_text(option, "-m") + same_text(option, "-y")) {
      need_code();
      if (main_address == 0) fail(1, "expected a procedure 'main' to run, found none");
      hosting = same_text(option, "-y");
      megabytes = take_number("megabytes of memory", 1, 1024);
      execute(megabytes, name);
    } else {
      put_to(2);
      put_text("selfie: expected an option, found ");
      put_line(option);
      usage();
      stop(2);
    }
  }
  stop(0);
}
