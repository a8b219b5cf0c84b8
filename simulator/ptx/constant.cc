#include "simulator/ptx/constant.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "simulator/isa/names.h"

namespace lockstep::ptx {
namespace {

std::optional<std::uint64_t> digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

Constant from_signed(std::int64_t v) {
  return {Constant::Kind::kSigned, static_cast<std::uint64_t>(v)};
}
Constant from_unsigned(std::uint64_t v) { return {Constant::Kind::kUnsigned, v}; }
Constant from_double(double v) { return {Constant::Kind::kFloat, std::bit_cast<std::uint64_t>(v)}; }

class Expression {
 public:
  Expression(Token& current, const std::function<Token()>& next) : current_(current), next_(next) {}

  std::optional<Constant> conditional() {
    if (depth_ == kDeepest) return std::nullopt;
    ++depth_;
    const auto c = choice();
    --depth_;
    return c;
  }

 private:
  // Far more than programs use, and far less than the stack holds.
  static constexpr int kDeepest = 256;

  std::optional<Constant> choice() {
    auto c = binary(0);
    if (!c || !current_.is('?')) return c;
    advance();
    auto a = conditional();
    if (!a || !current_.is(':')) return std::nullopt;
    advance();
    auto b = conditional();
    if (!b) return std::nullopt;
    return c->bits != 0 ? a : b;
  }

  void advance() { current_ = next_(); }

  static int precedence(std::string_view op) {
    if (op == "||") return 1;
    if (op == "&&") return 2;
    if (op == "|") return 3;
    if (op == "^") return 4;
    if (op == "&") return 5;
    if (op == "==" || op == "!=") return 6;
    if (op == "<" || op == "<=" || op == ">" || op == ">=") return 7;
    if (op == "<<" || op == ">>") return 8;
    if (op == "+" || op == "-") return 9;
    if (op == "*" || op == "/" || op == "%") return 10;
    return 0;
  }

  std::optional<Constant> unary() {
    if (depth_ == kDeepest) return std::nullopt;
    ++depth_;
    const auto c = operand();
    --depth_;
    return c;
  }

  std::optional<Constant> operand() {
    if (current_.is('(')) {
      advance();
      if (current_.is(".s64") || current_.is(".u64")) {  // a cast
        const bool is_signed = current_.is(".s64");
        advance();
        if (!current_.is(')')) return std::nullopt;
        advance();
        auto c = unary();
        if (!c || c->kind == Constant::Kind::kFloat) return std::nullopt;
        c->kind = is_signed ? Constant::Kind::kSigned : Constant::Kind::kUnsigned;
        return c;
      }
      auto c = conditional();
      if (!c || !current_.is(')')) return std::nullopt;
      advance();
      return c;
    }
    for (const char op : {'-', '+', '!', '~'}) {
      if (!current_.is(op)) continue;
      advance();
      auto c = unary();
      if (!c) return std::nullopt;
      if (c->kind == Constant::Kind::kFloat) {
        if (op == '-') return from_double(-c->as_double());
        return op == '+' ? c : std::nullopt;
      }
      if (op == '-') c->bits = 0 - c->bits;
      if (op == '~') c->bits = ~c->bits;
      if (op == '!') return from_signed(c->bits == 0);
      return c;
    }
    std::optional<Constant> c;
    if (current_.kind == Token::Kind::kNumber) c = parse_number(current_.text);
    if (current_.is("WARP_SZ")) c = from_signed(32);
    if (c) advance();
    return c;
  }

  std::optional<Constant> binary(int lowest) {
    auto a = unary();
    while (a && current_.kind == Token::Kind::kPunctuator) {
      const std::string_view op = current_.text;
      const int p = precedence(op);
      if (p == 0 || p <= lowest) break;
      // Floating-point constants form no expressions. `p|q` and `a:b` never begin with a number, so
      // '|' is an operator here.
      if (a->kind == Constant::Kind::kFloat) return std::nullopt;
      advance();
      const auto b = binary(p);
      if (!b || b->kind == Constant::Kind::kFloat) return std::nullopt;
      a = apply(op, *a, *b);
    }
    return a;
  }

