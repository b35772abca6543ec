// polder-registry — prints the registries as one JSON object: what the front door and the laboratory offer by name.
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include <polder/heap/all.hpp>
#include <polder/heap/options_text.hpp>
#include <polder/malloc/host.hpp>
#include <polder/os/printed.hpp>

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", unsigned(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string quoted_value(const polder::heap::tunable& t) {
  polder::os::line_text text;
  write_value(text, t, t.value);
  return quoted(text.text());
}

std::string options_of(std::span<const polder::heap::tunable> own) {
  std::string out = "[";
  for (const polder::heap::tunable& t : own) {
    out += out.size() == 1 ? "" : ",";
    out +=
        "{\"name\":" + quoted(t.name) + ",\"takes\":" + quoted(t.takes) + ",\"default\":" + quoted_value(t) + "}";
  }
  return out + "]";
}

std::string library_of(std::string_view heap) {
  return heap == "polder" ? "lib/libpolder.so" : "lib/libpolder-" + std::string(heap) + ".so";
}

}  // namespace

int main() {
  std::string out;
  polder::for_each(polder::heap::all<polder::face::host>{}, [&out]<class H> {
    out += out.empty() ? "{\"heaps\":[" : ",";
    out += "\n  {\"name\":" + quoted(H::info.name) + ",\"title\":" + quoted(H::info.title);
    out += ",\"paper\":" + quoted(H::info.paper) + ",\"year\":" + std::to_string(H::info.year);
    out += ",\"summary\":" + quoted(H::info.summary) + ",\"progress\":" + quoted(H::info.progress);
    out += ",\"sheet_of\":" + quoted(H::info.sheet_of);
    out += ",\"options\":" + options_of(polder::heap::tunables_of<H>());
    out += ",\"library\":" + quoted(library_of(H::info.name)) + "}";
  });
  std::printf("%s\n]}\n", out.c_str());
  return polder::os::printed("polder-registry");
}
