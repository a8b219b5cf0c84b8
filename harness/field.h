// Domains: where the fields of a case come from.
//
// A case type lists its fields once, in the order in which a counterexample should shrink: shape first, then layout,
// then values. From that list come generation, shrinking, the readable text of a case, and the parser that `--case=`
// uses.
//
//   struct StencilCase {
//     std::int64_t n = 0;
//     int block = 32;
//     Boundary boundary = Boundary::kZero;
//     Values values;
//     template <class Self, class Visitor>
//     static void fields(Self& c, Visitor&& field) {
//       field("n", c.n, sizes(0, 1 << 20));
//       field("block", c.block, one_of({32, 64, 96, 128, 256, 512, 1024}));
//       field("boundary", c.boundary, choice<Boundary>({{"zero", Boundary::kZero}, {"clamp", Boundary::kClamp}}));
//       field("values", c.values, values_of({ValueKind::kSmallIntegers, ValueKind::kUniform}));
//     }
//     void normalise();
//   };
//
// normalise() is optional: it mends combinations of fields that make no sense, after generation and after each shrink
// step, and leaves alone what it has mended.
//
// Its text is "n=33 block=32 boundary=zero values=uniform:7". A domain prints and parses its own part; no part contains
// a space.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace lockstep {

// A source of random 64-bit words; the property runner derives it from RapidCheck's Random so that runs replay by seed.
class Bits {
 public:
  explicit Bits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();                      // SplitMix64
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound), bound > 0
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

// SplitMix64's finalizer: a bijection of 64-bit words in which every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class T>
struct Domain {
  using Value = T;
  std::function<T(Bits&)> sample;
  std::function<std::vector<T>(const T&)> shrink;  // simpler values, simplest first; empty when none
  std::function<std::string(const T&)> print;
  std::function<bool(std::string_view, T&)> parse;  // false: not in the domain
  std::string describe;                             // "0 ... 1048576", for the error of a bad --case
};

// Integers with every boundary likely: 0, 1, lo, hi, and +-1 around multiples and powers of the warp (32), common
// blocks, tiles (8, 16), 2^16, ...; small values often, the largest seldom, so that ten thousand cases stay quick.
// Shrinks toward lo, 1 and the boundaries. 0 <= lo <= hi; this and the domains below throw std::invalid_argument when
// they would be empty.
Domain<std::int64_t> sizes(std::int64_t lo, std::int64_t hi);

// Any 64-bit seed, printed in decimal; shrinks toward 0, 1, 2.
Domain<std::uint64_t> seeds();

// The whole of `text` as a decimal integer of type T; false when it is anything else.
template <std::integral T>
bool parse_integer(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

namespace detail {
// Simpler integers than `value` in [lo, hi], simplest first: the value nearest 0, 1, boundaries of warp, block and
// tile, then halving steps back toward `value`, then its neighbour. No duplicates, never `value` itself.
std::vector<std::int64_t> simpler_integers(std::int64_t value, std::int64_t lo, std::int64_t hi);
}  // namespace detail

// Uniform in [lo, hi], the ends more often; shrinks toward the value nearest 0. Ranges of up to 63 bits.
template <std::integral T>
Domain<T> range(T lo, T hi) {
  if (lo > hi) throw std::invalid_argument("range: " + std::to_string(lo) + " is above " + std::to_string(hi));
  Domain<T> d;
  d.sample = [lo, hi](Bits& bits) -> T {
    const std::uint64_t span = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo);
    if (bits.chance(10)) return bits.chance(50) ? lo : hi;
    return static_cast<T>(static_cast<std::uint64_t>(lo) +
                          (span == ~std::uint64_t{0} ? bits.next() : bits.below(span + 1)));
  };
  d.shrink = [lo, hi](const T& v) {
    std::vector<T> out;
    for (std::int64_t s : detail::simpler_integers(static_cast<std::int64_t>(v), static_cast<std::int64_t>(lo),
                                                   static_cast<std::int64_t>(hi))) {
      out.push_back(static_cast<T>(s));
    }
    return out;
  };
  d.print = [](const T& v) { return std::to_string(v); };
  d.parse = [lo, hi](std::string_view text, T& v) { return parse_integer(text, v) && v >= lo && v <= hi; };
  d.describe = std::to_string(lo) + " ... " + std::to_string(hi);
  return d;
}

// One of the named values; shrinks toward the front of the list.
template <class T>
Domain<T> choice(std::vector<std::pair<std::string, T>> options) {
  if (options.empty()) throw std::invalid_argument("choice: nothing to choose from");
  Domain<T> d;
  for (const auto& [text, value] : options) d.describe += (d.describe.empty() ? "one of " : ", ") + text;
  d.sample = [options](Bits& bits) { return options[bits.below(options.size())].second; };
  d.shrink = [options](const T& v) {
    std::vector<T> out;
    for (const auto& [text, value] : options) {
      if (value == v) break;
      out.push_back(value);
    }
    return out;
  };
  d.print = [options](const T& v) -> std::string {
    for (const auto& [text, value] : options) {
      if (value == v) return text;
    }
    return "?";  // not in the domain: such a text does not parse either
  };
  d.parse = [options](std::string_view text, T& v) {
    for (const auto& [known, value] : options) {
      if (known == text) {
        v = value;
        return true;
      }
    }
    return false;
  };
  return d;
}

