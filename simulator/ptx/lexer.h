// Splits PTX text into tokens, one at a time, without copying.
//
// A word that does not begin with a dot includes its dots (`ld.global.f32`, `%tid.x`). A word that
// begins with a dot ends before the next dot: `.reg.pred` is two tokens, as in PTX. `::` joins
// words (`.shared::cta`); a single colon does not (labels).
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    kEnd,
    kWord,       // identifier, opcode, special register
    kDirective,  // begins with a dot
    kNumber,     // as written
    kString,     // without its quotes
    // One or two characters: , ; [ ] { } ( ) < > | + - ! @ = : << >> <= >= == != && ||.
    kPunctuator,
    kBad,  // a character that PTX does not use, or a string or comment without an end
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  int line = 0;

  bool is(char c) const { return kind == Kind::kPunctuator && text.size() == 1 && text[0] == c; }
  bool is(std::string_view s) const { return kind != Kind::kString && text == s; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  void skip_space();
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
  bool open_comment_ = false;
};

}  // namespace lockstep::ptx
