// Sets the mark of every node that can be reached from here to 1.
void mark(int* node) {
  // yours
}
