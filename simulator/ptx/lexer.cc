#include "simulator/ptx/lexer.h"

namespace lockstep::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool begins_word(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
// '%' stands at the beginning alone (PTX ISA 4.4): mov.u32%r1 is two words.
bool continues_word(char c) { return (begins_word(c) && c != '%') || is_digit(c); }

}  // namespace

void Lexer::skip_space() {
  for (;;) {
    const char c = at(position_);
    if (c == '\n') {
      ++line_;
      ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++position_;
    } else if (c == '/' && at(position_ + 1) == '/') {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else if (c == '/' && at(position_ + 1) == '*') {
      const std::size_t end = text_.find("*/", position_ + 2);
      if (end == std::string_view::npos) {
        open_comment_ = true;
        return;
      }
      for (std::size_t i = position_; i < end; ++i) line_ += text_[i] == '\n';
      position_ = end + 2;
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_space();
  Token t;
  t.line = line_;
  // A fat binary's text may include its terminating NUL.
  if (position_ >= text_.size() || (text_[position_] == '\0' && position_ + 1 == text_.size()))
    return t;
  const std::size_t start = position_;
  const char c = text_[start];
  auto finish = [&](Token::Kind kind, std::size_t end) {
    t.kind = kind;
    t.text = text_.substr(start, end - start);
    position_ = end;
    return t;
  };
  if (open_comment_) return finish(Token::Kind::kBad, text_.size());

  // A lone '%' is the operator; '%2' is a name, according to the manual.
  if ((begins_word(c) && (c != '%' || continues_word(at(start + 1)))) ||
      (c == '.' && begins_word(at(start + 1)))) {
    const bool directive = c == '.';
    std::size_t i = start + 1;
    for (;; ++i) {
      const char k = at(i);
      if (continues_word(k)) continue;
      if (k == '.' && !directive && continues_word(at(i + 1))) continue;
      if (k == ':' && at(i + 1) == ':' && continues_word(at(i + 2))) {
        ++i;
        continue;
      }
      break;
    }
    return finish(directive ? Token::Kind::kDirective : Token::Kind::kWord, i);
  }

  if (is_digit(c)) {
    // Integers (with 0x, 0b, U), 0f and 0d bit patterns, decimal floats with exponent.
    const char second = at(start + 1);
    const bool pattern =
        c == '0' && (second == 'x' || second == 'X' || second == 'f' || second == 'F' ||
                     second == 'd' || second == 'D' || second == 'b' || second == 'B');
    std::size_t i = start + 1;
    for (;; ++i) {
      const char k = at(i);
      if (is_digit(k) || is_letter(k)) continue;
      if (!pattern && k == '.' && !is_letter(at(i + 1))) continue;
      if (!pattern && (k == '+' || k == '-') && (at(i - 1) == 'e' || at(i - 1) == 'E') &&
          is_digit(at(i + 1)))
        continue;
      break;
    }
    return finish(Token::Kind::kNumber, i);
  }

  if (c == '"') {
    std::size_t i = start + 1;
    while (i < text_.size() && text_[i] != '"' && text_[i] != '\n') i += text_[i] == '\\' ? 2 : 1;
    if (i >= text_.size() || text_[i] != '"') return finish(Token::Kind::kBad, text_.size());
    t.kind = Token::Kind::kString;
    t.text = text_.substr(start + 1, i - start - 1);
    position_ = i + 1;
    return t;
  }

  const char n = at(start + 1);
  const bool two = (c == '<' && (n == '<' || n == '=')) || (c == '>' && (n == '>' || n == '=')) ||
                   (c == '=' && n == '=') || (c == '!' && n == '=') || (c == '&' && n == '&') ||
                   (c == '|' && n == '|');
  if (two) return finish(Token::Kind::kPunctuator, start + 2);
  if (std::string_view(",;[]{}()<>|+-!@=:*/%&^~?").find(c) != std::string_view::npos)
    return finish(Token::Kind::kPunctuator, start + 1);
  return finish(Token::Kind::kBad, start + 1);
}

}  // namespace lockstep::ptx
