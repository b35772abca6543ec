"""Compiles the project's own sources and one file that pulls in much of the C++ library; the objects must be the same bytes."""

import hashlib
import shutil

import driver

LARGE = """
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory_resource>
#include <numeric>
#include <random>
#include <ranges>
#include <regex>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
template <int N> struct tower { std::map<int, std::vector<std::string>> floor; tower<N - 1> rest;
  auto all() { auto v = rest.all(); for (auto& [k, w] : floor) v.insert(v.end(), w.begin(), w.end()); std::ranges::sort(v); return v; } };
template <> struct tower<0> { std::vector<std::string> all() { return {}; } };
template <int... N> int sum(std::integer_sequence<int, N...>) { return (static_cast<int>(tower<N % 12>{}.all().size()) + ...); }
int main() { std::regex r("(a|b)*c+"); std::unordered_map<std::string, std::variant<int, std::string>> m;
  std::filesystem::path p("."); m[p.string()] = 1;
  auto f = std::async([&] { return std::regex_match(std::string("abc"), r); });
  return f.get() + sum(std::make_integer_sequence<int, 24>()) + int(m.size()); }
"""


def prepare(base):
    """A copy, so that both compilers' runs see the same text whatever is edited meanwhile."""
    for folder in ("src", "include"):
        shutil.copytree(driver.PROJECT / folder, base / folder)


def sources(base, full):
    ours = sorted(path for path in (base / "src" / "polder").rglob("*.cpp") if not path.stem.endswith(("_test", "_model", "_fuzz")))
    return ours if full else ours[len(ours) // 2 :][:1]


def objects(compiler, options):
    """The body of a compiler's test."""

    def produce(world):
        results = {}
        for number, source in enumerate([world.write("large.cpp", LARGE), *sources(world.base, world.full)]):
            target = world.path(f"{number}.o")
            world.run(
                compiler,
                "-std=c++20",
                "-O2",
                '-DPOLDER_VERSION="0"',
                *options,
                "-I",
                world.base / "src",
                "-I",
                world.base / "include",
                "-c",
                source,
                "-o",
                target,
                timeout=200,
            )
            results[source.name] = hashlib.sha256(target.read_bytes()).hexdigest()
        return results

    return produce
