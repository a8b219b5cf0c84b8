// Domains: the legal values of one field of a case, with a generator and a text form.
//
// A domain holds a RapidCheck generator, rc::Gen<T>, whose rc::Shrinkable values define the
// shrinks. A domain prints a value as text without spaces, and parses that text.
//
//   sizes(0, 1 << 20)                       // every boundary of warps, blocks and tiles is likely
//   one_of({32, 64, 1024})
//   drawn_by(rc::gen::map(rc::gen::inRange(0, 99), [](int k) { return 3 * k; }), range(0, 300))
//
// Functions that make a domain throw std::invalid_argument if it would be empty.
#pragma once

#include <rapidcheck/Gen.h>
#include <rapidcheck/Random.h>
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/shrinkable/Create.h>
#include <rapidcheck/shrinkable/Transform.h>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/property/splitmix64.h"

namespace lockstep {

// A source of random 64-bit words (SplitMix64). The same seed returns the same words.
class Bits {
 public:
  explicit Bits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound), bound > 0
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

// Chooses the options of choices in turn. Each option of a choice is used once before any is used
// again. The options of two choices are combined in as many pairs as the number of cases allows.
class Turns {
 public:
  // `seed` determines the order of options.
  explicit Turns(std::uint64_t seed) : seed_(seed) {}
  // Begins the next case. Before the first call, pick() chooses for the first case.
  void next_case();
  // Returns one of `count` options, for the next choice of the case.
  std::uint64_t pick(std::uint64_t count);

 private:
  struct Choice {
    std::vector<bool> used;  // the options used in the current round
    // Key: the number of an earlier choice. Value: the pairs of its option and this choice's used
    // so far.
    std::map<std::uint64_t, std::set<std::pair<std::uint64_t, std::uint64_t>>> met;
  };
  std::uint64_t seed_, turn_ = 0;
  std::vector<Choice> choices_;
  std::vector<std::uint64_t> picked_;  // the options of this case, by choice
};

// `value` with the shrinks simpler(value). The shrinks of each are again simpler() of it.
template <class T>
rc::Shrinkable<T> shrinkable_by(T value, std::function<std::vector<T>(const T&)> simpler) {
  return rc::shrinkable::shrinkRecur(std::move(value), [simpler = std::move(simpler)](const T& v) {
    return rc::seq::fromContainer(simpler(v));
  });
}

// A generator from two functions: `draw` draws a value; `simpler` lists simpler values, simplest
// first. `simpler` must not list its argument, directly or through other values.
template <class T>
rc::Gen<T> gen_by(std::function<T(Bits&)> draw, std::function<std::vector<T>(const T&)> simpler) {
  return [draw = std::move(draw), simpler = std::move(simpler)](const rc::Random& random, int) {
    Bits bits(rc::Random(random).next());
    return shrinkable_by<T>(draw(bits), simpler);
  };
}

// A domain of any type.
template <class T>
struct Domain {
  rc::Gen<T> gen;
  std::function<std::string(const T&)> print = {};
  std::function<bool(std::string_view, T&)> parse = {};  // false: not in the domain
  // "one of zero, uniform:SEED", for the error message of a bad --case
  std::function<std::string()> describe = {};
};

namespace detail {

// A domain of integers or of an enumeration, with 64-bit words in two's complement as values. One
// type for all enumerations halves the time to compile a suite.
struct WordDomain {
  rc::Gen<std::int64_t> gen;
  std::function<std::string(std::int64_t)> print = {};
  std::function<bool(std::string_view, std::int64_t&)> parse = {};
  std::function<std::string()> describe = {};
  // For a choice: the number of options, and a function that returns one of them with its shrinks.
  std::size_t options = 0;
  std::function<rc::Shrinkable<std::int64_t>(std::size_t)> option = {};
};

template <class T>
concept Word = std::integral<T> || std::is_enum_v<T>;

// Converts the values of `gen` to another type.
template <class To, class From>
rc::Gen<To> gen_cast(rc::Gen<From> gen) {
  return [gen = std::move(gen)](const rc::Random& random, int size) {
    return rc::shrinkable::map(gen(random, size), [](From v) { return static_cast<To>(v); });
  };
}

// `gen`, restricted to the domain `words`: throws std::logic_error for any other value.
rc::Gen<std::int64_t> held_to(rc::Gen<std::int64_t> gen, const WordDomain& words);

}  // namespace detail

template <detail::Word T>
struct Domain<T> {
  explicit Domain(detail::WordDomain words) : words(std::move(words)) {}
  detail::WordDomain words;
};

// The generator of a domain, for use in other generators.
template <class T>
rc::Gen<T> gen_of(const Domain<T>& domain) {
  if constexpr (detail::Word<T>) {
    return detail::gen_cast<T>(domain.words.gen);
  } else {
    return domain.gen;
  }
}

// `domain` with a generator of the caller's. A value outside of `domain` makes the property
// NOT_RUN.
template <detail::Word T>
Domain<T> drawn_by(rc::Gen<T> gen, Domain<T> domain) {
  domain.words.options = 0;  // the generator draws, even if choices take turns
  domain.words.gen = detail::held_to(detail::gen_cast<std::int64_t>(std::move(gen)), domain.words);
  return domain;
}

// Sizes from lo to hi, 0 <= lo <= hi, in which every boundary is likely: 0, 1, lo, hi, and +-1
// around multiples and powers of the warp (32), common blocks, tiles (8, 16) and 2^16. Small values
// are frequent and the largest are rare, so that ten thousand cases run quickly. Shrinks toward lo,
// 1 and the boundaries.
Domain<std::int64_t> sizes(std::int64_t lo, std::int64_t hi);

// Any 64-bit seed, printed in decimal; shrinks toward 0, 1, 2.
Domain<std::uint64_t> seeds();

// Parses all of `text` as a decimal integer of type T. False for any other text.
template <std::integral T>
bool parse_integer(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

namespace detail {

// Integers in [lo, hi] that are simpler than `value`, simplest first: the value nearest 0, 1,
// boundaries of warp, block and tile, then halving steps toward `value`, then its neighbour. No
// duplicates, and never `value` itself.
std::vector<std::int64_t> simpler_integers(std::int64_t value, std::int64_t lo, std::int64_t hi);

struct NamedWord {
  std::string_view text;
  std::int64_t word;
};
WordDomain range_of_words(std::int64_t lo, std::int64_t hi);
WordDomain choice_of_words(std::vector<NamedWord> options);
WordDomain one_of_words(std::vector<std::int64_t> options);

}  // namespace detail

// Uniform in [lo, hi], with the ends more frequent. Shrinks toward the value nearest 0. At most 63
// bits.
template <std::integral T>
Domain<T> range(T lo, T hi) {
  return Domain<T>(
      detail::range_of_words(static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi)));
}

// A value with its name. The name must live as long as the program: a literal.
template <class T>
struct Named {
  std::string_view text;
  T value;
};

// One of the named values; shrinks toward the front of the list.
template <class T>
Domain<T> choice(std::initializer_list<Named<T>> options) {
  std::vector<detail::NamedWord> words;
  for (const Named<T>& option : options)
    words.push_back({option.text, static_cast<std::int64_t>(option.value)});
  return Domain<T>(detail::choice_of_words(std::move(words)));
}

// One of the listed integers; shrinks toward the front of the list.
template <std::integral T>
Domain<T> one_of(std::initializer_list<T> options) {
  return Domain<T>(detail::one_of_words({options.begin(), options.end()}));
}

// false, true; shrinks to false.
Domain<bool> booleans();

}  // namespace lockstep
