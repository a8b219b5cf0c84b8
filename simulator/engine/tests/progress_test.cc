// Progress is counted whatever a handler changes: every test of this program runs with handlers
// that compare memory, and the state that orders threads, before and after the engine's own. What a
// handler has changed without its count (monitor/progress.h) is a failure of the test that ran it.
// At the end, the handlers that were seen to change something are those that are listed here: so
// each of them, were it to forget the count, is one that this test finds.
#include "simulator/engine/monitor/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
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

// Handlers that change memory or order threads. Those that only move values between registers, and
// those whose effect comes with a later one, are not among them.
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

class Digest {
 public:
  template <class T>
  void add(T v) {
    h_ = (h_ ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15ull;
    h_ ^= h_ >> 29;
  }
  // By the C++ library's own hash, which is compiled with optimisation and without a sanitizer.
  void add(const void* from, std::size_t n) {
    add(std::hash<std::string_view>{}({static_cast<const char*>(from), n}));
  }
  std::uint64_t value() const { return h_; }

 private:
  std::uint64_t h_ = 0;
};

void add_block(Digest& d, const Block& b) {
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
  // Tensor memory is made when the block first names it; without columns nothing of it shows.
  const auto is_owned = [](std::uint16_t owner) { return owner != 0; };
  if (b.tensor && std::ranges::any_of(*b.tensor->owner, is_owned)) {
    d.add(b.tensor->words->data(), 4 * b.tensor->words->size());
    for (const std::uint16_t owner : *b.tensor->owner) d.add(owner);
  }
}

// An allocation of gigabytes, which a test of far addresses has, would be read twice at each store.
constexpr std::uint64_t kLargest = 64 << 20;

// What threads can find out of one another.
std::uint64_t state_of(const Warp& w) {
  Digest d;
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
  return d.value();
}

struct Watch {
  // Each handler is watched so often, and later now and then.
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
  // Other host threads change memory at any time.
  std::uint32_t& runs = watch().runs[static_cast<std::size_t>(action)];
  if (w.block->launch->config->host_threads != 1 ||
      (++runs > Watch::kAlways && runs % Watch::kOneIn != 0))
    return handler(w, op, mask);
  const std::uint32_t pc = w.pc - 1;
  const std::uint64_t before = state_of(w), count = w.block->worker->changes.value();
  handler(w, op, mask);
  if (state_of(w) == before) return;
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
  // Only all tests together run all handlers.
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

// Handlers for which other tests may only run a form that changes nothing by itself.
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

// No register holds the count when a turn ends, and it is no deadlock.
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
