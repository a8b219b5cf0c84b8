// Mutates PTX by lines and words as often as by bytes, since libFuzzer's mutations of bytes rarely
// get past the lexer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/isa/form_examples.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace lockstep::fuzz {
namespace {

constexpr std::string_view kWords[] = {
    "0",
    "1",
    "-1",
    "0x7fffffff",
    "0x80000000",
    "4294967295",
    "4294967296",
    "0xffffffffffffffff",
    "9223372036854775808",
    "1e400",
    "0f7fc00000",
    "0dfff0000000000000",
    "0b1",
    "017",
    "9U",
    ".align",
    "3",
    ".b8",
    ".b128",
    ".v8",
    ".u64",
    ".pred",
    "%r1",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    ":",
    "|",
    "!",
    "@",
    "_",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "?",
    "&&",
    "==",
    "~",
    "(s64)",
    "(u64)",
    "$L",
    "%tid",
    "%tid.x",
    "%clock64",
    "WARP_SZ",
    ".extern",
    ".visible",
    ".weak",
    ".common",
    ".func",
    ".entry",
    ".shared",
    ".local",
    ".param",
    ".const",
    ".global",
    ".reg",
    ".ptr",
    ".loc",
    ".file",
    ".section",
    ".alias",
    ".pragma",
    ".branchtargets",
    ".calltargets",
    ".callprototype",
    ".noreturn",
    ".maxntid",
    ".reqntid",
    ".reqnctapercluster",
    ".version",
    ".target",
    ".address_size",
    "generic",
    "mask",
    "0xFF",
    "function_name",
    "inlined_at",
    "/*",
    "*/",
    "//",
    "\"",
};

using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t n) { return random() % n; }

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    lines.back() += c;
    if (c == '\n') lines.emplace_back();
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

bool in_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::strchr("_.%$", c) != nullptr;
}

// Begin and length of a word of `s`, or of one character where there is none.
std::pair<std::size_t, std::size_t> some_word(const std::string& s, Random& random) {
  const std::size_t at = below(random, s.size());
  if (!in_word(s[at])) return {at, 1};
  std::size_t begin = at, end = at + 1;
  while (begin > 0 && in_word(s[begin - 1])) --begin;
  while (end < s.size() && in_word(s[end])) ++end;
  return {begin, end - begin};
}

void change(std::vector<std::string>& lines, Random& random) {
  static const std::vector<isa::Example> examples = isa::pairwise_examples();
  const auto some = [&] {
    return lines.begin() + static_cast<std::ptrdiff_t>(below(random, lines.size()));
  };
  switch (below(random, 8)) {
    case 0:
      if (lines.size() > 1) lines.erase(some());
      break;
    case 1: {
      const std::string copy = *some();
      lines.insert(some(), copy);
      break;
    }
    case 2: std::iter_swap(some(), some()); break;
    case 3:
    case 4: lines.insert(some(), examples[below(random, examples.size())].text + "\n"); break;
    case 5: {  // a word of another line
      const std::string from = *some();
      std::string& to = *some();
      const auto [a, n] = some_word(from, random);
      const auto [b, m] = some_word(to, random);
      to.replace(b, m, from, a, n);
      break;
    }
    case 6: {
      std::string& to = *some();
      const auto [b, m] = some_word(to, random);
      to.replace(b, m, kWords[below(random, std::size(kWords))]);
      break;
    }
    default: {
      std::string& to = *some();
      to.insert(some_word(to, random).first,
                std::string(kWords[below(random, std::size(kWords))]) + " ");
      break;
    }
  }
}

}  // namespace
}  // namespace lockstep::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using namespace lockstep::fuzz;
  Random random(seed);
  if (size == 0 || below(random, 4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::vector<std::string> lines = lines_of({reinterpret_cast<const char*>(data), size});
  for (std::size_t i = 0, n = 1 + below(random, 3); i < n && !lines.empty(); ++i)
    change(lines, random);
  std::string text;
  for (const std::string& l : lines) text += l;
  const std::size_t length = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), length);
  return length;
}
