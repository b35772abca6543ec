// Names none of malloc's functions: it is the C library that allocates.
#include <string.h>

int main(int argc, char** argv) { return strdup(argv[argc - 1]) == NULL; }
