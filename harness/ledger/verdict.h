// The verdicts of a planned property, and the reasons of a failure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

// Every planned property ends in exactly one of these.
enum class Verdict : std::uint8_t {
  kPass,           // ran, and held for every generated case
  kFail,           // ran, and some case broke it
  kWaived,         // ran and failed, and a waiver that names an issue and has not expired covers it
  kNotApplicable,  // the device lacks a capability that the property declares it needs
  kNotRun,         // did not run to its end: out of memory, process died, time limit ...
};

// What broke. A known-bad kernel states the one it must be rejected for.
enum class Reason : std::uint8_t {
  kNone,
  kMismatch,  // a value outside the reference's bound, or not bit-equal where exactness is demanded
  kUnwritten,     // an output element still holds its poison
  kGuard,         // guard bytes beside a buffer were changed
  kInputChanged,  // an input no longer has its checksum
  kLaw,           // a metamorphic law does not hold
  // Results differ between schedules or runs although bitwise determinism is declared.
  kNondeterminism,
  kCudaError,  // an API call or launch failed (and no finding of the simulator explains it)
  // The simulated GPU reported one; its kind is in Failure::finding ("race", "out-of-bounds", ...)
  kFinding,
  kException,    // the property threw
  kExpectation,  // a plain gtest EXPECT or ASSERT inside the property
};

const char* name(Verdict v);  // "pass", "fail", "waived", "not applicable", "not run"
// "mismatch", "unwritten", "guard", "input-changed", "law", "nondeterminism", "cuda-error", ...
const char* name(Reason r);
bool parse_verdict(std::string_view text,
                   Verdict& out);  // the names above; false (and out untouched) for any other text

struct Failure {
  Reason reason = Reason::kNone;
  std::string finding;  // check::name() of the first finding, when reason is kFinding
  std::string message;  // for people: what, where, how far off
  // "finding:race" or the name of the reason: what known-bad kernels are matched against.
  std::string label() const;
};

}  // namespace lockstep
