int a = b;
int c = "text";
int d = 1 + 2;
int* p = 7;
int e, f;
void v;
int 3;
x = 4;

int main() { return a; }
