// The parser's position in the text: the current token, and errors that name line and function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "simulator/ptx/constant.h"
#include "simulator/ptx/lexer.h"
#include "simulator/ptx/parser.h"

namespace lockstep::ptx {

// Thrown inside the parser only; parse() turns it into a value.
struct Failure {
  ParseError error;
  bool unknown_instruction = false;  // refuses only its function, not the module
};

class Cursor {
 public:
  explicit Cursor(std::string_view text) : lexer_(text), current_(lexer_.next()) {}

  const Token& current() const { return current_; }
  int line() const { return current_.line; }
  bool at_end() const { return current_.kind == Token::Kind::kEnd; }
  bool at_word() const { return current_.kind == Token::Kind::kWord; }
  bool at_directive() const { return current_.kind == Token::Kind::kDirective; }
  bool at(char c) const { return current_.is(c); }
  bool at(std::string_view text) const { return current_.is(text); }

  Token take() {
    const Token t = current_;
    current_ = lexer_.next();
    return t;
  }
  bool accept(char c) { return at(c) && (take(), true); }
  bool accept(std::string_view text) { return at(text) && (take(), true); }
  void expect(char c) {
    if (!accept(c)) unexpected(std::string("'") + c + "'");
  }
  // Consumes an identifier.
  std::string_view expect_word(std::string_view what) {
    if (!at_word()) unexpected(what);
    return take().text;
  }
  Constant expect_constant(std::string_view what);
  std::int64_t expect_integer(std::string_view what);
  // Consumes a non-negative integer that fits in 32 bits.
  std::uint32_t expect_count(std::string_view what);
  // Skips a block in braces, including the opening brace.
  void skip_braces();

  [[noreturn]] void fail(int line, std::string message) const {
    throw Failure{{line, function, std::move(message)}};
  }
  [[noreturn]] void fail(std::string message) const { fail(line(), std::move(message)); }
  [[noreturn]] void unexpected(std::string_view wanted) const;
  // For an instruction that matches no row of the table of forms.
  [[noreturn]] void fail_unknown(int line, std::string message) const {
    throw Failure{{line, function, std::move(message)}, true};
  }

  std::string function;  // the function being parsed, for messages

 private:
  Lexer lexer_;
  Token current_;
};

}  // namespace lockstep::ptx
