// Checks that every handler counts its changes as progress (monitor/progress.h). All tests of this
// program run with wrapped handlers, which compare memory and the ordering state of threads before
// and after the engine's own handlers. A change without a count fails the test that executed it. At
// the end, the set of handlers seen to change something must equal the list here: if one of these
// handlers forgot its count, this test would notice.
#include "simulator/engine/monitor/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/run/handlers.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/tests/tensor_kernels.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {
namespace progress_test {

using program::Action;

constexpr auto kActions = static_cast<std::size_t>(Action::kCount);

// Handlers that change memory or order threads. Not those that only move values between registers,
// and not those whose effect is that of a later handler.
const std::set<Action>& expected() {
  static const auto* const actions = new std::set<Action>{
      Action::kStore,
      Action::kExit,
      Action::kReturn,  // of a kernel
      Action::kAtomic,
      Action::kBarrier,
      Action::kClusterArrive,
      Action::kMbarrier,
      Action::kCopyAsync,  // at once, under a schedule of its own
      Action::kCopyWait,
      Action::kCopyArrive,
      Action::kBulkCopy,
      Action::kAsyncStore,
      Action::kBulkStore,
      Action::kTensorCopy,
      Action::kMultimem,
      Action::kTensorMapReplace,
      Action::kTensorMapCopy,
      Action::kSurfaceStore,
      Action::kSurfaceStoreFormatted,
      Action::kSurfaceReduce,
      Action::kStoreMatrix,
      Action::kStoreFragment,
      Action::kTensorAllocate,
      Action::kTensorFree,
      Action::kTensorStore,
      Action::kTensorWait,
      Action::kTensorFill,
      Action::kTensorCommit,
      Action::kTensorMultiply,
      Action::kTensorShift,
      Action::kTryCancel,
  };
  return *actions;
}

// The bytes of a state, to be compared with those of another. Copies: a hash takes five times as
// long.
class State {
 public:
  template <class T>
  void add(T v) {
    const auto wide = static_cast<std::uint64_t>(v);
    add(&wide, sizeof wide);
  }
  void add(const void* from, std::size_t n) { bytes_.append(static_cast<const char*>(from), n); }
  // Begins again, and keeps the memory.
  void clear() { bytes_.clear(); }
  bool operator==(const State&) const = default;

 private:
  std::string bytes_;
};

void add_block(State& d, const Block& b) {
  d.add(b.shared.bytes.get(), b.launch->shared_extent);
  d.add(b.local.bytes.get(), std::size_t{b.launch->local_stride} * b.launch->warps * kWarpSize);
  for (const Watched<Barrier>& barrier : b.barriers) {
    const Barrier& one = *barrier;
    d.add(one.expected), d.add(one.arrived), d.add(one.warps), d.add(one.waiting);
    d.add(one.red_or), d.add(one.red_and), d.add(one.red_count);
  }
  for (const Warp& w : b.warps) d.add(*w.control->exited);
  if (b.async) {
    for (const auto& [offset, object] : b.async->mbarriers) {
      const Mbarrier::State& s = *object.state;
      d.add(offset), d.add(s.invalidated), d.add(s.expected), d.add(s.pending);
      d.add(s.tx), d.add(s.phase);
    }
  }
  // Tensor Memory is created when the block first uses it; without allocated columns it is
  // invisible.
  const auto is_owned = [](std::uint16_t owner) { return owner != 0; };
  if (b.tensor && std::ranges::any_of(*b.tensor->owner, is_owned)) {
    d.add(b.tensor->words->data(), 4 * b.tensor->words->size());
    d.add(b.tensor->owner->data(), sizeof(std::uint16_t) * b.tensor->owner->size());
  }
}

// A test of far addresses has gigabytes, which would be copied twice for each store.
constexpr std::uint64_t kLargest = 64 << 20;

// Sets `d` to the state of a warp that other threads can observe.
void read_state(const Warp& w, State& d) {
  d.clear();
  const Block& b = *w.block;
  if (b.cluster == nullptr) {
    add_block(d, b);
  } else {
    d.add(b.cluster->barrier->arrived), d.add(b.cluster->barrier->living);
    for (const auto& block : b.cluster->blocks) add_block(d, *block);
  }
  const memory::DeviceMemory& memory = *b.worker->memory;
  for (const memory::Allocation* a : memory.live()) {
    d.add(a->begin);
    const std::uint64_t size = a->end - a->begin;
    if (a->kind == memory::Kind::kDevice && size <= kLargest)
      d.add(memory.host(*a, a->begin), size);
  }
}

struct Watch {
  // Each handler is compared the first kAlways times, then once in kOneIn.
  static constexpr std::uint32_t kAlways = 150, kOneIn = 997;
  std::array<std::uint32_t, kActions> runs{};
  std::set<Action> changed;

