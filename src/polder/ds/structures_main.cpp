// polder-structures — prints the registries of reclaimers, drains and structures as one JSON object: what the front door
// and the laboratory offer by name. Heaps are polder-registry's: the two towers do not include each other.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <polder/ds/all.hpp>
#include <polder/os/printed.hpp>
#include <polder/smr/all.hpp>
#include <polder/smr/drain.hpp>

namespace {

// An object, or a list of them, of texts and numbers.
class json {
 public:
  json& text(std::string_view key, std::string_view value) { return named(key), quote(value), *this; }
  json& number(std::string_view key, long long value) { return named(key), out_ += std::to_string(value), *this; }
  json& flag(std::string_view key, bool value) { return named(key), out_ += value ? "true" : "false", *this; }
  json& open(char bracket) { return comma(), out_ += bracket, *this; }
  json& open(std::string_view key, char bracket) { return named(key), out_ += bracket, *this; }
  json& close(char bracket) { return out_ += bracket, *this; }
  const std::string& written() const { return out_; }

 private:
  void comma() {
    if (!out_.empty() && out_.back() != '{' && out_.back() != '[') out_ += ",\n";
  }
  void named(std::string_view key) { comma(), quote(key), out_ += ':'; }
  void quote(std::string_view value) {
    out_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') out_ += '\\';
      out_ += c;
    }
    out_ += '"';
  }

  std::string out_;
};

}  // namespace

int main() {
  json out;
  out.open('{').open("reclaimers", '[');
  polder::for_each(polder::smr::all{}, [&]<class R> {
    constexpr polder::smr::scheme_info i = R::info;
    out.open('{').text("name", i.name).text("title", i.title).text("paper", i.paper).number("year", i.year);
    out.text("protects", i.protects == polder::smr::protection::region ? "region" : "pointer");
    out.flag("restarts", polder::smr::restartable_reclaimer<R>);
    out.text("readers", i.readers).text("retirers", i.retirers).flag("bounded", i.bounded).text("bound", i.bound);
    out.text("stall", i.stall).number("words_per_object", i.words_per_object).close('}');
  });
  out.close(']').open("drains", '[');
  for (const polder::smr::named_drain& d : polder::smr::all_drains)
    out.open('{').text("name", d.name).text("summary", d.summary).close('}');
  out.close(']').open("structures", '[');
  polder::for_each(polder::ds::maps<std::uint64_t, std::uint64_t, polder::smr::debra>{}, [&]<class S> {
    constexpr polder::ds::map_info i = S::info;
    out.open('{').text("name", i.name).text("title", i.title).text("shape", "map").text("semantics", i.semantics);
    out.text("capacity", "").text("parameters", i.parameters);
    out.text("readers", i.readers).text("updaters", i.updaters).text("paper", i.paper).number("year", i.year);
    out.text("needs", i.protection == polder::ds::needs::region ? "region" : "pointer");
    out.flag("restarts", i.restarts).close('}');
  });
  polder::for_each(
      polder::ds::collections<std::uint64_t, polder::smr::debra, polder::ds::heap_memory>{}, [&]<class S> {
        constexpr polder::ds::collection_info i = S::info;
        const std::string semantics = std::string(name_of(i.kind)) + ", " + std::string(name_of(i.order)) +
                                      (i.conjectured ? ", as its authors conjecture" : "");
        out.open('{').text("name", i.name).text("title", i.title).text("shape", name_of(i.kind));
        out.text("order", name_of(i.order)).text("semantics", semantics).text("empty", name_of(i.empty));
        out.text("readers", i.getters)
            .text("updaters", i.putters)
            .text("capacity", i.capacity)
            .text("paper", i.paper);
        out.number("year", i.year).text("parameters", i.parameters);
        out.number("most_putters", i.most_putters).number("most_getters", i.most_getters);
        constexpr std::string_view needs[] = {"none", "pointer", "region"};
        out.text("needs", needs[unsigned(i.protection)]).flag("restarts", false).close('}');
      });
  out.close(']').close('}');
  std::printf("%s\n", out.written().c_str());
  return polder::os::printed("polder-structures");
}
