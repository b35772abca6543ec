int main() {
  int a;

  a = 'ab';
  a = '';
  a = '\q';
  a = 'x;
  a = 1;
  write(1, "no end, 3);
  write(1, "\q", 1);
  return a;
}
