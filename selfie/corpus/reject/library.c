int* malloc(int n) { return 0; }
int exit(int n);

int main() { return 1; }
