#include "simulator/runtime/work/slices.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "simulator/engine/launch/running.h"

namespace lockstep::runtime {
namespace {

using State = engine::Running::State;

// Warp instructions of a host thread. Long enough that a slice costs little to begin, and short
// enough that the host and a kernel that answer each other do so some ten times a second. Host
// threads wait for one another at the end of a slice. So slices of a kernel that nobody interrupts
// become longer, up to about a second.
constexpr std::uint64_t kSlice = 50'000, kLongestSlice = 64 * kSlice;

// While it lives, the kernel that is executed gives up the device lock soon.
class GivesWay {
 public:
  explicit GivesWay(Runtime& runtime) : gives_way_(runtime.gives_way) { ++gives_way_; }
  ~GivesWay() { --gives_way_; }
  GivesWay(const GivesWay&) = delete;
  GivesWay& operator=(const GivesWay&) = delete;

 private:
  std::atomic<int>& gives_way_;
};

// Whether something can go on while the kernel does not.
bool is_interrupted(const Runtime& runtime, const Pending& p, Turn turn) {
  if (turn == Turn::kLook || runtime.lock.is_wanted()) return true;
  if (!p.kernel->polls()) return false;
  const auto& entries = runtime.queue.entries();
  return turn == Turn::kPut || std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
           return !entry->at.before.covers(p.at.lane, p.at.sequence);
         });
}

State advance(Runtime& runtime, Pending& p, Turn turn) {
  RunningKernel& kernel = *p.kernel;
  if (!kernel.kernel().may_poll()) return kernel.advance();
  const GivesWay gives_way(runtime);
  for (std::uint64_t slice = kSlice;; slice = std::min(2 * slice, kLongestSlice)) {
    const State state = kernel.advance(slice);
    if (state != State::kSliced || is_interrupted(runtime, p, turn)) return state;
  }
}

// Begins a grid that another one has launched.
cudaError_t begin_descendant(Runtime& runtime, Device& device, Pending& p) {
  const KernelWork& work = *p.descendant;
  KernelEntry* const entry = runtime.modules.find_kernel(work.function);
  const engine::Kernel* kernel = nullptr;
  cudaError_t error = runtime.modules.get(runtime, *entry, device.ordinal, &kernel);
  LaunchRequest request = work.request;
  if (error == cudaSuccess)
    error = check_launch(runtime, device, "a launch in a kernel", *entry, *kernel, request);
  if (error != cudaSuccess) return error;
  p.descendant->request = request;
  return RunningKernel::begin(runtime, device, work, p.at, p.chain, p.launches.family(), &p.kernel);
}

}  // namespace

cudaError_t run_kernel(Runtime& runtime, Device& device, const KernelWork& work, Pending& p,
                       Turn turn, bool* done) {
  p.interrupted = false;
  bool begun = p.kernel != nullptr;
  cudaError_t error = cudaSuccess;
  if (!begun)
    error =
        RunningKernel::begin(runtime, device, work, p.at, p.chain, p.launches.family(), &p.kernel);
  while (error == cudaSuccess) {
    std::uint64_t before = 0;
    if (begun) {
      p.kernel->go_on(runtime);
      before = p.kernel->running().changes();
    }
    const State state = advance(runtime, p, turn);
    if (state != State::kDone) {
      p.interrupted = state == State::kSliced;
      if (!begun || p.kernel->running().changes() != before) {
        // Others may wait for what it has written. They have another turn before an interrupted
        // kernel has one.
        if (!p.interrupted) runtime.queue.changed();
        runtime.repeats.wrote();
      }
      *done = false;
      return cudaSuccess;
    }
    error = p.kernel->finish(runtime, device, p.at);
    p.launches.add(p.kernel->take_launches(), p.descendant ? *p.descendant : work);
    if (device.error != cudaSuccess) return error;
    p.descendant = p.launches.next(runtime);
    if (!p.descendant) return error;
    begun = false;
    error = begin_descendant(runtime, device, p);
  }
  return error;
}

bool any_is_interrupted(const Runtime& runtime) {
  const auto& entries = runtime.queue.entries();
  return std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
    return static_cast<const Pending&>(*entry).interrupted;
  });
}

}  // namespace lockstep::runtime
