// status 36
// Eight temporaries are enough for this.
int main() { return 1 + (2 + (3 + (4 + (5 + (6 + (7 + 8)))))); }
