#include "properties/batteries.h"

#include <map>
#include <optional>
#include <thread>

#include "harness/property/compare.h"
#include "harness/property/schedule.h"
#include "properties/streams.h"

namespace lockstep::properties {
namespace {

// Waits until the default streams have no work left.
void drain_default_streams() {
  REQUIRE_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  REQUIRE_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
}

}  // namespace

namespace {

// Pins the host arrays for its lifetime.
class PinnedArrays {
 public:
  explicit PinnedArrays(const Contract& contract) {
    for (const ArrayArgument& array : contract.arrays()) {
      if (!array.held->on_host() || array.get() == 0 || array.begin() == array.end()) continue;
      REQUIRE_CUDA(cudaHostRegister(reinterpret_cast<void*>(array.begin()),
                                    array.end() - array.begin(), cudaHostRegisterDefault));
      pinned_.push_back(reinterpret_cast<void*>(array.begin()));
    }
  }
  ~PinnedArrays() {
    for (void* const array : pinned_) cudaHostUnregister(array);
  }
  PinnedArrays(const PinnedArrays&) = delete;
  PinnedArrays& operator=(const PinnedArrays&) = delete;

 private:
  std::vector<void*> pinned_;
};

void require_nothing_under_way(Trial& trial) {
  if (extension().under_way == nullptr) return;
  const Stream stream;
  for (const bool pinned : {false, true}) {
    trial.set(Contents::kFirst, stream);
    std::optional<PinnedArrays> pins;
    if (pinned) pins.emplace(*trial.call().contract);
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE_CUDA(trial.call().launch(nullptr));
    const std::size_t left = extension().under_way();
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE_LAW(left == 0, "{} takes no stream, and returns before {} of its operations are done{}",
                trial.name(), left, pinned ? ", with pinned memory of the host" : "");
  }
}

}  // namespace

namespace {

// Detects, on the simulated GPU, whether this process waits for anything during its lifetime. An
// event, recorded before in a separate stream, counts as pending until the process waits.
class WaitWatch {
 public:
  WaitWatch() {
    REQUIRE_CUDA(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    if (extension().under_way == nullptr) return;
    for (int i = 0; i < kEvents; ++i) REQUIRE_CUDA(cudaEventRecord(event_, stream_));
  }
  ~WaitWatch() { cudaEventDestroy(event_); }
  WaitWatch(const WaitWatch&) = delete;
  WaitWatch& operator=(const WaitWatch&) = delete;
  bool has_waited() const {
    return extension().under_way != nullptr && extension().under_way() < kEvents;
  }

 private:
  static constexpr int kEvents = 64;  // more than a launcher's operations after it has waited
  const Stream stream_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace

void require_stream_order(Trial& trial) {
  if (!trial.takes_stream()) return require_nothing_under_way(trial);
  const Stream stream;
  const Results expected =
      trial.run(Contents::kOther, stream, "on a stream with nothing before it");
  trial.set(Contents::kFirst, stream);
  trial.set_variables(Contents::kOther);  // the host writes them, and waits
  Answer answer;
  std::vector<lockstepOperation> operations;
  bool waited = false;
  {
    Gate gate(stream);
    trial.set_arrays(Contents::kOther, stream);
    const WaitWatch watch;
    operations = operations_of([&] { answer = trial.call().launch(stream); });
    waited = gate.was_forced() || watch.has_waited();
    if (!is_simulator()) drain_default_streams();
  }
  REQUIRE_CUDA(answer);
  require_all_on(trial, operations, stream, /*captured=*/false);
  REQUIRE_LAW(!waited, "{} waits for the work that its stream already holds, and returns only then",
              trial.name());
  require_same(trial, trial.results(), expected,
               "behind work of the same stream that writes its input");
}

void require_grid(Trial& trial) {
  if (!trial.takes_stream() || trial.call().contract->capture() == Contract::Capture::kRefused)
    return;
  const Contract::Grid& grid = trial.call().contract->grid();
  const Stream stream;
  const Captured captured(stream, cudaStreamCaptureModeRelaxed, trial.call().launch);
  REQUIRE_CUDA(captured.answer());
  for (const LaunchedGrid& launched : captured.grids()) {
    const std::int64_t most =
        grid.most_blocks > launched.blocks
            ? grid.most_blocks
            : (grid.most_blocks + launched.cluster - 1) / launched.cluster * launched.cluster;
    REQUIRE_LAW(grid.threads == 0 || launched.threads == grid.threads,
                "{} launches blocks of {} threads, not of {}", trial.name(), launched.threads,
                grid.threads);
    REQUIRE_LAW(launched.blocks >= grid.least_blocks && launched.blocks <= most,
                "{} launches {} blocks{}; the contract promises {} to {}", trial.name(),
                launched.blocks,
                launched.cluster > 1 ? fmt::format(" in clusters of {}", launched.cluster) : "",
                grid.least_blocks, most);
  }
  const Contract& contract = *trial.call().contract;
  const auto restore = trial.call().keep();
  for (const auto& [name, values] : contract.values_with_own_kernels()) {
    const IntegerArgument& argument = contract.integer_named(name);
    std::map<std::vector<const void*>, Whole> kernels;  // the value that launches these kernels
    for (const Whole value : values) {
      argument.set(value);
      const Captured launch(stream, cudaStreamCaptureModeRelaxed, trial.call().launch);
      restore();
      REQUIRE_CUDA(launch.answer());
      std::vector<const void*> launched;
      for (const LaunchedGrid& grid : launch.grids()) launched.push_back(grid.kernel);
      if (launched.empty()) continue;  // no work
      const auto [other, fresh] = kernels.emplace(std::move(launched), value);
      REQUIRE_LAW(fresh, "{} with {}:{} launches the kernel of {}:{}", trial.name(), name,
                  static_cast<std::int64_t>(value), name, static_cast<std::int64_t>(other->second));
    }
  }
}

void require_capture(Trial& trial, const std::function<void()>& another) {
  if (!trial.takes_stream()) return;
  const Stream stream;
  const Results first = trial.run(Contents::kFirst, stream, "launched"),
                other = trial.run(Contents::kOther, stream, "launched with other contents");
  trial.set(Contents::kFirst, stream);
  const Results before = trial.results();
  Captured captured(stream, cudaStreamCaptureModeThreadLocal, trial.call().launch);
  if (trial.call().contract->capture() == Contract::Capture::kRefused) {
    REQUIRE_LAW(!captured.answer().ok() && captured.answer().of_cuda,
                "{} says that it cannot be captured, and answers {} ({})", trial.name(),
                cudaGetErrorName(captured.answer().error), captured.answer().message);
    return;
  }
  REQUIRE_LAW(captured.answer().ok(), "{} cannot be captured: {}", trial.name(),
              captured.answer().message);
  REQUIRE_LAW(captured.is_graph(), "{} has ended the capture of its stream", trial.name());
  require_all_on(trial, captured.operations(), stream, /*captured=*/true);
  require_same(trial, trial.results(), before, "captured, and not yet launched");
  // If the launcher keeps host memory that the graph reads, another call now overwrites it.
  another();
  trial.set_variables(Contents::kFirst);
  captured.replay(stream);
  require_same(trial, trial.results(), first, "captured and launched, after another call");
  another();
  trial.set(Contents::kOther, stream);
  captured.replay(stream);
  require_same(trial, trial.results(), other, "captured and launched again with other contents");
}

namespace {

// The state of a host thread besides its requested work.
struct ThreadsState {
  int device = -1;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  std::size_t objects = 0;  // of the process
  static ThreadsState now() {
    ThreadsState state;
    REQUIRE_CUDA(cudaGetDevice(&state.device));
    REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&state.mode));
    cudaStreamCaptureMode same = state.mode;
    REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&same));
    if (extension().live_objects != nullptr) state.objects = extension().live_objects();
    return state;
  }
};

void require_nothing_changed(const std::string& name, const ThreadsState& before,
                             const std::string& when) {
  const ThreadsState after = ThreadsState::now();
  if (after.device != before.device) cudaSetDevice(before.device);
  cudaStreamCaptureMode mode = before.mode;
  cudaThreadExchangeStreamCaptureMode(&mode);
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_LAW(after.device == before.device, "{}, {}: device {} is the current one, not {}", name,
              when, after.device, before.device);
  REQUIRE_LAW(after.mode == before.mode, "{}, {}: the thread has another capture mode", name, when);
  REQUIRE_LAW(after.objects == before.objects,
              "{}, {}: {} allocations, streams, events and graphs exist, before the call {}", name,
              when, after.objects, before.objects);
}

}  // namespace

