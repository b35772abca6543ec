// Names operator new and not delete, which the library of C++ calls for what was had here.
#include <iostream>
#include <sstream>
#include <string>

int main() {
  int* const kept = new int(1);
  std::ostringstream line;
  for (int i = 0; i != 1000; ++i) line << *kept;
  std::cout << std::string(line.str()).size() << '\n';
}
