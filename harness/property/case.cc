#include "harness/property/case.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

#include "harness/device/device.h"
#include "harness/ledger/session.h"
#include "harness/property/digest.h"

namespace lockstep {
namespace {

struct RunningCase {
  std::vector<std::shared_ptr<Buffer>> buffers;
  double budget = 0;
  std::uint64_t digest = 0;
  bool reduced = false;
};
RunningCase* running_case = nullptr;  // cases run one at a time, on the test's thread

RunningCase& running() {
  if (!running_case)
    throw std::logic_error(
        "device buffers and REQUIRE macros work inside a property (or run_case) only");
  return *running_case;
}

std::string describe(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

// Runs the body, and records in the outcome how it ended. Failures of gtest's own assertions become
// failures of the case: gtest would mark the whole test as failed, and RapidCheck could not shrink.
void run_body(const std::function<void()>& body, CaseOutcome& outcome) {
  testing::TestPartResultArray expectations;
  {
    const testing::ScopedFakeTestPartResultReporter intercept(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &expectations);
    try {
      body();
    } catch (CaseFailed& failed) {
      outcome.failure = std::move(failed.failure);
    } catch (CaseNotRun& not_run) {
      outcome.not_run = std::move(not_run.why);
    } catch (CaseNotApplicable& not_applicable) {
      outcome.not_applicable = std::move(not_applicable.clause);
    } catch (const std::bad_alloc&) {
      outcome.not_run = "out of host memory";
    } catch (const std::exception& exception) {
      outcome.failure = {Reason::kException, "",
                         std::string("the property threw: ") + exception.what()};
    } catch (...) {
      outcome.failure = {Reason::kException, "",
                         "the property threw something that is not a std::exception"};
    }
  }
  for (int i = 0; i < expectations.size(); ++i) {
    const testing::TestPartResult& part = expectations.GetTestPartResult(i);
    const std::string where = part.file_name() ? std::string(part.file_name()) + ":" +
                                                     std::to_string(part.line_number()) + ": "
                                               : "";
    if (part.skipped()) {
      outcome.not_run =
          where +
          "GTEST_SKIP inside a case: what a device must have is said with require_capability";
    } else if (part.failed() && outcome.failure.reason == Reason::kNone) {
      outcome.failure = {Reason::kExpectation, "", where + part.message()};
    }
  }
}

// Makes `cause` the failure. The message keeps the text of the previous failure.
void override_failure(CaseOutcome& outcome, Failure cause) {
  if (outcome.failure.reason != Reason::kNone && outcome.failure.message != cause.message) {
    cause.message += "\nalso (" + outcome.failure.label() + "): " + outcome.failure.message;
  }
  outcome.failure = std::move(cause);
}

// A finding or an asynchronous CUDA error of the body's launches.
void judge_device(CaseOutcome& outcome) {
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t finished = cudaDeviceSynchronize();
  const std::vector<ReportedFinding> findings = take_findings();
  const cudaError_t error = finished != cudaSuccess ? finished : launched;
  if (!findings.empty()) {
    std::string text = findings[0].text;
    if (findings.size() > 1) {
      text +=
          "\nand " + std::to_string(findings.size() - 1) + " more, the next: " + findings[1].text;
    }
    override_failure(outcome, {Reason::kFinding, findings[0].kind, std::move(text)});
  } else if (error != cudaSuccess && outcome.failure.reason != Reason::kCudaError) {
    override_failure(outcome, {Reason::kCudaError, "",
                               (finished != cudaSuccess ? "the device stopped with "
                                                        : "a launch or call failed with ") +
                                   describe(error)});
  }
  if (finished == cudaSuccess) {
    // A finding on a device other than the current one is an error on that device.
    if (!findings.empty() && extension().clear_error && device_count() > 1)
      extension().clear_error();
    cudaGetLastError();
    return;
  }
  // A sticky error. The simulator can clear it, and shrinking continues; a GPU needs a new process.
  if (extension().clear_error && extension().clear_error() == 0) {
    cudaGetLastError();
    if (cudaDeviceSynchronize() == cudaSuccess) return;
  }
  outcome.device_lost = describe(finished);
}

// Makes a barrier that a thread skips by exiting an error, unless the user has selected checks.
void choose_checks() {
  constexpr std::uint32_t kStrictBarriers = 32;  // simulator/extension.h
  const char* const chosen = std::getenv("LOCKSTEP_CHECKS");
  if (chosen != nullptr && *chosen != '\0') return;
  if (const auto set = extension().set_checks) set(set(0) | kStrictBarriers);
}

}  // namespace

CaseOutcome run_case(const std::function<void()>& body, bool reduced) {
  if (running_case) throw std::logic_error("run_case inside a case");
  static const bool kHasDevice = [] {
    choose_checks();
    if (extension().set_quiet)
      extension().set_quiet(1);  // a finding is reported once, with its counterexample
    return device_error().empty();
  }();
  CaseOutcome outcome;
  RunningCase state;
  state.reduced = reduced;
  running_case = &state;
  const std::uint64_t steers = simulator_steers();
  run_body(body, outcome);
  running_case = nullptr;
  if (kHasDevice) judge_device(outcome);
  if (outcome.device_lost.empty()) {
    Failure changed;
    for (const auto& buffer : state.buffers) {
      std::optional<Failure> failure = buffer->check();
      // A changed guard outranks a changed input: a write past one buffer may have changed the
      // other.
      if (failure && (changed.reason == Reason::kNone || (failure->reason == Reason::kGuard &&
                                                          changed.reason == Reason::kInputChanged)))
        changed = *failure;
    }
    // Reading a buffer back may report an unwritten value. It belongs to this case, not to the
    // next.
    if (const auto late = take_findings();
        !late.empty() && outcome.failure.reason != Reason::kFinding) {
      override_failure(outcome, {Reason::kFinding, late[0].kind, late[0].text});
    }
    const bool outranks =
        outcome.failure.reason != Reason::kFinding && outcome.failure.reason != Reason::kCudaError;
    if (changed.reason != Reason::kNone) {
      if (outranks) {
        override_failure(outcome, std::move(changed));
      } else {
        outcome.failure.message += "\nalso (" + changed.label() + "): " + changed.message;
      }
    }
  }
  state.buffers.clear();
  outcome.budget = state.budget;
  outcome.reduced = state.reduced;
  if (simulator_steers() == steers) outcome.digest = state.digest;
  if (outcome.failure.reason != Reason::kNone) {
    // A case with a failure is a failure, even if it later reported that it could not run.
    outcome.not_run.reset();
    outcome.not_applicable.reset();
  }
  return outcome;
}

void own_buffer(std::shared_ptr<Buffer> buffer) { running().buffers.push_back(std::move(buffer)); }

void note_budget(double budget) {
  if (budget > running().budget) running().budget = budget;
}

void note_output(const void* bytes, std::size_t count) {
  RunningCase& c = running();
  if (c.reduced) return;
  c.digest = digest_of(bytes, count, c.digest);
}

bool may_reduce() {
  const bool limited = session_options().work > 0 && session_options().replay_case.empty();
  running().reduced |= limited;
  return limited;
}

bool case_is_running() { return running_case != nullptr; }

void fail_case(Failure failure) { throw CaseFailed{std::move(failure)}; }

void not_run(std::string why) { throw CaseNotRun{std::move(why)}; }

}  // namespace lockstep
