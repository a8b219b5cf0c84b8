// The input values of the recorded kernels.
#include <algorithm>
#include <array>
#include <string_view>

#include "simulator/splitmix64.h"
#include "simulator/vectors/vectors.h"

namespace lockstep::vectors {
namespace {

using isa::Opcode;
using isa::Type;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() { return next_mixed(state_); }

 private:
  std::uint64_t state_;
};

using List = std::vector<std::uint64_t>;

// Signed zeros, subnormals, the limits of normal numbers, one and its neighbours, thirds and
// integers, infinities, quiet and signalling NaNs. The most revealing values come first, since
// crossing uses values from the front.
List special_floats(int fraction_bits, int exponent_bits) {
  const std::uint64_t step = std::uint64_t{1} << fraction_bits, fraction = step - 1;
  const std::uint64_t bias = (std::uint64_t{1} << (exponent_bits - 1)) - 1;
  const std::uint64_t sign = std::uint64_t{1} << (fraction_bits + exponent_bits);
  const std::uint64_t infinity = (2 * bias + 1) << fraction_bits, one = bias << fraction_bits,
                      quiet = step >> 1;
  const auto power = [&](int e) {
    return one + (static_cast<std::uint64_t>(static_cast<std::int64_t>(e)) << fraction_bits);
  };
  const int precision = fraction_bits + 1;
  List v = {0,
            sign,
            one,
            sign | one,
            infinity,
            sign | infinity,
            infinity | quiet,
            infinity | 1,
            1,
            sign | fraction,
            step,
            infinity - 1,
            sign | (infinity - 1),
            one + 1,
            one - 1,
            power(1) | quiet,
            sign | power(-1),
            power(-precision),
            step + 1,
            sign | infinity | quiet | 3,
            sign | 1,
            fraction,
            sign | step,
            fraction >> 1,
            power(1),
            sign | power(1),
            power(-1),
            power(2) | (fraction & 0x5555555555555555),
            sign | one | (fraction & 0x3333333333333333),
            power(1 - precision),
            sign | power(-precision),
            infinity | fraction,
            sign | infinity | 1,
            power(1) | (quiet >> 1),
            step << 1,
            (step << 1) - 1,
            one | (quiet + (quiet >> 1)),
            power(3) | quiet,
            sign | power(3) | quiet};
  for (const int e : {4,  7,  8,  10,  14,  15,  16, 23,  24,  31,   32,   52,
                      62, 63, 64, 100, 126, 127, -2, -14, -24, -100, -125, -126}) {
    const std::int64_t biased = static_cast<std::int64_t>(bias) + e;
    if (biased <= 0 || biased >= static_cast<std::int64_t>(2 * bias + 1)) continue;
    for (const std::uint64_t f :
         {std::uint64_t{0}, fraction, quiet, fraction & 0x5555555555555555}) {
      v.push_back(power(e) | f);
      v.push_back(sign | power(e) | f);
    }
    v.push_back(power(e) - 1);
  }
  return v;
}

List special_integers(int bytes) {
  const int bits = 8 * bytes;
  const std::uint64_t all = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1,
                      top = std::uint64_t{1} << (bits - 1);
  List v = {0,
            1,
            all,
            top,
            top - 1,
            2,
            top + 1,
            all - 1,
            31,
            32,
            0x5555555555555555 & all,
            0xaaaaaaaaaaaaaaaa & all,
            7,
            8,
            33,
            16,
            0x0123456789abcdef & all,
            0xfedcba9876543210 & all,
            0xff & all,
            63,
            64,
            3,
            5,
            10,
            15,
            17,
            24,
            65,
            0x7f,
            0x80,
            100,
            0x7f80 & all,
            0x8000 & all,
            0x7fff & all,
            0xffff & all,
            0x10000 & all,
            0xff00ff00ff00ff00 & all,
            0x00ff00ff00ff00ff & all,
            0x8080808080808080 & all,
            0x7f7f7f7f7f7f7f7f & all};
  for (int i = 0; i < bits; i += 3)
    v.push_back(std::uint64_t{1} << i), v.push_back((all << i) & all), v.push_back(all >> i);
  return v;
}

// Two elements in one register.
List paired(const List& one, int bits) {
  List v;
  for (std::size_t i = 0; i < one.size(); ++i)
    v.push_back(one[i] | one[(i * 7 + 3) % one.size()] << bits);
  return v;
}

const List& specials(Type type) {
  static const List f16 = special_floats(10, 5), bf16 = special_floats(7, 8),
                    f32 = special_floats(23, 8), f64 = special_floats(52, 11);
  static const List i8 = special_integers(1), i16 = special_integers(2), i32 = special_integers(4),
                    i64 = special_integers(8);
  static const List f16x2 = paired(f16, 16), bf16x2 = paired(bf16, 16), i16x2 = paired(i16, 16),
                    bytes2 = paired(i8, 8);
  static const List predicate = {0, 1};
  switch (type) {
    case Type::kPred: return predicate;
    case Type::kF16: return f16;
    case Type::kBF16: return bf16;
    case Type::kF16x2: return f16x2;
    case Type::kBF16x2: return bf16x2;
    case Type::kU16x2:
    case Type::kS16x2: return i16x2;
    case Type::kF32:
    case Type::kTF32: return f32;
    case Type::kF64: return f64;
    case Type::kE4M3x2:
    case Type::kE5M2x2: return bytes2;
    default: break;
  }
  switch (isa::size_of(type)) {
    case 1: return i8;
    case 2: return i16;
    case 4: return i32;
    default: return i64;
  }
}

// A value of any size: random bits or, for numbers, in half of the cases with an exponent in the
// middle of the range.
std::uint64_t any_value(Type type, Random& random) {
  const std::uint64_t bits = random();
  const bool tame = random() & 1;
  switch (type) {
    case Type::kPred: return bits & 1;
    case Type::kF32:
      return tame ? (bits & 0x807fffff) | (0x78 + (bits >> 40) % 16) << 23 : bits & 0xffffffff;
    case Type::kF64:
      return tame ? (bits & 0x800fffffffffffff) | (0x3f8 + (random() % 16)) << 52 : bits;
    case Type::kU64:
    case Type::kS64:
    case Type::kB64: return tame ? bits >> (random() % 64) : bits;
    default: break;
  }
  const int size = isa::size_of(type);
  if (size >= 8) return bits;
  const std::uint64_t mask = (std::uint64_t{1} << (8 * size)) - 1;
  const bool integer =
      type != Type::kF16 && type != Type::kBF16 && type != Type::kF16x2 && type != Type::kBF16x2;
  return (integer && tame ? bits >> (random() % (8 * size)) : bits) & mask;
}

// Lanes, segments and clamps: values that fit the shuffle's fields, and some that exceed them.
std::uint64_t shuffle_operand(int operand, Random& random) {
  const std::uint64_t r = random();
  if (operand == 2) return r % 8 == 0 ? r >> 8 & 0xff : r >> 8 & 31;
  const std::uint64_t segments[] = {
      0, 0x1f, 0x1c00 | 0x1f, 0x1f00, 0x1800 | 7, r >> 16 & 0x1f1f, 0x1000 | 0xf};
  return segments[r % std::size(segments)];
}

bool divides_integers(const VectorForm& f) {
  const Opcode op = f.spelling.form->row->opcode;
  if (op != Opcode::k_div && op != Opcode::k_rem) return false;
  const Type t = f.spelling.modifiers.type;
  return t != Type::kF32 && t != Type::kF64;
}

}  // namespace

