// Domains: the values that the fields of a case may have.
//
// A case type lists its fields once, in the order in which a counterexample should shrink: shape
// first, then layout, then values. The list gives generation, shrinking, the readable text of a
// case, and the parser of `--case=`.
//
//   struct StencilCase {
//     std::int64_t n = 0;
//     int block = 32;
//     Boundary boundary = Boundary::kZero;
//     Values values;
//     static void fields(StencilCase& c, FieldVisitor& field) {
//       field("n", c.n, sizes(0, 1 << 20));
//       field("block", c.block, one_of({32, 64, 96, 128, 256, 512, 1024}));
//       field("boundary", c.boundary,
//             choice<Boundary>({{"zero", Boundary::kZero}, {"clamp", Boundary::kClamp}}));
//       field("values", c.values, values_of({ValueKind::kSmallIntegers, ValueKind::kUniform}));
//     }
//     void normalise();
//   };
//
// normalise() is optional. It repairs combinations of fields that make no sense, after generation
// and after each shrink step. It must not change a case that it has repaired.
//
// A case's text is "n=33 block=32 boundary=zero values=uniform:7". A domain prints and parses its
// own part; no part contains a space.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/property/splitmix64.h"

namespace lockstep {

// A source of random 64-bit words; the property runner derives it from RapidCheck's Random so that
// runs replay by seed.
class Bits {
 public:
  explicit Bits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();                      // SplitMix64
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound), bound > 0
  bool chance(unsigned percent) { return below(100) < percent; }

  // From now on pick() goes through all of a choice's options before it comes back to one, in an
  // order of its own, which follows from `seed`. This is the case of number `turn`.
  void take_turns(std::uint64_t turn, std::uint64_t seed) {
    turn_ = turn, turns_seed_ = seed, turns_ = true;
  }
  // One of `count` options.
  std::uint64_t pick(std::uint64_t count);

 private:
  std::uint64_t state_;
  std::uint64_t turn_ = 0, turns_seed_ = 0, picks_ = 0;
  bool turns_ = false;
};

template <class T>
struct Domain {
  using Value = T;
  std::function<T(Bits&)> sample;
  std::function<std::vector<T>(const T&)>
      shrink;  // simpler values, simplest first; empty when none
  std::function<std::string(const T&)> print;
  std::function<bool(std::string_view, T&)> parse;  // false: not in the domain
  std::string describe;  // "0 ... 1048576", for the error of a bad --case
};

namespace detail {

// What a domain of integers, or of an enumeration, comes down to: its values as 64-bit words in
// two's complement. Case types have dozens of enumerations; that none of this is a template of them
// halves what they cost to compile.
struct WordDomain {
  std::function<std::int64_t(Bits&)> sample;
  std::function<std::vector<std::int64_t>(std::int64_t)> shrink;
  std::function<std::string(std::int64_t)> print;
  std::function<bool(std::string_view, std::int64_t&)> parse;
  std::function<std::string()> describe;
};

template <class T>
concept Word = std::integral<T> || std::is_enum_v<T>;

}  // namespace detail

template <detail::Word T>
class Domain<T> {
 public:
  using Value = T;
  explicit Domain(detail::WordDomain words) : words(std::move(words)) {}
  T sample(Bits& bits) const { return static_cast<T>(words.sample(bits)); }
  std::vector<T> shrink(T value) const {
    std::vector<T> out;
    for (const std::int64_t word : words.shrink(static_cast<std::int64_t>(value)))
      out.push_back(static_cast<T>(word));
    return out;
  }

  detail::WordDomain words;
};

// Integers with every boundary likely: 0, 1, lo, hi, and +-1 around multiples and powers of the
// warp (32), common blocks, tiles (8, 16), 2^16, ...; small values often, the largest seldom, so
// that ten thousand cases stay quick. Shrinks toward lo, 1 and the boundaries. 0 <= lo <= hi; this
// and the domains below throw std::invalid_argument when they would be empty.
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

// A field of a case with its domain: what can be done with it without knowing its type. Values
// travel as their texts.
class Field {
 public:
  explicit Field(std::string_view name) : name(name) {}
  virtual ~Field() = default;
  virtual void sample(Bits& bits) = 0;
  virtual std::vector<std::string> simpler() const = 0;  // simplest first
  virtual std::string print() const = 0;
  virtual bool parse(
      std::string_view text) = 0;            // false, and the field unchanged: not in the domain
  virtual std::string describe() const = 0;  // the domain

  const std::string_view name;
};

