#include "simulator/runtime/state/call_errors.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "simulator/runtime/state/describe.h"

namespace lockstep::runtime {
namespace {

// What is no error of the program's: CUDA that is gone when the process ends takes nothing from it.
bool is_answer(int error) {
  switch (error) {
    case cudaErrorCudartUnloading:
    case cudaSuccess:
    case cudaErrorNotReady:
    case cudaErrorNoDevice:
    case cudaErrorPeerAccessAlreadyEnabled:
    case cudaErrorGraphExecUpdateFailure: return true;
    default: return false;
  }
}

check::Finding failure(const CallResult& result, const Answer& answer, const CallStack& stack) {
  const void* const from = stack.caller();
  check::Finding f;
  f.kind = result.kernel ? check::Kind::kRefused : check::Kind::kApiError;
  f.kernel = result.kernel.value_or("");
  f.call = answer.function;
  f.error = answer.name;
  f.caller = from;
  f.access.address = reinterpret_cast<std::uintptr_t>(from);
  if (answer.loads_code) f.kind = check::Kind::kRefused;
  f.where = (f.kernel.empty() ? f.call : "the launch of " + f.kernel) + " answered " + f.error +
            " (" + answer.text + ")" + (result.reason.empty() ? "" : ": " + result.reason);
  if (const std::string place = describe_caller(from); !place.empty()) f.detail = place;
  f.host_stacks.push_back(host_stack("called", stack));
  if (count_lines(f.host_stacks[0]) > 1) f.detail.clear();  // the stack begins with it
  // One place of a program may load many modules: each reason is reported.
  if (answer.loads_code) f.call.clear();
  return f;
}

}  // namespace

const void* caller() {
  if (const PutBy* const late = thread_state().executing) return late->caller;
  return call_stack(1).caller();
}

CallStack stack_of_caller(std::size_t most) {
  const PutBy* const late = thread_state().executing;
  return late == nullptr ? call_stack(most) : CallStack{{late->caller}, late->caller != nullptr};
}

RunningCall* RunningCall::current() { return thread_state().call; }

RunningCall::RunningCall(const char* driver_function)
    : thread_(thread_state()),
      outer_(std::exchange(thread_.call, this)),
      called_as_(driver_function != nullptr ? driver_function
                 : outer_ != nullptr        ? outer_->called_as_
                                            : nullptr),
      launched_from_(outer_ != nullptr ? outer_->launched_from_
                                       : std::exchange(thread_.launched_from, {})) {}

RunningCall::~RunningCall() {
  thread_.call = outer_;
  if (outer_ == nullptr) return;
  if (result.error != cudaSuccess && result.error != cudaErrorNotReady) {
    outer_->result = std::move(result);
  } else if (!result.reason.empty()) {
    outer_->result.reason = std::move(result.reason);
  }
}

void call_ended(Runtime& runtime, const Answer& answer, const RunningCall& call) {
  const std::lock_guard lock(runtime.lock);
  ThreadState& thread = thread_state();
  static bool said = false;
  const CallResult& result = call.result;
  const bool left_behind = !runtime.devices.empty() && runtime.current().error != cudaSuccess &&
                           runtime.current().error == result.error;
  if (!is_answer(result.error) && !result.reported && !left_behind) {
    const bool launch = result.kernel.has_value();
    const std::uint64_t number = runtime.report_failure(failure(
        result, answer,
        launch && call.launched_from() != nullptr ? call.launch_stack() : stack_of_caller()));
    if (!answer.has_last_error) {
      if (!launch && !answer.loads_code) {
        if (const auto informed = runtime.findings.looked_at(number, 1))
          runtime.record.found({*informed});
      }
      return;
    }
    const auto it = std::find_if(thread.not_looked_at.begin(), thread.not_looked_at.end(),
                                 [&](const auto& n) { return n.first == number; });
    if (!said && !runtime.findings.quiet()) {
      std::fprintf(stderr,
                   "lockstep: a call that fails counts as an error unless the program asks for it "
                   "with cudaGetLastError\n");
      said = true;
    }
    if (it == thread.not_looked_at.end()) {
      thread.not_looked_at.emplace_back(number, 1);
    } else {
      ++it->second;
    }
  } else if (!result.reason.empty() && !runtime.findings.quiet()) {
    std::fprintf(stderr, "lockstep: %s: %s\n", answer.function, result.reason.c_str());
  }
}

void last_error_fetched(Runtime& runtime) {
  for (const auto& [number, times] : std::exchange(thread_state().not_looked_at, {})) {
    if (const auto informed = runtime.findings.looked_at(number, times))
      runtime.record.found({*informed});
  }
}

void note_reported() {
  if (RunningCall* const call = RunningCall::current()) call->result.reported = true;
}

void note_refused_launch(Runtime& runtime, std::string kernel) {
  if (RunningCall* const call = RunningCall::current()) call->result.kernel = std::move(kernel);
  runtime.record.refused_launch();
}

std::uint64_t report_refused_module(Runtime& runtime, const LoadFailure& why,
                                    const std::vector<std::string>& kernels) {
  constexpr std::size_t kMaxNamed = 5;
  check::Finding f;
  f.kind = check::Kind::kRefused;
  f.where = why.message;
  f.access.site.file = why.source.file;
  f.access.site.line = why.source.line;
  f.access.site.ptx_line = why.ptx_line;
  for (std::size_t i = 0; i < std::min(kernels.size(), kMaxNamed); ++i)
    f.detail += (i == 0 ? "" : ", ") + kernels[i];
  if (kernels.size() > kMaxNamed)
    f.detail += " and " + std::to_string(kernels.size() - kMaxNamed) + " more";
  if (!kernels.empty())
    f.detail =
        (kernels.size() == 1 ? "This kernel cannot run: " : "None of these kernels can run: ") +
        f.detail;
  return runtime.report_failure(std::move(f));
}

}  // namespace lockstep::runtime