  void begin_again() { runs = {}; }
};
Watch& watch() {
  static auto* const one = new Watch;
  return *one;
}

void run_watched(Action action, Handler handler, Warp& w, const Op& op, LaneMask mask) {
  // Other host threads may change memory at any time.
  std::uint32_t& runs = watch().runs[static_cast<std::size_t>(action)];
  if (w.block->launch->config->host_threads != 1 ||
      (++runs > Watch::kAlways && runs % Watch::kOneIn != 0))
    return handler(w, op, mask);
  static State before, after;
  const std::uint32_t pc = w.pc - 1;
  read_state(w, before);
  const std::uint64_t count = w.block->worker->changes.value();
  handler(w, op, mask);
  read_state(w, after);
  if (after == before) return;
  watch().changed.insert(action);
  EXPECT_NE(w.block->worker->changes.value(), count)
      << w.block->program->origin(pc).text << " changes something that is not counted";
}

class WatchedHandlers final : public program::Handlers {
 public:
  explicit WatchedHandlers(const program::Handlers& own) : own_(&own) {
    instance_ = this;
    make(std::make_index_sequence<kActions>());
  }
  Handler of(Action action) const override {
    return own_->of(action) == nullptr ? nullptr : watched_[static_cast<std::size_t>(action)];
  }
  Handler load(const Op& op) const override { return own_->load(op); }
  Handler store(const Op& op) const override {
    return own_->store(op) == nullptr ? nullptr : &run_store;
  }
  Handler compute(const program::AluKey& key) const override { return own_->compute(key); }

 private:
  template <std::size_t kAction>
  static void run(Warp& w, const Op& op, LaneMask mask) {
    constexpr auto action = static_cast<Action>(kAction);
    run_watched(action, instance_->own_->of(action), w, op, mask);
  }
  static void run_store(Warp& w, const Op& op, LaneMask mask) {
    run_watched(Action::kStore, instance_->own_->store(op), w, op, mask);
  }
  template <std::size_t... kAll>
  void make(std::index_sequence<kAll...>) {
    ((watched_[kAll] = &run<kAll>), ...);
  }

  static inline const WatchedHandlers* instance_ = nullptr;
  const program::Handlers* own_;
  std::array<Handler, kActions> watched_{};
};

std::string numbers(const std::set<Action>& actions) {
  std::string text;
  for (const Action a : actions) text += " " + std::to_string(static_cast<int>(a));
  return text;
}

class Environment final : public ::testing::Environment {
  void SetUp() override { replace_handlers(new WatchedHandlers(handlers())); }
  // Only all tests together execute all handlers.
  void TearDown() override {
    const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
    if (all.test_to_run_count() != all.total_test_count()) return;
    EXPECT_EQ(numbers(watch().changed), numbers(expected()))
        << "numbers of program::Action: handlers that a test has seen to change something, and "
           "those that are listed";
  }
};
[[maybe_unused]] const auto* const environment =
    ::testing::AddGlobalTestEnvironment(new Environment);

using testing::commit_and_wait;
using testing::descriptor;
using testing::Machine;
using testing::tensor_kernel;
using testing::text;

// Handlers that other tests may execute only in a form without a change.
TEST(Progress, AnArrivalThatDoesNotWaitIsCounted) {
  watch().begin_again();
  Machine gpu;
  gpu.load(R"(
.visible .entry k()
{
.reg .pred p; .reg .b32 r;
mov.u32 r, %tid.x;
setp.lt.u32 p, r, 32;
@p barrier.arrive 1, 64;
@!p barrier.sync 1, 64;
ret;
}
)");
  const Outcome o = gpu.launch("k", 1, 64);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  EXPECT_TRUE(watch().changed.contains(Action::kBarrier));
}

TEST(Progress, AMatrixThatIsStoredIsCounted) {
  watch().begin_again();
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 out)
{
.reg .b32 r; .reg .b64 d;
ld.param.u64 d, [out];
mov.u32 r, 7;
wmma.store.d.sync.aligned.row.m8n32k16.global.s32 [d], {r, r, r, r, r, r, r, r}, 32;
ret;
}
)");
  const Outcome o = gpu.launch("k", 1, 32, gpu.buffer(std::vector<std::uint32_t>(256)));
  EXPECT_TRUE(o.findings.empty()) << text(o);
  EXPECT_TRUE(watch().changed.contains(Action::kStoreFragment));
}

