int main(int argc) { return 1; }
