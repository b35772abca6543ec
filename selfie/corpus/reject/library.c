int* malloc(int n) { return 0; }
int exit(int n);
void yield() { exit(1); }
int compare_and_swap(int* p, int old, int new) { return 0; }
int* globals() { return 0; }
int hypster_run(int* state) { return -1; }

int main() { return 1; }