void require_errors_returned_by(const std::string& name, const std::function<void()>& set,
                                const std::function<Answer()>& launch) {
  if (extension().set_error == nullptr) return;
  constexpr cudaError_t kError = cudaErrorHardwareStackError;  // an error that no launcher handles
  set();
  const ThreadsState before = ThreadsState::now();
  std::size_t calls = 0;
  run_between_calls([&](std::size_t) { ++calls; }, [&] { REQUIRE_CUDA(launch()); });
  require_nothing_changed(name, before, "launched");
  for (std::size_t at = 0; at < calls; ++at) {
    set();
    Answer answer;
    const std::vector<lockstepOperation> operations = operations_of([&] {
      run_between_calls(
          [&](std::size_t call) { extension().set_error(call == at ? kError : cudaSuccess); },
          [&] { answer = launch(); });
      extension().set_error(cudaSuccess);
    });
    const cudaError_t pending = cudaGetLastError();
    const auto failed = std::ranges::find_if(operations, [&](const lockstepOperation& o) {
      return o.kind == LOCKSTEP_FAILED_CALL && o.error == kError;
    });
    const std::string when = failed == operations.end()
                                 ? fmt::format("launched, its call {} of CUDA", at + 1)
                                 : fmt::format("where {} fails", failed->call);
    require_nothing_changed(name, before, when);
    if (failed == operations.end()) continue;  // a call that does not reach the device
    REQUIRE_LAW(answer.error == kError, "{}, {} with {}: answers {}", name, when,
                cudaGetErrorName(kError), cudaGetErrorName(answer.error));
    REQUIRE_LAW(
        answer.of_cuda && answer.message.find(cudaGetErrorName(kError)) != std::string::npos,
        "{}, {}: the message does not name {}, which CUDA returned ({})", name, when,
        cudaGetErrorName(kError), answer.message);
    REQUIRE_LAW(pending == cudaSuccess, "{}, {}: leaves {} pending, which it has returned", name,
                when, cudaGetErrorName(pending));
    REQUIRE_LAW(std::next(failed) == operations.end(), "{}, {}: {} comes all the same", name, when,
                std::next(failed)->call);
  }
}

