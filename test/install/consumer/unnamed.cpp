// Names neither malloc nor operator new: all that it allocates the library of C++ does.
#include <iostream>
#include <string>

int main() {
  std::string line;
  while (std::getline(std::cin, line)) std::cout << line << '\n';
}
