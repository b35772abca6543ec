#pragma once
// json — one JSON value written into a buffer that is there already: no allocation, so that it also works inside a
// signal handler and beside an allocator that has just failed.
#include <charconv>
#include <cstdint>
#include <string_view>

namespace polder::bench {

class json {
 public:
  json(char* buffer, std::size_t size) : begin_(buffer), at_(buffer), end_(buffer + size) {}

  json& open(char bracket) { return separate(), put(bracket), fresh_ = true, *this; }
  json& close(char bracket) { return put(bracket), fresh_ = false, *this; }
  json& key(std::string_view name) { return text(name), put(':'), fresh_ = true, *this; }

  json& text(std::string_view value) {
    separate();
    put('"');
    for (const char c : value) {
      if (c == '"' || c == '\\') put('\\');
      if (static_cast<unsigned char>(c) >= ' ') put(c);
      else put(' ');
    }
    put('"');
    return *this;
  }
  json& number(std::int64_t value) { return separate(), take(std::to_chars(at_, end_, value)); }
  json& number(std::uint64_t value) { return separate(), take(std::to_chars(at_, end_, value)); }
  json& number(double value, int digits) {
    return separate(), take(std::to_chars(at_, end_, value, std::chars_format::fixed, digits));
  }
  json& truth(bool value) { return raw(value ? "true" : "false"); }
  json& null() { return raw("null"); }

  std::string_view written() const { return {begin_, static_cast<std::size_t>(at_ - begin_)}; }

 private:
  json& raw(std::string_view word) {
    separate();
    for (const char c : word) put(c);
    return *this;
  }
  void separate() {
    if (!fresh_) put(',');
    fresh_ = false;
  }
  void put(char c) {
    if (at_ != end_) *at_++ = c;
  }
  json& take(std::to_chars_result result) {
    at_ = result.ptr;
    return *this;
  }

  char* begin_;
  char* at_;
  char* end_;
  bool fresh_ = true;  // no comma before the next value
};

}  // namespace polder::bench
