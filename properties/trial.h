// A call that is launched again and again on the same arrays, with contents that are exchanged in
// between: those of its case, and others of the same shape. What the batteries of
// properties/contract_laws.h have in common.
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

// What a launch has left in outputs, arrays that go in and out, and variables: by name.
struct Result {
  std::string name;
  std::size_t element_bytes;
  Bytes bytes;
};
using Results = std::vector<Result>;

class Trial {
 public:
  // `judged` gets arrays; `first` and `other`, which are the same call with the contents of the
  // case and with others, have theirs already and lend what they hold.
  Trial(BoundCall judged, BoundCall first, BoundCall other);

  const std::string& name() const { return judged_.contract->launcher(); }
  bool takes_stream() const { return judged_.takes_stream; }
  const BoundCall& call() const { return judged_; }

  // Makes everything as it is before a launch with these contents: what is read is written in
  // stream order, outputs are poisoned.
  void set(Contents contents, const Stream& stream);
  // The parts of that: what is done in stream order, and what is done when the call returns.
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

// Ends the case as a mismatch unless both hold the same bytes.
void require_same(const std::string& launcher, const Results& actual, const Results& expected,
                  const char* when);
inline void require_same(const Trial& trial, const Results& actual, const Results& expected,
                         const char* when) {
  require_same(trial.name(), actual, expected, when);
}
// Ends the case unless all operations were requested of this stream, and all succeeded.
void require_all_on(const Trial& trial, const std::vector<lockstepOperation>& operations,
                    const Stream& stream, bool captured);

// ---- Other contents.

// Where the arrays of calls begin and end, and of what they are: what contents must fit.
std::vector<std::int64_t> shape_of(const Contract& contract);
// Draws each field anew, in turn, and leaves it so where `fits` agrees. The same case gives the
// same result.
std::unique_ptr<detail::AnyCase> redrawn(const detail::AnyCase& c,
                                         const std::function<bool(const detail::AnyCase&)>& fits);
// Cases in which one field is drawn anew, a field each, of at most `count` fields that follow from
// the case's text.
std::vector<std::unique_ptr<detail::AnyCase>> redrawn_field_by_field(const detail::AnyCase& c,
                                                                     int count);
// A seed that follows from the case's text.
std::uint64_t seed_of_case(const detail::AnyCase& c);

// A case whose arrays have the same sizes, with other contents wherever that can be.
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

// Up to `count` cases that differ from this one in what follows from one of its fields, drawn anew:
// other arguments that are alike in all else. Which fields follows from the case.
template <class Case>
std::vector<Case> with_one_field_redrawn(const Case& c, int count) {
  using Box = lockstep::detail::BoxedCase<Case>;
  std::vector<Case> all;
  for (const auto& other : redrawn_field_by_field(Box(c), count))
    all.push_back(static_cast<const Box&>(*other).value);
  return all;
}

// A case that has nothing to do with this one.
template <class Case>
Case another_case(const Case& c) {
  Bits bits(seed_of_case(lockstep::detail::BoxedCase<Case>(c)));
  return draw_case<Case>(bits);
}

}  // namespace lockstep::properties
