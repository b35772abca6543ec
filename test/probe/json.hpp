#pragma once
// json — a text as a member of a JSON object, on standard output.
#include <cstdio>

namespace polder::probe {

// Control characters become spaces: a heap that dies may say anything.
inline void print_string(const char* key, const char* text, const char* after) {
  std::printf("\"%s\": \"", key);
  for (const char* c = text; *c != '\0'; ++c)
    if (*c == '"' || *c == '\\') std::printf("\\%c", *c);
    else std::putchar(static_cast<unsigned char>(*c) < ' ' ? ' ' : *c);
  std::printf("\"%s", after);
}

}  // namespace polder::probe
