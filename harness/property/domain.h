// Domains: the values that one field of a case may have, with their generator and their texts.
//
// A domain holds a RapidCheck generator, rc::Gen<T>. Its rc::Shrinkable values bring their own
// shrinks. A domain also prints a value and parses the text again; no text contains a space.
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

// Chooses options for the cases of a property. Each option of a choice comes once before any comes
// again. Options of two choices meet in as many pairs as the cases have room for.
class Turns {
 public:
  // The order of a choice's options follows from `seed`.
  explicit Turns(std::uint64_t seed) : seed_(seed) {}
  // The next case begins; without a call pick() is of the first.
  void next_case();
  // One of `count` options, for the next choice of the case.
  std::uint64_t pick(std::uint64_t count);

 private:
  struct Choice {
    std::vector<bool> used;  // options, in the round that is under way
    // By the number of an earlier choice, with its option and this choice's: whether they have met.
    std::map<std::uint64_t, std::set<std::pair<std::uint64_t, std::uint64_t>>> met;
  };
  std::uint64_t seed_, turn_ = 0;
  std::vector<Choice> choices_;
  std::vector<std::uint64_t> picked_;  // in this case, by choice
};

// `value`, whose shrinks are simpler(value), whose shrinks are simpler() of these, and so on.
template <class T>
rc::Shrinkable<T> shrinkable_by(T value, std::function<std::vector<T>(const T&)> simpler) {
  return rc::shrinkable::shrinkRecur(std::move(value), [simpler = std::move(simpler)](const T& v) {
    return rc::seq::fromContainer(simpler(v));
  });
}

// A generator from two functions: one draws a value, one lists simpler ones, the simplest first.
// `simpler` must not list its argument, nor lead back to it.
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
  std::string describe = {};  // "one of zero, uniform:SEED", for the error of a bad --case
};

namespace detail {

// A domain of integers, or of an enumeration: its values as 64-bit words in two's complement. Case
// types have dozens of enumerations. One type for all of them halves the time to compile a suite.
struct WordDomain {
  rc::Gen<std::int64_t> gen;
  std::function<std::string(std::int64_t)> print = {};
  std::function<bool(std::string_view, std::int64_t&)> parse = {};
  std::function<std::string()> describe = {};
  // Of a choice: how many options there are, and the one of a number, with its shrinks.
  std::size_t options = 0;
  std::function<rc::Shrinkable<std::int64_t>(std::size_t)> option = {};
};

template <class T>
concept Word = std::integral<T> || std::is_enum_v<T>;

// The values that `gen` draws, as values of another type.
template <class To, class From>
rc::Gen<To> gen_cast(rc::Gen<From> gen) {
  return [gen = std::move(gen)](const rc::Random& random, int size) {
    return rc::shrinkable::map(gen(random, size), [](From v) { return static_cast<To>(v); });
  };
}

// `gen`, each of whose values must be in the domain of `words`: throws std::logic_error otherwise.
rc::Gen<std::int64_t> held_to(rc::Gen<std::int64_t> gen, const WordDomain& words);

}  // namespace detail

template <detail::Word T>
struct Domain<T> {
  explicit Domain(detail::WordDomain words) : words(std::move(words)) {}
  detail::WordDomain words;
};

// The generator of a domain, to be composed with others.
template <class T>
rc::Gen<T> gen_of(const Domain<T>& domain) {
  if constexpr (detail::Word<T>) {
    return detail::gen_cast<T>(domain.words.gen);
  } else {
    return domain.gen;
  }
}

// The same integers and texts, drawn and shrunk by a generator of one's own. A value that `gen`
// draws outside of `domain` makes the property NOT_RUN.
template <detail::Word T>
Domain<T> drawn_by(rc::Gen<T> gen, Domain<T> domain) {
  domain.words.options = 0;  // drawn even where choices take turns
  domain.words.gen = detail::held_to(detail::gen_cast<std::int64_t>(std::move(gen)), domain.words);
  return domain;
}

// Integers with every boundary likely: 0, 1, lo, hi, and +-1 around multiples and powers of the
// warp (32), common blocks, tiles (8, 16), 2^16, ...; small values often, the largest seldom, so
// that ten thousand cases stay quick. Shrinks toward lo, 1 and the boundaries. 0 <= lo <= hi.
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

// Simpler integers than `value` in [lo, hi], simplest first: the value nearest 0, 1, boundaries of
// warp, block and tile, then halving steps back toward `value`, then its neighbour. No duplicates,
// never `value` itself.
std::vector<std::int64_t> simpler_integers(std::int64_t value, std::int64_t lo, std::int64_t hi);

struct NamedWord {
  std::string_view text;
  std::int64_t word;
};
WordDomain range_of_words(std::int64_t lo, std::int64_t hi);
WordDomain choice_of_words(std::vector<NamedWord> options);
WordDomain one_of_words(std::vector<std::int64_t> options);

}  // namespace detail

// Uniform in [lo, hi], the ends more often; shrinks toward the value nearest 0. Ranges of up to 63
// bits.
template <std::integral T>
Domain<T> range(T lo, T hi) {
  return Domain<T>(
      detail::range_of_words(static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi)));
}

// A value with its name, which must live as long as the program: a literal.
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
