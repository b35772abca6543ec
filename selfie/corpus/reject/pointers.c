int** p;
void* q;

int f(void v) { return 1; }

int main() {
  int** r;

  return (void)1;
}
