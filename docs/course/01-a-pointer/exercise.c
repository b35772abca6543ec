// Turns the order of n words around: 1 2 3 becomes 3 2 1.
void reverse(int* a, int n) {
  // yours
}
