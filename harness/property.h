// Properties: a sentence about every case of a type, checked on generated cases through RapidCheck, shrunk, replayable.
//
//   PROPERTY(Stencil, EveryVariantMatchesTheReferenceWithinItsBound, const StencilCase& c) {
//     properties::stencil_matches_reference(kernels::stencil_1d, c);
//   }
//
// PROPERTY registers a gtest test. What breaks inside is thrown as a failure that RapidCheck sees and so shrinks: the REQUIRE macros of
// compare.h, CUDA errors, findings of the simulated GPU, gtest's own EXPECT and ASSERT (a bridge turns them), exceptions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <gtest/gtest.h>

#include "harness/field.h"
#include "harness/verdict.h"

namespace lockstep {

struct PropertyOptions {
  std::uint64_t seed = 0;             // 0: derived from the property's name (and Bazel's TEST_RANDOM_SEED when set)
  int cases = 0;                      // 0: the property's default
  std::optional<std::string> replay;  // text of one case: runs that alone
  int max_shrinks = 500;              // failing runs tried while shrinking
};

struct PropertyResult {
  bool held = false;
  std::uint64_t cases = 0;            // that ran to their end
  std::uint64_t seed = 0;
  double budget = 0;                  // largest error/bound
  Failure failure;                    // of the minimal case
  std::string minimal_case;
  int shrinks = 0;
};

// Runs `check` on generated cases of type Case (which has fields(), see field.h). Used by PROPERTY and, with a broken kernel
// put in place of the real one, by the known-bad tests.
template <class Case>
PropertyResult run_property(std::string_view name, const std::function<void(const Case&)>& check, const PropertyOptions& options);

// A capability that the device must have for a property to apply; evaluated against the device, never free text.
enum class Capability { kClusters, kClusterSize16, kManagedMemory, kCooperativeLaunch, kGlobalBytes, kSimulator };
struct Requirement { Capability capability; std::uint64_t at_least = 1; };
// Ends the current property as NOT_APPLICABLE unless the device meets it. Call it first in the body of the test, not in a generated case.
void require_capability(const Requirement& r);
// Ends the current property as NOT_RUN (red): memory did not suffice and the like.
[[noreturn]] void not_run(std::string why);

// Default number of cases a property generates, before --cases and the suite's own scale.
inline constexpr int kDefaultCases = 200;

}  // namespace lockstep

#define PROPERTY(suite, name, parameter) LOCKSTEP_PROPERTY_(suite, name, ::lockstep::kDefaultCases, parameter)
#define PROPERTY_CASES(suite, name, cases, parameter) LOCKSTEP_PROPERTY_(suite, name, cases, parameter)