TEST(Progress, ACopyToTensorMemoryThatIsDoneAtOnceIsCounted) {
  watch().begin_again();
  Machine gpu;
  gpu.config.schedule_seed = 1;
  std::string body = "mov.u32 x2, 7;\n";
  for (int i = 0; i < 8; ++i)
    body +=
        "mad.lo.u32 x1, tid, 4, smem;\nst.shared.b32 [x1+" + std::to_string(512 * i) + "], x2;\n";
  body += "fence.proxy.async;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n" +
          descriptor("d0", 0, 2048, 128) + "@p0 tcgen05.cp.cta_group::1.128x128b [tm], d0;\n" +
          commit_and_wait();
  gpu.load_text(tensor_kernel(body));
  const Outcome o = gpu.launch("k", 1, 128, gpu.buffer<std::uint32_t>({0}), gpu.unwritten(1 << 18));
  EXPECT_TRUE(o.findings.empty()) << text(o);
  EXPECT_TRUE(watch().changed.contains(Action::kTensorFill));
}

// No register holds the counter at the end of a turn; it is no deadlock.
TEST(Progress, ALoopThatCountsInTensorMemoryEnds) {
  for (const std::uint64_t seed : {0, 1}) {
    Machine gpu;
    gpu.config.schedule_seed = seed;
    gpu.load_text(tensor_kernel(R"(
mov.u32 r0, 0;
tcgen05.st.sync.aligned.32x32b.x1.b32 [tm], {r0};
tcgen05.wait::st.sync.aligned;
L:
tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [tm];
tcgen05.wait::ld.sync.aligned;
add.u32 r0, r0, 1;
tcgen05.st.sync.aligned.32x32b.x1.b32 [tm], {r0};
tcgen05.wait::st.sync.aligned;
setp.lt.u32 p2, r0, 20000;
mov.u32 r0, 0;
@p2 bra L;
)"));
    const Outcome o =
        gpu.launch("k", 1, 128, gpu.buffer<std::uint32_t>({0}), gpu.unwritten(1 << 18));
    EXPECT_TRUE(o.findings.empty()) << text(o);
  }
}

TEST(Progress, ALoopThatEndsByItsStackEnds) {
  Machine gpu;
  gpu.load_text(testing::module_text(R"(
.visible .entry k(.param .u64 out)
{
.reg .pred p; .reg .b32 top, bottom; .reg .b64 d;
ld.param.u64 d, [out];
stacksave.u32 bottom;
alloca.u32 top, 16384;
L:
stacksave.u32 top;
sub.u32 top, top, 1;
stackrestore.u32 top;
setp.gt.u32 p, top, bottom;
mov.u32 top, 0;
@p bra L;
st.global.u32 [d], top;
ret;
}
)"));
  const Outcome o = gpu.launch("k", 1, 1, gpu.unwritten(4));
  EXPECT_TRUE(o.findings.empty()) << text(o);
}

}  // namespace progress_test
}  // namespace lockstep::engine
