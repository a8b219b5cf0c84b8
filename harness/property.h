// Properties: a sentence about every case of a type, checked on generated cases through RapidCheck, shrunk, replayable.
//
//   PROPERTY(Stencil, EveryVariantMatchesTheReferenceWithinItsBound, const StencilCase& c) {
//     properties::stencil_matches_reference(kernels::stencil_1d, c);
//   }
//
// PROPERTY registers a gtest test. What breaks inside is thrown as a failure that RapidCheck sees and so shrinks: the
// REQUIRE macros of compare.h, CUDA errors, findings of the simulated GPU, gtest's own EXPECT and ASSERT (a bridge
// turns them), exceptions.
//
// Quiet until it fails; then one counterexample, the smallest found, and the line that replays it.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/case.h"
#include "harness/field.h"
#include "harness/verdict.h"

namespace lockstep {

struct PropertyOptions {
  std::uint64_t seed = 0;             // 0: derived from the property's name (and Bazel's TEST_RANDOM_SEED when set)
  int cases = 0;                      // 0: kDefaultCases
  std::optional<std::string> replay;  // text of one case: runs that alone, without shrinking
  int max_shrinks = 500;              // runs spent on shrinking
};

struct PropertyResult {
  bool held = false;        // ran to its end, and no case broke it
  std::uint64_t cases = 0;  // generated cases that ran, those of shrinking not among them
  std::uint64_t seed = 0;
  double budget = 0;  // largest error/bound among the cases that held
  Failure failure;    // of the minimal case
  std::string minimal_case;
  int shrinks = 0;                     // steps from the first failing case to the minimal one
  int shrink_runs = 0;                 // cases run for that
  std::optional<std::string> not_run;  // why, when the property could not run to its end
  std::optional<std::string>
      not_applicable;  // the clause, when the device lacks a capability that the property requires
};

// The seed of a property: FNV-1a of its name, mixed with TEST_RANDOM_SEED where Bazel sets it above 1
// (--runs_per_test).
std::uint64_t seed_of(std::string_view name);

// A capability that the device must have for a property to apply; evaluated against the device, never free text.
enum class Capability {
  kClusters,       // thread-block clusters: compute capability 9.0 and up
  kClusterSize16,  // clusters of 16 blocks, by the kernel's opting in
  kManagedMemory,
  kCooperativeLaunch,
  kGlobalBytes,       // at_least bytes of global memory
  kSharedOptinBytes,  // at_least bytes of shared memory in a block, by opting in
  kSimulator,         // the simulated GPU: its counters, findings or schedules
};
struct Requirement {
  Capability capability;
  std::uint64_t at_least = 1;
};
// Ends the current property as NOT_APPLICABLE unless the device meets it. The first line of a property's body: a
// requirement that holds for some cases and not for others ends the property as NOT_RUN, for then part of it applies
// and belongs in a property of its own.
void require_capability(const Requirement& r);

// Default number of cases a property generates, before --cases and the suite's own scale.
inline constexpr int kDefaultCases = 200;

namespace detail {

// Drives one property; knows its cases only as text. RapidCheck's driver calls run() for every case it generates or
// shrinks to.
class PropertyRun {
 public:
  PropertyRun(std::string_view name, const PropertyOptions& options);

  // Runs one case: whether it broke the property. Once a case has failed, further calls count as shrinking: each text
  // runs at most once, and when max_shrinks are spent, or the device is lost, nothing runs any more.
  bool breaks(const std::string& text, const std::function<void()>& body);
  // Whether shrinking should offer more candidates.
  bool goes_on() const { return !stop_ && result_.shrink_runs < options_.max_shrinks; }
  // Whether a case already failed, so that `text` is a candidate for a smaller one, and it has not been tried.
  bool worth_trying(const std::string& text) const;

  std::uint64_t seed() const { return result_.seed; }
  int cases() const { return options_.cases; }
  const PropertyOptions& options() const { return options_; }
  PropertyResult& result() { return result_; }
  PropertyResult finish();

