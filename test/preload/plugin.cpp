// A library to be opened and closed: it gives and takes blocks, as C and as C++.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
void* plugin_malloc(std::size_t n) { return std::malloc(n); }
void* plugin_calloc(std::size_t n) { return std::calloc(1, n); }
void* plugin_realloc(void* p, std::size_t n) { return std::realloc(p, n); }
void plugin_free(void* p) { std::free(p); }
void* plugin_new(std::size_t n) { return ::operator new(n); }
void plugin_delete(void* p) { ::operator delete(p); }
void* plugin_aligned(std::size_t n) { return std::aligned_alloc(256, n); }
char* plugin_text(int width) {
  char* text = nullptr;
  return ::asprintf(&text, "%*d", width, 7) < 0 ? nullptr : text;
}
int plugin_work(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += std::to_string(i);
  return static_cast<int>(text.size());
}
}
