#include "harness/property/field.h"

#include <rapidcheck/seq/Create.h>
#include <rapidcheck/seq/Transform.h>

#include <algorithm>
#include <cstring>

namespace lockstep {
namespace detail {

rc::Shrinkable<std::any> WordField::draw(const rc::Random& random, int size, Turns* turns) {
  return rc::shrinkable::map(turns != nullptr && domain_.options > 0
                                 ? domain_.option(turns->pick(domain_.options))
                                 : domain_.gen(random, size),
                             [](std::int64_t word) { return std::any(word); });
}

bool WordField::parse(std::string_view text) {
  std::int64_t word;
  if (!domain_.parse(text, word)) return false;
  set_word(word);
  return true;
}

// The low bytes of a word are first in memory on every machine that CUDA supports.
std::int64_t WordField::get() const {
  std::int64_t word = 0;
  std::memcpy(&word, at_, bytes_);
  const int unused = 64 - 8 * static_cast<int>(bytes_);
  return negative_ ? word << unused >> unused : word;
}
void WordField::set_word(std::int64_t word) { std::memcpy(at_, &word, bytes_); }

namespace {

// Prints "n=33 block=32".
class Printing : public FieldVisitor {
 public:
  void visit(Field& field) override {
    if (!text.empty()) text += ' ';
    text.append(field.name).append("=").append(field.print());
  }
  std::string text;
};

// For every field of a case, in order: a value with its shrinks.
using Drawn = std::vector<rc::Shrinkable<std::any>>;

class Drawing : public FieldVisitor {
 public:
  Drawing(const rc::Random& random, int size, Turns* turns)
      : random_(random), size_(size), turns_(turns) {}
  void visit(Field& field) override {
    drawn.push_back(field.draw(random_.split(), size_, turns_));
    field.set(drawn.back().value());  // a later domain may depend on it
  }
  Drawn drawn;

 private:
  rc::Random random_;
  int size_;
  Turns* turns_;
};

class Setting : public FieldVisitor {
 public:
  explicit Setting(const Drawn& drawn) : drawn_(drawn) {}
  void visit(Field& field) override { field.set(drawn_[index_++].value()); }

 private:
  const Drawn& drawn_;
  std::size_t index_ = 0;
};

// The variants of `drawn` that differ in one field, in the order of the fields.
rc::Seq<Drawn> simpler(const Drawn& drawn) {
  return rc::seq::mapcat(rc::seq::range<std::size_t>(0, drawn.size()), [drawn](std::size_t field) {
    return rc::seq::map(drawn[field].shrinks(), [drawn, field](rc::Shrinkable<std::any> value) {
      Drawn changed = drawn;
      changed[field] = std::move(value);
      return changed;
    });
  });
}

class Parsing : public FieldVisitor {
 public:
  explicit Parsing(std::string_view text);
  void visit(Field& field) override;
  // Empty, or one sentence: the first problem only, so that a bad case gives one error.
  std::string error() const;

 private:
  struct Token {
    std::string_view name, value;
    bool used = false;
  };
  std::vector<Token> tokens_;
  std::string error_, known_;
  bool only_missing_ = false;  // error_ is about a missing field
};

Parsing::Parsing(std::string_view text) {
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      error_ = "'" + std::string(word) + "' is not of the form name=value";
      break;
    }
    const Token token{word.substr(0, equals), word.substr(equals + 1)};
    for (const Token& t : tokens_) {
      if (t.name == token.name && error_.empty())
        error_ = "field '" + std::string(token.name) + "' is given twice";
    }
    tokens_.push_back(token);
  }
}

void Parsing::visit(Field& field) {
  known_.append(known_.empty() ? "" : ", ").append(field.name);
  const auto token = std::ranges::find(tokens_, field.name, &Token::name);
  if (token == tokens_.end()) {
    if (!error_.empty()) return;
    error_ = "field '" + std::string(field.name) + "' is missing (" + field.describe() + ")";
    only_missing_ = true;
    return;
  }
  token->used = true;
  if (field.parse(token->value) || !error_.empty()) return;
  error_ = "field '" + std::string(field.name) + "' cannot be '" + std::string(token->value) +
           "': it takes " + field.describe();
}

std::string Parsing::error() const {
  const auto unknown = std::ranges::find(tokens_, false, &Token::used);
  // A misspelt name causes an unknown field and a missing one. The error about the unknown field is
  // more useful.
  if (unknown == tokens_.end() || !(error_.empty() || only_missing_)) return error_;
  return "there is no field '" + std::string(unknown->name) + "'; the fields are " + known_;
}

}  // namespace

std::string print_case(const AnyCase& c) {
  const auto printed = c.copy();  // fields() needs a mutable case
  Printing printing;
  printed->fields(printing);
  return std::move(printing.text);
}

rc::Shrinkable<AnyCasePointer> draw_case(const CaseMaker& make, const rc::Random& random, int size,
                                         Turns* turns) {
  Drawing drawing(random, size, turns);
  make()->fields(drawing);
  return rc::shrinkable::map(rc::shrinkable::shrinkRecur(std::move(drawing.drawn), simpler),
                             [make](const Drawn& drawn) -> AnyCasePointer {
                               std::unique_ptr<AnyCase> c = make();
                               Setting setting(drawn);
                               c->fields(setting);
                               c->normalise();
                               return c;
                             });
}

std::string parse_case(std::string_view text, AnyCase& fresh) {
  Parsing parsing(text);
  fresh.fields(parsing);
  if (std::string error = parsing.error(); !error.empty()) return error;
  const std::string as_given = print_case(fresh);
  fresh.normalise();
  const std::string as_case = print_case(fresh);
  if (as_given != as_case)
    return "these fields do not go together; the nearest case is '" + as_case + "'";
  return "";
}

}  // namespace detail
}  // namespace lockstep
