int main() { return 1; }
/* this comment
   has no end
