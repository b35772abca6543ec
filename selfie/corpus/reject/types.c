int* p;
int i;

void nothing() { return; }

int* pointer(int* q) { return q; }

int main() {
  p = 5;
  i = p;
  p = 0;
  i = *i;
  *i = 3;
  *p = p;
  i = p * 2;
  i = i - p;
  p = p + p;
  if (p == i) i = 1;
  if (p == 0) i = 2;
  i = -p;
  i = pointer(p);
  p = pointer(i);
  i = nothing();
  i = 1 + nothing();
  p = (int*)i;
  i = "text";
  return p;
}
