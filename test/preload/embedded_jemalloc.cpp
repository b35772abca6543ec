// A program with all of jemalloc linked in.
#include "mixed_scenarios.hpp"

int main(int argc, char** argv) { return preload::mixed_main(argc, argv); }
