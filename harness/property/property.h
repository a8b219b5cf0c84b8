// Properties: statements that must hold for every case of a type. The RapidCheck generator of the
// type (field.h) draws cases and shrinks a failing case; a command line replays it.
//
//   PROPERTY(Stencil, MatchesItsReference, const StencilCase& c) {
//     properties::matches_its_reference(kernels::stencil_1d, c);
//   }
//
// PROPERTY registers a GoogleTest test. Every failure in its body is thrown, so that RapidCheck
// shrinks the case: the REQUIRE macros of compare.h, CUDA errors, findings of the simulated GPU,
// GoogleTest's own EXPECT and ASSERT, exceptions.
//
// A property prints nothing until it fails. Then it prints one counterexample, the smallest found,
// and the line that replays it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/ledger/verdict.h"
#include "harness/property/field.h"

namespace lockstep {

struct PropertyOptions {
  std::uint64_t seed =
      0;          // 0: derived from the property's name (and Bazel's TEST_RANDOM_SEED when set)
  int cases = 0;  // 0: kDefaultCases
  std::optional<std::string> replay;  // text of one case: runs that alone, without shrinking
  int max_shrinks = 500;              // the most runs spent on shrinking
  double max_shrink_seconds = 60;     // no shrinking run begins after this time
  int cost = 1;           // the launches of a case, for a session that limits work (session.h)
  bool in_turns = false;  // choices and booleans take turns (Turns, domain.h): few cases meet all
};

struct PropertyResult {
  bool held = false;        // ran to its end, and no case failed
  std::uint64_t cases = 0;  // generated cases that ran, without those of shrinking
  bool reduced = false;     // by the session's limit of work: cases are others, fewer or shorter
  std::uint64_t seed = 0;
  double budget = 0;  // largest error/bound among the cases that held
  // Of the outputs of these cases, in order. 0 if nothing was fetched, or if cases were reduced: a
  // run without a limit has other outputs.
  std::uint64_t digest = 0;
  Failure failure;  // of the minimal case
  std::string minimal_case;
  int shrinks = 0;                     // steps from the first failing case to the minimal one
  int shrink_runs = 0;                 // cases run to shrink
  std::optional<std::string> not_run;  // why the property could not run to its end
  std::optional<std::string>
      not_applicable;  // the clause, when the device lacks a capability that the property requires
};

// The seed of a property: FNV-1a of its name. Under --runs_per_test, Bazel sets TEST_RANDOM_SEED
// above 1, and the seed is mixed with that.
std::uint64_t seed_of(std::string_view name);

// A capability that the device must have for a property to apply. It is checked on the device.
enum class Capability {
  kClusters,       // thread-block clusters: compute capability 9.0 and up
  kClusterSize16,  // clusters of 16 blocks, which a kernel opts in to
  kManagedMemory,
  kCooperativeLaunch,
  kGlobalBytes,        // at_least bytes of global memory
  kSharedOptinBytes,   // at_least bytes of shared memory per block, by opt-in
  kDevices,            // at_least devices that the process sees
  kComputeCapability,  // at_least ten times the compute capability: 80 for 8.0
  kWgmma,              // wgmma, warpgroup matrix products: compute capability 9.0 alone
  kTensorMemory,       // products in tensor memory (tcgen05): compute capability 10.0 and 10.3
  kTensorCopies,       // copies through tensor maps: compute capability 9.0 and up
  kSimulator,          // the simulated GPU: its counters, findings or schedules
};
struct Requirement {
  Capability capability;
  std::uint64_t at_least = 1;
};
// Ends the current property as NOT_APPLICABLE unless the device meets the requirement. Call it
// first in a property's body. If it holds for some cases only, the property ends as NOT_RUN: the
// cases to which it applies belong in a property of their own.
void require_capability(const Requirement& r);

// The number of cases of a property, before --cases and the suite's scale.
inline constexpr int kDefaultCases = 200;

namespace detail {

// A type of cases, and the check that each case must pass.
struct CaseType {
  CaseMaker make;
  std::function<void(const AnyCase&)> check;
};
PropertyResult run_property(std::string_view name, const CaseType& type,
                            const PropertyOptions& options);

}  // namespace detail

// Runs `check` on generated cases of type Case, which has fields() (field.h). Neither writes the
// session's record nor fails the gtest test. PROPERTY uses it; so do the known-bad tests, with a
// broken kernel in place of the real one.
template <class Case>
PropertyResult run_property(std::string_view name, const std::function<void(const Case&)>& check,
                            const PropertyOptions& options = {}) {
  using Box = detail::BoxedCase<Case>;
  const detail::CaseType type = {
      .make = [] { return std::make_unique<Box>(); },
      .check = [&check](const detail::AnyCase& c) { check(static_cast<const Box&>(c).value); },
  };
  return detail::run_property(name, type, options);
}

namespace detail {

PropertyOptions session_property_options(std::string_view name, int cases);

// The body of a gtest test: runs a property under the session's options, completes the record and
// reports to gtest. Without a usable device the property is NOT_RUN.
void check_property(std::string_view name,
                    const std::function<PropertyResult(const PropertyOptions&)>& run, int cases,
                    const char* file, int line);

template <class Case>
void check_property(const char* name, void (*check)(Case), int cases, const char* file, int line) {
  using Value = std::decay_t<Case>;
  const auto run = [&](const PropertyOptions& options) {
    return run_property<Value>(
        name, [check](const Value& c) { check(c); }, options);
  };
  check_property(name, run, cases, file, line);
}

}  // namespace detail
}  // namespace lockstep

#define PROPERTY(suite, name, parameter) \
  LOCKSTEP_PROPERTY_(suite, name, ::lockstep::kDefaultCases, parameter)
#define PROPERTY_CASES(suite, name, cases, parameter) \
  LOCKSTEP_PROPERTY_(suite, name, cases, parameter)
#define LOCKSTEP_PROPERTY_(suite, name, cases, parameter)                                   \
  static void suite##_##name##_property(parameter);                                         \
  TEST(suite, name) {                                                                       \
    ::lockstep::detail::check_property(#suite "." #name, &suite##_##name##_property, cases, \
                                       __FILE__, __LINE__);                                 \
  }                                                                                         \
  static void suite##_##name##_property(parameter)
