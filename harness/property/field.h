// Fields: a case type lists its fields, each with its domain (domain.h).
//
// From the list follow a RapidCheck generator of cases with shrinks, the text of a case, and the
// parser of `--case=`. Fields shrink in their order: shape first, then layout, then values.
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
// work() is optional: the steps of one launch, such as elements times the steps of each. A session
// may limit it (LOCKSTEP_WORK).
//
//   std::int64_t work() const { return n * 4; }
//
// normalise() is optional. It repairs combinations of fields that make no sense, in drawn cases and
// in their shrinks. It must not change a case that it has repaired.
//
// A case's text is "n=33 block=32 boundary=zero values=uniform:7".
#pragma once

#include <rapidcheck/Gen.h>

#include <any>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "harness/property/domain.h"

namespace lockstep {

// A field of a case with its domain, independent of its type.
class Field {
 public:
  explicit Field(std::string_view name) : name(name) {}
  virtual ~Field() = default;
  // Draws a value of the domain; does not change the field. `turns` chooses the options of a
  // choice; if nullptr, they are drawn.
  virtual rc::Shrinkable<std::any> draw(const rc::Random& random, int size, Turns* turns) = 0;
  virtual void set(const std::any& drawn) = 0;
  virtual std::string print() const = 0;
  virtual bool parse(
      std::string_view text) = 0;  // false, with the field unchanged, if not in the domain
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
  rc::Shrinkable<std::any> draw(const rc::Random& random, int size, Turns* turns) override;
  void set(const std::any& drawn) override { set_word(std::any_cast<std::int64_t>(drawn)); }
  std::string print() const override { return domain_.print(get()); }
  bool parse(std::string_view text) override;
  std::string describe() const override { return domain_.describe(); }

 private:
  std::int64_t get() const;
  void set_word(std::int64_t word);

  void* at_;
  std::size_t bytes_;
  bool negative_;  // the type has negative values
  const WordDomain& domain_;
};

}  // namespace detail

// Receives each field from a case's fields(). Each use (printing, sampling, ...) derives from it.
// There are many case types and few uses, so neither is a template of the other.
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
      rc::Shrinkable<std::any> draw(const rc::Random& random, int size, Turns*) override {
        return rc::shrinkable::map(domain_.gen(random, size),
                                   [](T v) { return std::any(std::move(v)); });
      }
      void set(const std::any& drawn) override { value_ = std::any_cast<T>(drawn); }
      std::string print() const override { return domain_.print(value_); }
      bool parse(std::string_view text) override {
        T v{};
        if (!domain_.parse(text, v)) return false;
        value_ = v;
        return true;
      }
      std::string describe() const override { return domain_.describe(); }

     private:
      T& value_;
      const Domain<T>& domain_;
    } bound(name, value, domain);
    visit(bound);
  }
};

namespace detail {

// A case of any type, as the runner needs it.
class AnyCase {
 public:
  virtual ~AnyCase() = default;
  virtual std::unique_ptr<AnyCase> copy() const = 0;
  virtual void fields(FieldVisitor& field) = 0;
  virtual void normalise() = 0;
  virtual std::int64_t work() const { return 0; }  // 0: not known
};

template <class Case>
concept HasNormalise = requires(Case& c) {
  c.normalise();
};

template <class Case>
concept HasWork = requires(const Case& c) {
  { c.work() } -> std::convertible_to<std::int64_t>;
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
  std::int64_t work() const override {
    if constexpr (HasWork<Case>) return value.work();
    return 0;
  }

  Case value{};
};

using AnyCasePointer = std::shared_ptr<const AnyCase>;
using CaseMaker = std::function<std::unique_ptr<AnyCase>()>;

// The functions below, for a case of any type. `fresh` is a newly made case.
std::string print_case(const AnyCase& c);
std::string parse_case(std::string_view text, AnyCase& fresh);
// Draws the fields of a case and normalises it. Each shrink changes one field.
rc::Shrinkable<AnyCasePointer> draw_case(const CaseMaker& make, const rc::Random& random, int size,
                                         Turns* turns = nullptr);

}  // namespace detail

// Returns, for example, "n=33 block=32 boundary=zero".
template <class Case>
std::string print_case(const Case& c) {
  return detail::print_case(detail::BoxedCase<Case>(c));
}

// The generator of a case type. A shrink changes one field, then calls normalise(). Shrinks are in
// the order of the fields, the simplest value first.
template <class Case>
rc::Gen<Case> cases() {
  return [](const rc::Random& random, int size) {
    const auto make = [] { return std::make_unique<detail::BoxedCase<Case>>(); };
    return rc::shrinkable::map(detail::draw_case(make, random, size),
                               [](const detail::AnyCasePointer& c) {
                                 return static_cast<const detail::BoxedCase<Case>&>(*c).value;
                               });
  };
}

// One case, drawn with the next word of `bits`.
template <class Case>
Case draw_case(Bits& bits) {
  return cases<Case>()(rc::Random(bits.next())).value();
}

// Parses the text of print_case(). Every field must be present once, with a value of its domain;
// unknown fields are errors. The case must be one that normalise() does not change. Returns an
// empty string, or one sentence with the error and the accepted values.
template <class Case>
std::string parse_case(std::string_view text, Case& c) {
  detail::BoxedCase<Case> box;
  std::string error = detail::parse_case(text, box);
  c = std::move(box.value);
  return error;
}

}  // namespace lockstep