void require_errors_returned(Trial& trial) {
  const Stream stream;
  trial.set(Contents::kFirst, stream);
  ThreadsState before = ThreadsState::now();
  trial.launch(stream, "launched");
  before.objects = ThreadsState::now().objects;  // objects that the first call loads may stay
  require_nothing_changed(trial.name(), before, "launched for the first time");
  const Results first = trial.results();
  require_errors_returned_by(
      trial.name(), [&] { trial.set(Contents::kFirst, stream); },
      [&] { return trial.call().launch(stream); });
  require_same(trial, trial.run(Contents::kFirst, stream, "launched"), first,
               "after calls that CUDA refused");
}

namespace {

// Launches on a stream whose capture has failed: CUDA refuses every call there, also on silicon.
void require_failure_returned(Trial& trial) {
  const Stream stream;
  REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  cudaStreamSynchronize(stream);  // not permitted: invalidates the capture
  cudaGetLastError();
  const Answer answer = trial.call().launch(stream);
  const cudaError_t pending = cudaPeekAtLastError();
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  cudaGetLastError();
  REQUIRE_LAW(!answer.ok() && !answer.message.empty(),
              "{} answers success on a stream on which CUDA refuses everything ({})", trial.name(),
              answer.message);
  REQUIRE_LAW(pending == cudaSuccess, "{} leaves {} pending, which it has returned", trial.name(),
              cudaGetErrorName(pending));
}

}  // namespace

void require_no_state(Trial& one, Trial& two, const std::function<void()>& another) {
  const Stream stream, second;
  const Results other = two.run(Contents::kOther, stream, "launched"),
                first = one.run(Contents::kFirst, stream, "launched");
  const auto again = [&](Trial& trial, Contents contents, const Stream& on, const char* when) {
    const Results results = trial.run(contents, on, when);
    require_same(trial, results, contents == Contents::kFirst ? first : other, when);
  };
  again(one, Contents::kOther, stream, "with new contents behind the same pointers");
  another();
  again(one, Contents::kFirst, stream, "after a call with other arguments");
  again(two, Contents::kFirst, second, "on another stream and other arrays");
  again(one, Contents::kOther, stream, "on the first stream again");
  one.set(Contents::kFirst, stream);
  std::string failed;
  std::thread([&] {
    const Answer answer = one.call().launch(second);
    const cudaError_t waited = cudaStreamSynchronize(second);
    if (!answer.ok() || waited != cudaSuccess) failed = answer.message + cudaGetErrorName(waited);
  }).join();
  REQUIRE_LAW(failed.empty(), "{} fails in another host thread: {}", one.name(), failed);
  require_same(one, one.results(), first, "called by another host thread");

  const auto restore = one.call().keep();
  const Contract& contract = *one.call().contract;
  for (const Contract::Change& mistake : contract.mistakes_named(contract.mistakes())) {
    mistake.make();
    const Answer answer = one.call().launch(stream);
    restore();
    REQUIRE_LAW(!answer.ok(), "{} with {}: must be refused", one.name(), mistake.name);
  }
  again(one, Contents::kOther, stream, "after calls that were refused");
  if (!one.takes_stream() ||
      Captured(stream, cudaStreamCaptureModeRelaxed, one.call().launch).nodes() == 0)
    return;
  require_failure_returned(one);
  again(one, Contents::kFirst, stream, "after a call that CUDA refused");
}