 private:
  std::string name_;
  PropertyOptions options_;
  PropertyResult result_;
  std::set<std::string> tried_;
  bool stop_ = false;  // nothing more may run
};

// Hands the property to RapidCheck's driver.
void drive(PropertyRun& run, const rc::Gen<rc::detail::CaseDescription>& property);

// Of a gtest test: runs under the session's options, completes the record, reports to gtest.
void report_property(std::string_view name, const PropertyResult& result, const char* file, int line);
PropertyOptions session_property_options(std::string_view name, int cases);
// Empty when the device can run properties; else why the property is NOT_RUN.
std::string device_unusable();

}  // namespace detail

// Cases of a type with fields() as a RapidCheck generator; shrinks field by field.
template <class Case>
rc::Gen<Case> arbitrary_case() {
  return [](const rc::Random& random, int) {
    Bits bits(rc::Random(random).next());
    return rc::shrinkable::shrinkRecur(sample_case<Case>(bits),
                                       [](const Case& c) { return rc::seq::fromContainer(simpler_cases(c)); });
  };
}

// Runs `check` on generated cases of type Case (which has fields(), see field.h). Used by PROPERTY and, with a broken
// kernel put in place of the real one, by the known-bad tests: it neither touches the session's record nor fails the
// gtest test.
template <class Case>
PropertyResult run_property(std::string_view name, const std::function<void(const Case&)>& check,
                            const PropertyOptions& options = {}) {
  detail::PropertyRun run(name, options);
  if (options.replay) {
    Case c{};
    if (const std::string error = parse_case(*options.replay, c); !error.empty()) {
      run.result().not_run = "--case: " + error;
    } else {
      run.breaks(print_case(c), [&] { check(c); });
    }
    return run.finish();
  }
  const auto describe = [&](const Case& c) {
    rc::detail::CaseDescription description;
    const bool broken = run.breaks(print_case(c), [&] { check(c); });
    description.result = {broken ? rc::detail::CaseResult::Type::Failure : rc::detail::CaseResult::Type::Success, ""};
    description.example = [] { return rc::detail::Example(); };
    return description;
  };
  // Shrinking stops where the run says so, and a case that was tried before is not offered again.
  const auto simpler = [&](const Case& c) {
    std::vector<Case> out;
    if (!run.goes_on()) return rc::seq::fromContainer(std::move(out));
    for (Case& candidate : simpler_cases(c)) {
      if (run.worth_trying(print_case(candidate))) out.push_back(std::move(candidate));
    }
    return rc::seq::fromContainer(std::move(out));
  };
  const rc::Gen<rc::detail::CaseDescription> property = [&](const rc::Random& random, int) {
    Bits bits(rc::Random(random).next());
    return rc::shrinkable::map(rc::shrinkable::shrinkRecur(sample_case<Case>(bits), simpler), describe);
  };
  detail::drive(run, property);
  return run.finish();
}

namespace detail {

// The body of the gtest test that PROPERTY registers.
template <class Case>
void check_property(const char* name, void (*check)(Case), int cases, const char* file, int line) {
  using Value = std::decay_t<Case>;
  PropertyResult result;
  if (std::string unusable = device_unusable(); !unusable.empty()) {
    result.not_run = std::move(unusable);
    result.seed = seed_of(name);
  } else {
    result = run_property<Value>(
        name, [check](const Value& c) { check(c); }, session_property_options(name, cases));
  }
  report_property(name, result, file, line);
}

}  // namespace detail
}  // namespace lockstep

#define PROPERTY(suite, name, parameter) LOCKSTEP_PROPERTY_(suite, name, ::lockstep::kDefaultCases, parameter)
#define PROPERTY_CASES(suite, name, cases, parameter) LOCKSTEP_PROPERTY_(suite, name, cases, parameter)
#define LOCKSTEP_PROPERTY_(suite, name, cases, parameter)                                                        \
  static void suite##_##name##_property(parameter);                                                              \
  TEST(suite, name) {                                                                                            \
    ::lockstep::detail::check_property(#suite "." #name, &suite##_##name##_property, cases, __FILE__, __LINE__); \
  }                                                                                                              \
  static void suite##_##name##_property(parameter)
