// The verdicts of a planned property, and the reasons of a failure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

// Every planned property ends in exactly one of these.
enum class Verdict : std::uint8_t {
  kPass,           // ran, and every generated case passed
  kFail,           // ran, and a case failed
  kWaived,         // ran and failed, but an unexpired waiver with an issue covers it
  kNotApplicable,  // the device lacks a required capability
  kNotRun,         // did not run to its end: out of memory, process died, time limit ...
};

// Why a property failed. A known-bad kernel names the reason for which it must be rejected.
enum class Reason : std::uint8_t {
  kNone,
  kMismatch,  // a value outside the reference's bound, or not bit-equal where exactness is required
  kUnwritten,     // an output element still holds its poison
  kGuard,         // guard bytes beside a buffer were changed
  kInputChanged,  // an input has changed
  kLaw,           // a metamorphic law does not hold
  // Results differ between schedules or runs, but must be deterministic.
  kNondeterminism,
  kCudaError,  // an API call or launch failed, and no finding of the simulator explains it
  // The simulated GPU reported a finding; its kind is in Failure::finding ("race", ...).
  kFinding,
  kException,    // the property threw
  kExpectation,  // a plain gtest EXPECT or ASSERT inside the property
};

const char* name(Verdict v);  // "pass", "fail", "waived", "not applicable", "not run"
// "mismatch", "unwritten", "guard", "input-changed", "law", "nondeterminism", "cuda-error", ...
const char* name(Reason r);
bool parse_verdict(std::string_view text,
                   Verdict& out);  // the names above; false (and out unchanged) for any other text

struct Failure {
  Reason reason = Reason::kNone;
  std::string finding;  // check::name() of the first finding, when reason is kFinding
  std::string message;  // for display: what failed, where, and by how much
  // "finding:race", or the name of the reason. Known-bad kernels are matched against it.
  std::string label() const;
};

}  // namespace lockstep
