// One running case: its device buffers, its largest budget, and the reason of its failure.
//
// run_case() is the one place where a body runs under the contract. However the body ends, every
// buffer is checked and released, and the device is synchronised. Of several reasons the root cause
// is kept, in this order: a finding of the simulator, a CUDA error, changed guards, changed inputs,
// then a failed assertion of the body.
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

// What a device buffer answers when its case ends. Implementations are in device_array.cc.
class Buffer {
 public:
  virtual ~Buffer() = default;  // releases the memory
  // Reads guards (and an input's bytes) back; nothing when all are as they were.
  virtual std::optional<Failure> check() = 0;
};

struct CaseOutcome {
  Failure failure;    // kNone: the case held
  double budget = 0;  // largest error/bound
  // Of all that was fetched from the device, in order. 0: nothing was, or the simulated GPU gives
  // other bytes than silicon by design (SampledBlocks, run_between_calls).
  std::uint64_t digest = 0;
  std::optional<std::string> not_run;  // out of memory and the like; red
  std::optional<std::string>
      not_applicable;       // the clause that the device does not meet, and its value
  std::string device_lost;  // the sticky error that only a new process clears; empty: none
  bool held() const { return failure.reason == Reason::kNone && !not_run && !not_applicable; }
};

// Runs `body` as one case. Not reentrant: a case within a case throws std::logic_error.
CaseOutcome run_case(const std::function<void()>& body);

// For the harness's own parts, inside a running case; each throws std::logic_error when none runs.
void own_buffer(std::shared_ptr<Buffer> buffer);
void note_budget(double budget);
// Bytes that came from the device: outputs, as they are.
void note_output(const void* bytes, std::size_t count);
// Whether a case is running.
bool case_is_running();

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

// Ends the running case as failed; RapidCheck sees it and shrinks.
[[noreturn]] void fail_case(Failure failure);
// Ends the current property as NOT_RUN (red): memory did not suffice and the like.
[[noreturn]] void not_run(std::string why);

}  // namespace lockstep
