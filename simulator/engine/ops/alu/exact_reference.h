// Arithmetic without rounding, for tests: a number is sign * integer * 2^exponent with an integer
// of any length. It is rounded once at the end.
//
// It uses integer operations only, not the host's floating point. Supports every binary format up
// to f64, every rounding direction, flushing and saturation.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>

namespace lockstep::engine::exact {

// An unsigned integer of up to 5,120 bits, least significant word first, without leading zero
// words. The sum of an f64 and a product of two needs at most 4,200 bits.
class Natural {
 public:
  Natural() = default;
  explicit Natural(unsigned __int128 v) {
    for (; v != 0; v >>= 32) words_[size_++] = static_cast<std::uint32_t>(v);
  }
  Natural(const Natural& other) { *this = other; }
  Natural& operator=(const Natural& other) {
    size_ = other.size_;
    std::copy_n(other.words_.begin(), size_, words_.begin());  // not the rest
    return *this;
  }
  bool is_zero() const { return size_ == 0; }
  int bit_length() const {
    return is_zero() ? 0 : 32 * size_ - std::countl_zero(words_[size_ - 1]);
  }
  bool bit(int i) const { return (word(i / 32) >> (i % 32)) & 1; }
  bool any_below(int i) const {  // a set bit under bit i
    for (int w = 0; w < i / 32; ++w) {
      if (word(w) != 0) return true;
    }
    return (word(i / 32) & ((std::uint32_t{1} << (i % 32)) - 1)) != 0;
  }
  std::uint64_t from_bit(int i) const {  // the 64 bits from bit i up
    const int w = i / 32;
    const unsigned __int128 words = static_cast<unsigned __int128>(word(w + 2)) << 64 |
                                    static_cast<std::uint64_t>(word(w + 1)) << 32 | word(w);
    return static_cast<std::uint64_t>(words >> (i % 32));
  }
  Natural shifted_left(int n) const {
    if (is_zero()) return {};
    Natural r;
    if (n == 0) {
      r = *this;
      return r;
    }
    r.zero_words(n / 32);
    std::uint64_t carry = 0;
    for (int w = 0; w < size_; ++w) {
      carry |= static_cast<std::uint64_t>(words_[w]) << (n % 32);
      r.push(static_cast<std::uint32_t>(carry));
      carry >>= 32;
    }
    if (carry != 0) r.push(static_cast<std::uint32_t>(carry));
    return r;
  }
  static int compare(const Natural& a, const Natural& b) {
    if (a.size_ != b.size_) return a.size_ < b.size_ ? -1 : 1;
    for (int w = a.size_; w-- > 0;) {
      if (a.words_[w] != b.words_[w]) return a.words_[w] < b.words_[w] ? -1 : 1;
    }
    return 0;
  }
  friend Natural operator+(const Natural& a, const Natural& b) {
    Natural r;
    std::uint64_t carry = 0;
    for (int w = 0; w < a.size_ || w < b.size_ || carry; ++w) {
      carry += static_cast<std::uint64_t>(a.word(w)) + b.word(w);
      r.push(static_cast<std::uint32_t>(carry));
      carry >>= 32;
    }
    return r;
  }
  friend Natural operator-(const Natural& a, const Natural& b) {  // a >= b
    Natural r;
    std::int64_t borrow = 0;
    for (int w = 0; w < a.size_; ++w) {
      const std::int64_t d = static_cast<std::int64_t>(a.words_[w]) - b.word(w) + borrow;
      borrow = d < 0 ? -1 : 0;
      r.push(static_cast<std::uint32_t>(d));
    }
    return r.trimmed();
  }
  friend Natural operator*(const Natural& a, const Natural& b) {
    Natural r;
    r.zero_words(a.size_ + b.size_);
    for (int i = 0; i < a.size_; ++i) {
      std::uint64_t carry = 0;
      for (int j = 0; j < b.size_ || carry; ++j) {
        carry += r.words_[i + j] + static_cast<std::uint64_t>(a.words_[i]) * b.word(j);
        r.words_[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    return r.trimmed();
  }

 private:
  std::uint32_t word(int w) const { return w < size_ ? words_[w] : 0; }
  void push(std::uint32_t word) { words_.at(size_++) = word; }
  void zero_words(int count) {  // the first of a new number
    std::fill_n(words_.begin(),
                size_ = count <= static_cast<int>(words_.size())
                            ? count
                            : throw std::out_of_range("a number of more than 5,120 bits"),
                0);
  }
  Natural& trimmed() {
    while (size_ > 0 && words_[size_ - 1] == 0) --size_;
    return *this;
  }
  int size_ = 0;
  std::array<std::uint32_t, 160> words_;  // the first size_ of them
};

enum class Direction { kNearestEven, kZero, kDown, kUp, kNearestAway };

// A binary interchange format: the bits of the significand (with the hidden one) and of the
// exponent, and the NaN that arithmetic returns.
struct Format {
  int precision;
  int exponent_bits;
  std::uint64_t canonical_nan;
  int bits() const { return precision + exponent_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint64_t sign_bit() const { return std::uint64_t{1} << (bits() - 1); }
  std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << (precision - 1);
  }
};
inline constexpr Format kF16{11, 5, 0x7fff};
inline constexpr Format kBF16{8, 8, 0x7fff};
inline constexpr Format kF32{24, 8, 0x7fffffff};
inline constexpr Format kF64{53, 11, 0x7ff8000000000000};

struct Number {
  enum class Class { kNaN, kInfinite, kFinite } cls = Class::kFinite;
  bool negative = false;
  Natural magnitude;  // kFinite: value = magnitude * 2^exponent; zero keeps its sign
  int exponent = 0;
  bool is_nan() const { return cls == Class::kNaN; }
  bool is_infinite() const { return cls == Class::kInfinite; }
  bool is_zero() const { return cls == Class::kFinite && magnitude.is_zero(); }
};

inline Number nan_number() { return {Number::Class::kNaN, false, {}, 0}; }
inline Number infinite(bool negative) { return {Number::Class::kInfinite, negative, {}, 0}; }
inline Number zero(bool negative) { return {Number::Class::kFinite, negative, {}, 0}; }

inline bool is_subnormal(std::uint64_t bits, const Format& f) {
  return (bits & f.infinity()) == 0 && (bits & ~f.sign_bit()) != 0;
}
inline bool is_nan_bits(std::uint64_t bits, const Format& f) {
  return (bits & ~f.sign_bit()) > f.infinity();
}

inline std::uint64_t flush(std::uint64_t bits, const Format& f) {
  return is_subnormal(bits, f) ? bits & f.sign_bit() : bits;
}

inline Number decode(std::uint64_t bits, const Format& f) {
  const bool negative = bits & f.sign_bit();
  const std::uint64_t magnitude = bits & ~f.sign_bit();
  if (magnitude > f.infinity()) return nan_number();
  if (magnitude == f.infinity()) return infinite(negative);
  const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << (f.precision - 1)) - 1);
  const int biased = static_cast<int>(magnitude >> (f.precision - 1));
  const std::uint64_t significand =
      biased == 0 ? fraction : fraction | std::uint64_t{1} << (f.precision - 1);
  return {Number::Class::kFinite, negative, Natural(significand),
          (biased == 0 ? 1 : biased) - f.bias() - (f.precision - 1)};
}

inline Number integer(bool negative, unsigned __int128 magnitude) {
  return {Number::Class::kFinite, negative, Natural(magnitude), 0};
}

inline bool rounds_up(Direction d, bool negative, bool odd, bool half, bool rest) {
  switch (d) {
    case Direction::kNearestEven: return half && (rest || odd);
    case Direction::kNearestAway: return half;
    case Direction::kZero: return false;
    case Direction::kDown: return negative && (half || rest);
    case Direction::kUp: return !negative && (half || rest);
  }
  return false;
}

inline std::uint64_t encode(const Number& n, const Format& f, Direction d) {
  if (n.is_nan()) return f.canonical_nan;
  const std::uint64_t sign = n.negative ? f.sign_bit() : 0;
  if (n.is_infinite()) return sign | f.infinity();
  if (n.is_zero()) return sign;
  const int lowest = 1 - f.bias() - (f.precision - 1);  // exponent of the last place of subnormals
  const int length = n.magnitude.bit_length();
  int last = n.exponent + length - f.precision;  // exponent of the result's last place
  if (last < lowest) last = lowest;
  std::uint64_t significand;
  const int drop = last - n.exponent;
  if (drop <= 0) {
    significand = n.magnitude.shifted_left(-drop).from_bit(0);
  } else {
    significand = n.magnitude.from_bit(drop);
    const bool half = n.magnitude.bit(drop - 1);
    const bool rest = n.magnitude.any_below(drop - 1);
    if (rounds_up(d, n.negative, significand & 1, half, rest)) ++significand;
  }
  // The hidden bit carries into the exponent by itself: subnormal to normal, and one binade to the
  // next.
  const std::uint64_t hidden = std::uint64_t{1} << (f.precision - 1);
  std::uint64_t bits = significand < hidden ? significand
                                            : significand - hidden +
                                                  (static_cast<std::uint64_t>(last - lowest + 1)
                                                   << (f.precision - 1));
  if (bits >= f.infinity()) {
    const bool to_largest = d == Direction::kZero || (d == Direction::kDown && !n.negative) ||
                            (d == Direction::kUp && n.negative);
    bits = to_largest ? f.infinity() - 1 : f.infinity();
  }
  return sign | bits;
}

// As encode(), but returns a signed zero if the result is tiny: below the smallest normal number
// after rounding with an unbounded exponent.
inline std::uint64_t encode_flushed(const Number& n, const Format& f, Direction d) {
  const std::uint64_t bits = encode(n, f, d);
  if (n.cls != Number::Class::kFinite) return bits;
  const Format unbounded{f.precision, f.exponent_bits + 4, 0};
  const int exponent =
      static_cast<int>((encode(n, unbounded, d) & ~unbounded.sign_bit()) >> (f.precision - 1)) -
      unbounded.bias();
  return exponent < 1 - f.bias() ? bits & f.sign_bit() : bits;
}

// The NaN of f64 arithmetic: the first NaN operand, quieted, or the default NaN if no operand is
// one.
inline std::uint64_t f64_nan(const std::uint64_t* operands, int count) {
  for (int i = 0; i < count; ++i) {
    if (is_nan_bits(operands[i], kF64)) return operands[i] | std::uint64_t{1} << 51;
  }
  return 0xfff8000000000000;
}

inline Number negate(Number n) {
  n.negative = !n.negative;
  return n;
}

inline Number add(const Number& a, const Number& b, Direction d) {
  if (a.is_nan() || b.is_nan()) return nan_number();
  if (a.is_infinite()) return b.is_infinite() && a.negative != b.negative ? nan_number() : a;
  if (b.is_infinite()) return b;
  const bool zero_sign = a.negative == b.negative ? a.negative : d == Direction::kDown;
  if (a.is_zero() && b.is_zero()) return zero(zero_sign);
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const int exponent = a.exponent < b.exponent ? a.exponent : b.exponent;
  const Natural x = a.magnitude.shifted_left(a.exponent - exponent),
                y = b.magnitude.shifted_left(b.exponent - exponent);
  if (a.negative == b.negative) return {Number::Class::kFinite, a.negative, x + y, exponent};
  const int order = Natural::compare(x, y);
  if (order == 0) return zero(zero_sign);
  return order > 0 ? Number{Number::Class::kFinite, a.negative, x - y, exponent}
                   : Number{Number::Class::kFinite, b.negative, y - x, exponent};
}

inline Number multiply(const Number& a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return nan_number();
  const bool negative = a.negative != b.negative;
  if (a.is_infinite() || b.is_infinite())
    return a.is_zero() || b.is_zero() ? nan_number() : infinite(negative);
  return {Number::Class::kFinite, negative, a.magnitude * b.magnitude, a.exponent + b.exponent};
}

// The quotient with enough bits to be rounded correctly: the last bit is set if a remainder is
// left.
inline Number divide(const Number& a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return nan_number();
  const bool negative = a.negative != b.negative;
  if (a.is_infinite()) return b.is_infinite() ? nan_number() : infinite(negative);
  if (b.is_infinite()) return zero(negative);
  if (b.is_zero()) return a.is_zero() ? nan_number() : infinite(negative);
  if (a.is_zero()) return zero(negative);
  unsigned __int128 x = a.magnitude.from_bit(0), y = b.magnitude.from_bit(0);
  int exponent = a.exponent - b.exponent;
  while (!(x >> 125)) x <<= 1, --exponent;  // at least 72 bits of quotient
  const unsigned __int128 q = x / y;
  return {Number::Class::kFinite, negative, Natural(q << 1 | (x % y != 0)), exponent - 1};
}

inline Number square_root(const Number& a) {
  if (a.is_nan() || a.is_zero()) return a;
  if (a.negative) return nan_number();
  if (a.is_infinite()) return a;
  unsigned __int128 x = a.magnitude.from_bit(0);
  int exponent = a.exponent;
  while (!(x >> 123)) x <<= 1, --exponent;
  if (exponent % 2 != 0) x <<= 1, --exponent;
  unsigned __int128 root = 0;
  for (int i = 63; i >= 0; --i) {
    const unsigned __int128 next = root | (unsigned __int128){1} << i;
    if (next * next <= x && next < ((unsigned __int128){1} << 64)) root = next;
  }
  return {Number::Class::kFinite, false, Natural(root << 1 | (root * root != x)), exponent / 2 - 1};
}

// The nearest integer in the given direction, as a Number with exponent 0 or more.
inline Number to_integral(const Number& n, Direction d) {
  if (n.cls != Number::Class::kFinite || n.exponent >= 0 || n.is_zero()) return n;
  const int drop = -n.exponent;
  if (n.magnitude.bit_length() - drop > 64) return n;
  std::uint64_t whole = n.magnitude.from_bit(drop);
  if (rounds_up(d, n.negative, whole & 1, n.magnitude.bit(drop - 1),
                n.magnitude.any_below(drop - 1)))
    ++whole;
  return {Number::Class::kFinite, n.negative, Natural(whole), 0};
}

// -1, 0 or 1; 2 for unordered.
inline int compare(const Number& a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return 2;
  if (a.is_zero() && b.is_zero()) return 0;
  if (a.is_infinite() && b.is_infinite() && a.negative == b.negative) return 0;
  const auto sign = [](const Number& n) { return n.is_zero() ? 0 : n.negative ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) < sign(b) ? -1 : 1;
  const bool is_finite = a.cls == Number::Class::kFinite && b.cls == Number::Class::kFinite;
  const int a_top = a.exponent + a.magnitude.bit_length(),
            b_top = b.exponent + b.magnitude.bit_length();
  if (is_finite && a_top != b_top) return (a_top < b_top) != a.negative ? -1 : 1;
  const Number d = add(a, negate(b), Direction::kNearestEven);
  if (d.is_nan())
    return a.negative ? -1 : 1;  // opposite infinities cannot reach here as a sum of equals
  return d.is_zero() ? 0 : d.negative ? -1 : 1;
}

}  // namespace lockstep::engine::exact
