struct list {
  int head;
};

int main() {
  int i;

  for (i = 0; i < 10; i = i + 1) {
    if (i == 5) break;
  }
  do {
    i = i - 1;
  } while (i > 0);
  switch (i) {
  }
  return sizeof(int);
}

char c;