OnOtherDevice::OnOtherDevice() {
  REQUIRE_CUDA(cudaGetDevice(&before_));
  REQUIRE_CUDA(cudaSetDevice(kOtherDevice));
}
OnOtherDevice::~OnOtherDevice() { cudaSetDevice(before_); }

void require_no_state_between_devices(Trial& one, Trial& two) {
  const auto there = [&](Contents contents, const char* when) {
    const OnOtherDevice other_device;
    const Stream stream;
    return two.run(contents, stream, when);
  };
  const Stream stream;
  const Results first = one.run(Contents::kFirst, stream, "on the first device");
  const Results other = there(Contents::kOther, "on the second device");
  require_same(one, one.run(Contents::kOther, stream, "on the first device again"), other,
               "on the first device, after the second");
  require_same(two, there(Contents::kFirst, "on the second device again"), first,
               "on the second device, after the first");
}

void require_no_schedule(Trial& trial) {
  constexpr std::uint64_t kSchedules = 5;
  const Stream stream;
  const Results expected = trial.run(Contents::kFirst, stream, "launched");
  for (std::uint64_t seed = 1; seed <= kSchedules; ++seed) {
    const ScheduleScope schedule(seed);
    const std::string when = "under schedule " + std::to_string(seed);
    require_same(trial, trial.run(Contents::kFirst, stream, when.c_str()), expected, when.c_str());
  }
}

void require_promises(const BoundCall& call, const std::vector<std::string>& promises) {
  if (promises.empty()) return;
  call.contract->allocate();
  const auto restore = call.keep();
  const Stream stream;
  const auto relaxed = cudaStreamCaptureModeRelaxed;
  bool launches_kernels = false;
  if (call.takes_stream) {
    // If a launcher ignored the capture, the promises would execute.
    const Captured legal(stream, relaxed, call.launch);
    const std::string& who = call.contract->launcher();
    for (const lockstepOperation& o : legal.operations())
      REQUIRE_LAW(o.captured, "{}: {} was done while the stream was captured", who, o.call);
    call.contract->require_untouched({__FILE__, __LINE__, who.c_str()});
    if (legal.nodes() == 0) return;  // no work: cases with work make the same promises
    launches_kernels = legal.kernels() > 0;
  }
  for (const Contract::Change& promise : call.contract->promises_named(promises)) {
    const std::string what = call.contract->launcher() + " with " + promise.name;
    promise.make();
    if (!call.takes_stream) {
      const Answer answer = call.launch(nullptr);
      restore();
      REQUIRE_LAW(answer.ok(), "{}: must be taken, but answers {}", what, answer.message);
      continue;
    }
    const Captured captured(stream, relaxed, call.launch);
    restore();
    // Silicon may check the destination of a copy or fill, which is not mapped. The launcher
    // accepted the arguments all the same.
    const Answer& answer = captured.answer();
    const bool nothing_there =
        !is_simulator() && answer.of_cuda && answer.error == cudaErrorInvalidValue;
    REQUIRE_LAW(answer.ok() || nothing_there, "{}: must be taken, but answers {} ({})", what,
                cudaGetErrorName(answer.error), answer.message);
    const bool nothing_to_do = promise.name.ends_with(":0");
    REQUIRE_LAW(nothing_to_do || nothing_there ||
                    (launches_kernels ? captured.kernels() : captured.nodes()) > 0,
                "{}: answers success, but there is nothing that it will do", what);
  }
}

}  // namespace lockstep::properties
