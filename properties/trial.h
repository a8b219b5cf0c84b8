// A call that is launched repeatedly on the same arrays, with contents that are exchanged in
// between: those of its case, and others of the same shape. Common to the batteries of
// properties/contract_laws.h.
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/property/contract.h"
#include "harness/property/field.h"
#include "properties/streams.h"

namespace lockstep::properties {

enum class Contents : std::uint8_t { kFirst, kOther };

// The contents of outputs, in-out arrays and variables after a launch, with their names.
struct Result {
  std::string name;
  std::size_t element_bytes;
  Bytes bytes;
};
using Results = std::vector<Result>;

class Trial {
 public:
  // Makes arrays for `judged`. `first` and `other` are the same call with the case's contents and
  // with others; they are allocated already, and supply the contents.
  Trial(BoundCall judged, BoundCall first, BoundCall other);

  const std::string& name() const { return judged_.contract->launcher(); }
  bool takes_stream() const { return judged_.takes_stream; }
  const BoundCall& call() const { return judged_; }

  // Prepares a launch with these contents: writes inputs in stream order, and poisons outputs.
  void set(Contents contents, const Stream& stream);
  // The two parts of set(): work in stream order, and work that is complete on return.
  void set_arrays(Contents contents, const Stream& stream);
  void set_variables(Contents contents);
  // Launches, requires success, and waits.
  void launch(const Stream& stream, const char* when);
  // Waits for the device.
  Results results() const;
  // set(), launch() and results().
  Results run(Contents contents, const Stream& stream, const char* when);

 private:
  BoundCall judged_, first_, other_;
};

// Fails the case as a mismatch unless both hold the same bytes.
void require_same(const std::string& launcher, const Results& actual, const Results& expected,
                  const char* when);
inline void require_same(const Trial& trial, const Results& actual, const Results& expected,
                         const char* when) {
  require_same(trial.name(), actual, expected, when);
}
// Fails the case unless all operations used this stream and succeeded.
void require_all_on(const Trial& trial, const std::vector<lockstepOperation>& operations,
                    const Stream& stream, bool captured);

// ---- Other contents.

// The extents and types of the calls' arrays, which contents must match.
std::vector<std::int64_t> shape_of(const Contract& contract);
// Draws each field anew, in turn, and keeps the new value if `fits` agrees. Deterministic for a
// case.
std::unique_ptr<detail::AnyCase> redrawn(const detail::AnyCase& c,
                                         const std::function<bool(const detail::AnyCase&)>& fits);
// Cases with one field drawn anew: one case per field, for at most `count` fields. The case's text
// determines the fields.
std::vector<std::unique_ptr<detail::AnyCase>> redrawn_field_by_field(const detail::AnyCase& c,
                                                                     int count);
// A seed that the case's text determines.
std::uint64_t seed_of_case(const detail::AnyCase& c);

// A case whose arrays have the same sizes but, if possible, other contents.
template <auto kCalls, class Case>
Case with_other_contents(const Case& c) {
  using Box = lockstep::detail::BoxedCase<Case>;
  const auto shape = [](const Case& of) {
    std::vector<std::int64_t> all;
    for (const auto& call : lockstep::detail::as_calls(kCalls(of))) {
      const auto one = shape_of(call);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  };
  const std::vector<std::int64_t> wanted = shape(c);
  const auto other = redrawn(Box(c), [&](const lockstep::detail::AnyCase& of) {
    return shape(static_cast<const Box&>(of).value) == wanted;
  });
  return static_cast<const Box&>(*other).value;
}

// Up to `count` cases with one field drawn anew, so that few arguments differ. The case determines
// the fields.
template <class Case>
std::vector<Case> with_one_field_redrawn(const Case& c, int count) {
  using Box = lockstep::detail::BoxedCase<Case>;
  std::vector<Case> all;
  for (const auto& other : redrawn_field_by_field(Box(c), count))
    all.push_back(static_cast<const Box&>(*other).value);
  return all;
}

// An unrelated case.
template <class Case>
Case another_case(const Case& c) {
  Bits bits(seed_of_case(lockstep::detail::BoxedCase<Case>(c)));
  return draw_case<Case>(bits);
}

}  // namespace lockstep::properties
