// One running case: its device buffers, its largest budget, and the reason of its failure.
//
// run_case() alone runs a body under the memory contract. However the body ends, run_case() checks
// and releases every buffer and synchronises with the device. If there are several reasons for a
// failure, it keeps the first of this list: a finding of the simulator, a CUDA error, changed
// guards, changed inputs, a failed assertion of the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/ledger/verdict.h"

namespace lockstep {

// A device buffer of a case, which is checked when the case ends. Implemented in device_array.cc.
class Buffer {
 public:
  virtual ~Buffer() = default;  // releases the memory
  // Reads back the guards and, for an input, its bytes. Returns a failure if any byte has changed.
  virtual std::optional<Failure> check() = 0;
};

struct CaseOutcome {
  Failure failure;    // kNone: the case held
  double budget = 0;  // the largest error/bound
  // The digest of all data fetched from the device, in order. 0 if nothing was fetched, or if the
  // simulated GPU differs from silicon by design (simulator_steers(), harness/device/device.h).
  std::uint64_t digest = 0;
  bool reduced = false;                // may_reduce() returned true
  std::optional<std::string> not_run;  // why, such as out of memory; red
  std::optional<std::string>
      not_applicable;       // the clause that the device does not meet, with the device's value
  std::string device_lost;  // the sticky error that only a new process clears; empty: none
  bool held() const { return failure.reason == Reason::kNone && !not_run && !not_applicable; }
};

// Runs `body` as one case. Not reentrant: a case within a case throws std::logic_error. `reduced`:
// as if may_reduce() had returned true, so the outputs need no digest.
CaseOutcome run_case(const std::function<void()>& body, bool reduced = false);

// For the harness itself, inside a running case; outside, each throws std::logic_error.
void own_buffer(std::shared_ptr<Buffer> buffer);
void note_budget(double budget);
// Adds bytes fetched from the device to the digest.
void note_output(const void* bytes, std::size_t count);
bool case_is_running();

// For laws with a list of fixed work: true if the session limits work (LOCKSTEP_WORK) and replays
// no case. The law may then leave out an entry if each of its parts occurs in another entry, or
// blocks between the first and the last ones. The property then has no digest. Inside a running
// case.
bool may_reduce();

// Thrown by the assertions; run_case catches them. Do not catch them in a property.
struct CaseFailed {
  Failure failure;
};
struct CaseNotRun {
  std::string why;
};
struct CaseNotApplicable {
  std::string clause;
};

// Ends the running case as failed; RapidCheck then shrinks it.
[[noreturn]] void fail_case(Failure failure);
// Ends the current property as NOT_RUN (red), for example without enough memory.
[[noreturn]] void not_run(std::string why);

}  // namespace lockstep