  static std::optional<Constant> apply(std::string_view op, Constant a, Constant b) {
    const bool is_signed = a.kind == Constant::Kind::kSigned && b.kind == Constant::Kind::kSigned;
    const std::uint64_t x = a.bits, y = b.bits;
    const auto sx = static_cast<std::int64_t>(x), sy = static_cast<std::int64_t>(y);
    auto value = [&](std::uint64_t v) {
      return is_signed ? from_signed(static_cast<std::int64_t>(v)) : from_unsigned(v);
    };
    auto truth = [](bool v) { return from_signed(v); };
    if (op == "+") return value(x + y);
    if (op == "-") return value(x - y);
    if (op == "*") return value(x * y);
    if (op == "/" || op == "%") {
      if (y == 0) return std::nullopt;
      const bool quotient = op == "/";
      if (!is_signed) return from_unsigned(quotient ? x / y : x % y);
      if (sy == -1)
        return quotient ? from_signed(static_cast<std::int64_t>(0 - x))
                        : from_signed(0);  // no overflow trap
      return from_signed(quotient ? sx / sy : sx % sy);
    }
    if (op == "&") return value(x & y);
    if (op == "|") return value(x | y);
    if (op == "^") return value(x ^ y);
    if (op == "<<") {  // shifts take the type of the left operand
      const std::uint64_t v = y > 63 ? 0 : x << y;
      return Constant{a.kind, v};
    }
    if (op == ">>") {
      if (a.kind == Constant::Kind::kSigned) return from_signed(sx >> (y > 63 ? 63 : y));
      return from_unsigned(y > 63 ? 0 : x >> y);
    }
    if (op == "==") return truth(x == y);
    if (op == "!=") return truth(x != y);
    if (op == "<") return truth(is_signed ? sx < sy : x < y);
    if (op == "<=") return truth(is_signed ? sx <= sy : x <= y);
    if (op == ">") return truth(is_signed ? sx > sy : x > y);
    if (op == ">=") return truth(is_signed ? sx >= sy : x >= y);
    if (op == "&&") return truth(x != 0 && y != 0);
    if (op == "||") return truth(x != 0 || y != 0);
    return std::nullopt;
  }

  Token& current_;
  const std::function<Token()>& next_;
  int depth_ = 0;  // of parentheses, signs and alternatives
};

bool is_float_type(Type t) { return t == Type::kF32 || t == Type::kF64; }

}  // namespace

double Constant::as_double() const { return std::bit_cast<double>(bits); }

std::optional<Constant> parse_number(std::string_view text) {
  if (text.size() > 2 && text[0] == '0') {
    const char c = text[1];
    if (c == 'f' || c == 'F') {
      const auto v = digits(text.substr(2), 16);
      if (!v || text.size() != 10) return std::nullopt;
      const float f = std::bit_cast<float>(static_cast<std::uint32_t>(*v));
      if (!std::isnan(f)) return from_double(static_cast<double>(f));
      // A conversion would quiet a signalling NaN: move its bits by hand.
      const std::uint64_t sign = *v >> 31 << 63, payload = (*v & 0x7fffff) << 29;
      return Constant{Constant::Kind::kFloat, sign | 0x7ff0000000000000ull | payload};
    }
    if (c == 'd' || c == 'D') {
      const auto v = digits(text.substr(2), 16);
      if (!v || text.size() != 18) return std::nullopt;
      return Constant{Constant::Kind::kFloat, *v};
    }
  }
  if (text.find('.') != std::string_view::npos ||
      (text.find_first_of("xX") == std::string_view::npos &&
       text.find_first_of("eE") != std::string_view::npos)) {
    double v = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
    if (r.ptr != text.data() + text.size() || r.ec != std::errc()) return std::nullopt;
    return from_double(v);
  }
  bool is_unsigned = false;
  if (!text.empty() && text.back() == 'U') {
    is_unsigned = true;
    text.remove_suffix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
    if (text[0] == 'x' || text[0] == 'X') base = 16;
    if (text[0] == 'b' || text[0] == 'B') base = 2;
    if (base != 8) text.remove_prefix(1);
  }
  const auto v = digits(text, base);
  if (!v) return std::nullopt;
  // A literal that does not fit in .s64 is .u64.
  return is_unsigned || *v > 0x7fffffffffffffffull ? from_unsigned(*v)
                                                   : from_signed(static_cast<std::int64_t>(*v));
}

std::optional<std::uint64_t> bits_as(const Constant& c, Type type) {
  if (c.kind == Constant::Kind::kFloat) {
    if (type == Type::kF64 || type == Type::kB64) return c.bits;
    if (type != Type::kF32 && type != Type::kB32 && !is_float_type(type)) return std::nullopt;
    const double d = c.as_double();
    if (!std::isnan(d)) return std::bit_cast<std::uint32_t>(static_cast<float>(d));
    return (c.bits >> 63 << 31) | 0x7f800000u | ((c.bits >> 29) & 0x7fffffu);
  }
  if (is_float_type(type)) return std::nullopt;
  if (type == Type::kPred) return c.bits != 0;
  const int bytes = size_of(type);
  return bytes >= 8 || bytes == 0 ? c.bits : c.bits & ((1ull << (8 * bytes)) - 1);
}

std::optional<Constant> parse_constant_expression(Token& current,
                                                  const std::function<Token()>& next) {
  return Expression(current, next).conditional();
}

}  // namespace lockstep::ptx
