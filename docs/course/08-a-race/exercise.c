// Adds 1 to the word, whoever else does so at the same time.
void increment(int* p) {
  // yours: these are two steps
  *p = *p + 1;
}
