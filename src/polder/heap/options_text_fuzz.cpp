// Options may come from anybody's environment. The input is read as text by a heap that has options of its own; what was
// understood is written, and reads back as the same; what was not is described in a line.
#include <algorithm>
#include <cstdlib>

#include <polder/heap/options_text.hpp>

namespace {

using namespace polder::heap;

constexpr std::string_view words[] = {"first", "second", "third"};
constexpr tunable own[] = {
    number("share", "1 to 90", 1, 90, 50),
    bytes("room", "4K to 1M", 4096, 1 << 20, 65536),
    word("way", "first, second or third", words, 1),
};

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t length) {
  std::string_view text{reinterpret_cast<const char*>(data), length};
  text = {text.data(), std::min(text.find('\0'), text.size())};  // an environment has no such letter
  options o = defaults(own);
  const option_error error = read_options(text, o, own);
  polder::os::line_text said;
  describe(said, error);
  expect((error.what == option_error::none) == said.text().empty());
  if (error.what != option_error::none) {
    expect(!error.near.empty() && error.key.data() >= text.data() && error.key.data() <= text.data() + text.size());
    return 0;
  }
  polder::os::line_text written;
  write_options(written, o, own);
  options again = defaults(own);
  expect(read_options(written.text(), again, own).what == option_error::none && again == o);
  return 0;
}