std::vector<std::uint64_t> inputs_of(const VectorForm& form) {
  const std::size_t n = form.inputs.size();
  std::vector<std::uint64_t> words(kThreads * n);
  std::uint64_t seed = 0;
  for (const Word& w : form.inputs)
    seed = seed * 31 + static_cast<std::uint64_t>(w.type) +
           1;  // by types: rounding modes see the same values
  Random random(seed);
  // As many special values of each input as can be crossed in four fifths of the threads.
  std::size_t side = 1;
  const auto product = [n](std::size_t s) {
    std::size_t p = 1;
    for (std::size_t i = 0; i < n && p <= kThreads; ++i) p *= s;
    return p;
  };
  while (n != 0 && product(side + 1) <= kThreads * 4 / 5) ++side;
  const Opcode opcode = form.spelling.form->row->opcode;
  for (int t = 0; t < kThreads; ++t) {
    auto rest = static_cast<std::size_t>(t);
    const bool crossed = rest < product(side);
    for (std::size_t i = 0; i < n; ++i) {
      const Word& w = form.inputs[i];
      const List& list = specials(w.type);
      std::uint64_t& v = words[static_cast<std::size_t>(t) * n + i];
      if (crossed) {
        v = list[rest % side % list.size()];
        rest /= side;
      } else {
        v = random() % 3 == 0 ? list[random() % list.size()] : any_value(w.type, random);
      }
      if (n == 1 && isa::size_of(w.type) == 2 && t >= static_cast<int>(list.size()))
        v = static_cast<std::uint64_t>(t) * 0x9e35 & 0xffff;
      // The rest of a word in memory contains further elements, or bytes that must not change.
      if (w.kind == Word::Kind::kMemory && isa::size_of(w.type) < 8)
        v |= random() << (8 * isa::size_of(w.type));
      if (opcode == Opcode::k_shfl_sync && w.operand >= 2) v = shuffle_operand(w.operand, random);
      if (divides_integers(form) && i == 1 && v == 0) v = 1;  // unspecified by the manual
    }
  }
  return words;
}

}  // namespace lockstep::vectors