namespace detail {

// A field of an integral or enumeration type, of any width.
class WordField : public Field {
 public:
  template <Word T>
  WordField(std::string_view name, T& value, const WordDomain& domain)
      : Field(name),
        at_(&value),
        bytes_(sizeof value),
        negative_(static_cast<T>(-1) < T{}),
        domain_(domain) {}
  void sample(Bits& bits) override { set(domain_.sample(bits)); }
  std::vector<std::string> simpler() const override;
  std::string print() const override { return domain_.print(get()); }
  bool parse(std::string_view text) override;
  std::string describe() const override { return domain_.describe(); }

 private:
  std::int64_t get() const;
  void set(std::int64_t word);

  void* at_;
  std::size_t bytes_;
  bool negative_;  // may be
  const WordDomain& domain_;
};

}  // namespace detail

// A case's fields() hands each field to it; a purpose (printing, sampling, ...) derives from it.
// Case types are many and purposes few, so neither is a template of the other.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  virtual void visit(Field& field) = 0;

  template <detail::Word T, detail::Word V>
  void operator()(std::string_view name, T& value, const Domain<V>& domain) {
    detail::WordField bound(name, value, domain.words);
    visit(bound);
  }

  template <class T>
  requires(!detail::Word<T>) void operator()(std::string_view name, T& value,
                                             const Domain<T>& domain) {
    class Bound : public Field {
     public:
      Bound(std::string_view name, T& value, const Domain<T>& domain)
          : Field(name), value_(value), domain_(domain) {}
      void sample(Bits& bits) override { value_ = domain_.sample(bits); }
      std::vector<std::string> simpler() const override {
        std::vector<std::string> texts;
        for (const T& v : domain_.shrink(value_)) texts.push_back(domain_.print(v));
        return texts;
      }
      std::string print() const override { return domain_.print(value_); }
      bool parse(std::string_view text) override {
        T v{};
        if (!domain_.parse(text, v)) return false;
        value_ = v;
        return true;
      }
      std::string describe() const override { return domain_.describe; }

     private:
      T& value_;
      const Domain<T>& domain_;
    } bound(name, value, domain);
    visit(bound);
  }
};

namespace detail {

// A case of some type, with what the runner needs of it.
class AnyCase {
 public:
  virtual ~AnyCase() = default;
  virtual std::unique_ptr<AnyCase> copy() const = 0;
  virtual void fields(FieldVisitor& field) = 0;
  virtual void normalise() = 0;
};

template <class Case>
concept HasNormalise = requires(Case& c) {
  c.normalise();
};

template <class Case>
class BoxedCase final : public AnyCase {
 public:
  BoxedCase() = default;
  explicit BoxedCase(const Case& c) : value(c) {}
  std::unique_ptr<AnyCase> copy() const override { return std::make_unique<BoxedCase>(value); }
  void fields(FieldVisitor& field) override { Case::fields(value, field); }
  void normalise() override {
    if constexpr (HasNormalise<Case>) value.normalise();
  }

  Case value{};
};

// What the functions below do, for a case of any type. `fresh` is one that was just made.
std::string print_case(const AnyCase& c);
void sample_case(AnyCase& fresh, Bits& bits);
std::vector<std::unique_ptr<AnyCase>> simpler_cases(const AnyCase& c);
std::string parse_case(std::string_view text, AnyCase& fresh);

}  // namespace detail

// What the runner does with a case type. All of it is deterministic.

// "n=33 block=32 boundary=zero".
template <class Case>
std::string print_case(const Case& c) {
  return detail::print_case(detail::BoxedCase<Case>(c));
}

// A random case, normalised.
template <class Case>
Case sample_case(Bits& bits) {
  detail::BoxedCase<Case> box;
  detail::sample_case(box, bits);
  return std::move(box.value);
}

// Simpler cases: each changes one field (and what normalise() makes of that), in the order of the
// fields, simplest value first.
template <class Case>
std::vector<Case> simpler_cases(const Case& c) {
  std::vector<Case> out;
  for (const auto& simpler : detail::simpler_cases(detail::BoxedCase<Case>(c))) {
    out.push_back(static_cast<const detail::BoxedCase<Case>&>(*simpler).value);
  }
  return out;
}

// Reads what print_case wrote. Every field must be there, none twice, none unknown, each in its
// domain, and the whole must be a case that normalise() leaves alone. Returns an empty string, or
// one sentence that says what is wrong and what is accepted.
template <class Case>
std::string parse_case(std::string_view text, Case& c) {
  detail::BoxedCase<Case> box;
  std::string error = detail::parse_case(text, box);
  c = std::move(box.value);
  return error;
}

}  // namespace lockstep
