// The object under test without its types, for laws of every launcher; and cases drawn from a case.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "harness/property/contract.h"
#include "harness/property/field.h"

namespace lockstep::properties {

using lockstep::detail::AnyCase;

// An implementation and the case type of its calls. One type for all families, so that the
// batteries are compiled once.
class Subject {
 public:
  virtual ~Subject() = default;
  // The calls of a case, which must outlive them.
  virtual BoundCalls calls(const AnyCase& c) const = 0;
  // A case with the default of each field.
  virtual std::unique_ptr<AnyCase> fresh() const = 0;
};

// kCalls: a function of `const Case&` that returns a Call or Calls. The implementation must outlive
// the subject.
template <auto kCalls, class Case, class Implementation>
class SubjectOf final : public Subject {
 public:
  explicit SubjectOf(const Implementation& f) : f_(f) {}
  BoundCalls calls(const AnyCase& c) const override {
    return bind_calls(lockstep::detail::as_calls(kCalls(static_cast<const Box&>(c).value)), f_);
  }
  std::unique_ptr<AnyCase> fresh() const override { return std::make_unique<Box>(); }

 private:
  using Box = lockstep::detail::BoxedCase<Case>;
  const Implementation& f_;
};

// A seed that the case's text determines.
std::uint64_t seed_of_case(const AnyCase& c);

// A case whose arrays have the same sizes and types but, if possible, other contents. The case
// determines it.
std::unique_ptr<AnyCase> with_other_contents(const Subject& subject, const AnyCase& c);

// Up to `count` cases with one field drawn anew, so that few arguments differ. The case determines
// the fields.
std::vector<std::unique_ptr<AnyCase>> with_one_field_redrawn(const AnyCase& c, int count);

// An unrelated case, which the case determines.
std::unique_ptr<AnyCase> another_case(const Subject& subject, const AnyCase& c);

}  // namespace lockstep::properties
