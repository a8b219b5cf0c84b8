#include "simulator/ptx/cursor.h"

namespace lockstep::ptx {

std::string ParseError::to_string() const {
  std::string s = "PTX line " + std::to_string(line);
  if (!function.empty()) s += ", in " + function;
  return s + ": " + message;
}

void Cursor::unexpected(std::string_view wanted) const {
  std::string found =
      at_end() ? "the end of the text" : "'" + std::string(current_.text.substr(0, 60)) + "'";
  if (current_.kind == Token::Kind::kBad) found += " (no token of PTX)";
  fail("expected " + std::string(wanted) + ", found " + found);
}

Constant Cursor::expect_constant(std::string_view what) {
  const auto c = parse_constant_expression(current_, [this] { return lexer_.next(); });
  if (!c) unexpected(what);
  return *c;
}

std::int64_t Cursor::expect_integer(std::string_view what) {
  const int at_line = line();
  const Constant c = expect_constant(what);
  if (c.kind == Constant::Kind::kFloat)
    fail(at_line, "expected " + std::string(what) + ", found a floating-point constant");
  return static_cast<std::int64_t>(c.bits);
}

std::uint32_t Cursor::expect_count(std::string_view what) {
  const int at_line = line();
  const std::int64_t v = expect_integer(what);
  if (v < 0 || v > 0xffffffffll)
    fail(at_line, std::string(what) + " out of range: " + std::to_string(v));
  return static_cast<std::uint32_t>(v);
}

void Cursor::skip_braces() {
  const int opened = line();
  expect('{');
  for (int depth = 1; depth > 0; take()) {
    if (at_end()) fail(opened, "'{' is never closed");
    if (at('{')) ++depth;
    if (at('}') && --depth == 0) break;
  }
  take();
}

}  // namespace lockstep::ptx
