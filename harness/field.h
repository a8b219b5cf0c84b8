// Domains: where the fields of a case come from.
//
// A case type lists its fields once, in the order in which a counterexample should shrink: shape first, then layout, then values. From that list
// come generation, shrinking, the readable text of a case, and the parser that `--case=` uses.
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
//       field("values", c.values, values_of(ValueKind::kUniform, ...));
//     }
//     void normalise();   // optional: mends combinations that make no sense, after generation and each shrink step
//   };
//
// Its text is "n=33 block=32 boundary=zero values=uniform:7". A domain prints and parses its own part.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

// A source of random 64-bit words; the property runner derives it from RapidCheck's Random so that runs replay by seed.
class Bits {
 public:
  explicit Bits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();                             // SplitMix64
  std::uint64_t below(std::uint64_t bound);         // uniform in [0, bound), bound > 0
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

template <class T>
struct Domain {
  std::function<T(Bits&)> sample;
  std::function<std::vector<T>(const T&)> shrink;       // simpler values, simplest first; empty when none
  std::function<std::string(const T&)> print;
  std::function<bool(std::string_view, T&)> parse;      // false: not in the domain
  std::string describe;                                 // "0 ... 1048576", for the error of a bad --case
};

// Integers with every boundary likely: 0, 1, lo, hi, and +-1 around multiples and powers of the warp (32), common blocks, tiles (8, 16), 2^16, ...;
// small values often, the largest seldom, so that ten thousand cases stay quick. Shrinks toward lo, 1 and the boundaries.
Domain<std::int64_t> sizes(std::int64_t lo, std::int64_t hi);
// Uniform in [lo, hi]; shrinks toward the value nearest 0.
template <std::integral T> Domain<T> range(T lo, T hi);
// One of the listed values; shrinks toward the front of the list.
template <class T> Domain<T> one_of(std::vector<T> options);
// The same with names, for enumerations and variants.
template <class T> Domain<T> choice(std::vector<std::pair<std::string, T>> options);
// Any 64-bit seed, printed in decimal; shrinks toward 0, 1, 2.
Domain<std::uint64_t> seeds();

}  // namespace lockstep
