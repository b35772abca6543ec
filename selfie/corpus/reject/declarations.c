int declared(int a);
int declared(int* a) { return 1; }
int* other(int a);
int other(int a) { return a; }
int third(int a);
int third(int a, int b) { return a; }
int never(int a);

int main() { return never(1) + never(2); }