// One of the listed integers; shrinks toward the front of the list.
template <class T>
Domain<T> one_of(std::vector<T> options) {
  std::vector<std::pair<std::string, T>> named;
  for (const T& v : options) named.emplace_back(std::to_string(v), v);
  return choice<T>(std::move(named));
}
template <class T>
Domain<T> one_of(std::initializer_list<T> options) {
  return one_of(std::vector<T>(options));
}

// false, true; shrinks to false.
Domain<bool> booleans();

// What the runner does with a case type. All of it is deterministic.

namespace detail {

template <class Case>
concept HasNormalise = requires(Case& c) {
  c.normalise();
};

template <class Case>
void normalise(Case& c) {
  if constexpr (HasNormalise<Case>) c.normalise();
}

struct Token {
  std::string_view name, value;
  bool used = false;
};
// "n=33 block=32" as tokens; an error sentence in `error` when a word has no '=' or a name comes twice.
std::vector<Token> tokenise(std::string_view text, std::string& error);
// The sentences about fields: the first problem found wins, so that one bad case gives one error.
void missing_field(std::string& error, std::string_view name, std::string_view describe);
void bad_value(std::string& error, std::string_view name, std::string_view value, std::string_view describe);
void unknown_fields(std::string& error, const std::vector<Token>& tokens, std::string_view known);

}  // namespace detail

// "n=33 block=32 boundary=zero".
template <class Case>
std::string print_case(const Case& c) {
  std::string text;
  Case::fields(c, [&](std::string_view name, const auto& field, const auto& domain) {
    if (!text.empty()) text += ' ';
    text.append(name).append("=").append(
        domain.print(static_cast<typename std::decay_t<decltype(domain)>::Value>(field)));
  });
  return text;
}

// A random case, normalised.
template <class Case>
Case sample_case(Bits& bits) {
  Case c{};
  Case::fields(c, [&](std::string_view, auto& field, const auto& domain) {
    field = static_cast<std::decay_t<decltype(field)>>(domain.sample(bits));
  });
  detail::normalise(c);
  return c;
}

// Simpler cases: each changes one field (and what normalise() makes of that), in the order of the fields, simplest
// value first.
template <class Case>
std::vector<Case> simpler_cases(const Case& c) {
  std::vector<Case> out;
  const std::string own_text = print_case(c);
  std::size_t index = 0;
  Case::fields(c, [&](std::string_view, const auto& field, const auto& domain) {
    const std::size_t changed = index++;
    using Value = typename std::decay_t<decltype(domain)>::Value;
    for (const Value& simpler : domain.shrink(static_cast<Value>(field))) {
      Case candidate = c;
      std::size_t i = 0;
      Case::fields(candidate, [&](std::string_view, auto& target, const auto&) {
        if (i++ != changed) return;
        using Target = std::decay_t<decltype(target)>;
        if constexpr (std::is_convertible_v<Value, Target> ||
                      (std::is_arithmetic_v<Value> && std::is_arithmetic_v<Target>)) {
          target = static_cast<Target>(simpler);
        }
      });
      detail::normalise(candidate);
      if (print_case(candidate) != own_text) out.push_back(std::move(candidate));
    }
  });
  return out;
}

// Reads what print_case wrote. Every field must be there, none twice, none unknown, each in its domain, and the whole
// must be a case that normalise() leaves alone. Returns an empty string, or one sentence that says what is wrong and
// what is accepted.
template <class Case>
std::string parse_case(std::string_view text, Case& c) {
  std::string error;
  std::string known;
  std::vector<detail::Token> tokens = detail::tokenise(text, error);
  c = Case{};
  Case::fields(c, [&](std::string_view name, auto& field, const auto& domain) {
    if (!known.empty()) known += ", ";
    known.append(name);
    auto token = std::find_if(tokens.begin(), tokens.end(), [&](const detail::Token& t) { return t.name == name; });
    if (token == tokens.end()) return detail::missing_field(error, name, domain.describe);
    token->used = true;
    typename std::decay_t<decltype(domain)>::Value value{};
    if (!domain.parse(token->value, value)) return detail::bad_value(error, name, token->value, domain.describe);
    field = static_cast<std::decay_t<decltype(field)>>(value);
  });
  detail::unknown_fields(error, tokens, known);
  if (!error.empty()) return error;
  const std::string as_given = print_case(c);
  detail::normalise(c);
  const std::string as_case = print_case(c);
  if (as_given != as_case) return "these fields do not go together; the nearest case is '" + as_case + "'";
  return "";
}

}  // namespace lockstep
