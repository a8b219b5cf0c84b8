// cp.reduce.async.bulk: every operation and type, compared with integers and with values rounded
// once. An H100 had the same results for each form to global memory, on 16 times 4,096 bytes of
// random and special values. For forms to shared memory the digests below are those of the H100.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/ops/alu/exact_reference.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace bulk_reduction_test {

using check::Kind;
using exact::Format;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

constexpr std::uint32_t kThreads = 64, kBytes = 16 * kThreads;

// k(in, out): the threads' 16 bytes of `in` are in `tile`; then `body`, with the tile's address in
// %r2, that of `out` in %rd2, and %p1 true for thread 0.
std::string kernel(const std::string& body) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .shared .align 128 .b8 tile[1024];
  .reg .pred %p<4>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  mad.wide.u32 %rd3, %r1, 16, %rd1;
  mov.u32 %r2, tile;
  mad.lo.u32 %r3, %r1, 16, %r2;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];
  st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7};
)" + body +
         "\n  ret;\n}\n";
}
const std::string kFence = "fence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p1 bra OVER;\n";
const std::string kWait = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nOVER:\n";
std::string copy(const std::string& operation) {
  return "cp.reduce.async.bulk.global.shared::cta.bulk_group." + operation +
         " [%rd2], [%r2], 1024;\n";
}

using Bits = std::uint64_t;
// Returns the new value of an element: the operation on `old` and `value`.
using Reference = std::function<Bits(Bits old, Bits value)>;

class BulkReduction : public ::testing::Test {
 protected:
  Outcome run(const std::string& body, const std::vector<std::uint8_t>& in,
              const std::vector<std::uint8_t>& out) {
    gpu_.load_text(kernel(body));
    in_ = gpu_.buffer(in, "in");
    out_ = gpu_.buffer(out, "out");
    return gpu_.launch("k", 1, kThreads, in_, out_);
  }
  // The operation on elements of `size` bytes: random bits, small numbers, and the special values
  // of the format, if any.
  void expect(const std::string& operation, std::size_t size, const Format* format,
              const Reference& reference) {
    std::uint64_t state = std::hash<std::string>()(operation);
    const auto random = [&] { return next_mixed(state); };
    std::vector<std::uint8_t> in(kBytes), out(kBytes);
    const auto draw = [&]() -> Bits {
      const Bits any = random();
      switch (random() % 6) {
        case 0: return any % 5;
        case 1: return ~(any % 3);
        case 2: return Bits{1} << (8 * size - 1) | any % 3;
        case 3:
          return format == nullptr ? any
                                   : format->infinity() | (any % 2 == 0 ? format->sign_bit() : 0);
        case 4: return format == nullptr ? any : any & ~format->infinity();  // a subnormal
        default: return any;
      }
    };
    for (std::size_t at = 0; at < kBytes; at += size) {
      const Bits value = draw(), old = random() % 4 == 0 ? value : draw();
      std::memcpy(&in[at], &value, size);
      std::memcpy(&out[at], &old, size);
    }
    const Outcome o = run(kFence + copy(operation) + kWait, in, out);
    ASSERT_TRUE(o.findings.empty()) << text(o);
    const auto result = gpu_.fetch<std::uint8_t>(out_, kBytes);
    const Bits mask = size == 8 ? ~Bits{0} : (Bits{1} << 8 * size) - 1;
    for (std::size_t at = 0; at < kBytes; at += size) {
      Bits old = 0, value = 0, actual = 0;
      std::memcpy(&old, &out[at], size);
      std::memcpy(&value, &in[at], size);
      std::memcpy(&actual, &result[at], size);
      ASSERT_EQ(actual, reference(old, value) & mask)
          << operation << std::hex << " of " << old << " and " << value;
    }
  }

  Machine gpu_;
  memory::Address in_ = 0, out_ = 0;
};

std::int64_t extended(Bits v, std::size_t size) {
  return static_cast<std::int64_t>(v << (64 - 8 * size)) >> (64 - 8 * size);
}

JUDGES(BulkReduction, OfIntegersAndBits,
       "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
       "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s64",
       "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u32",
       "cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b64");
TEST_F(BulkReduction, OfIntegersAndBits) {
  for (const auto& [type, size] :
       {std::pair<std::string, std::size_t>{"u32", 4}, {"s32", 4}, {"u64", 8}, {"s64", 8}}) {
    const bool is_signed = type[0] == 's';
    const auto less = [&, size = size](Bits a, Bits b) {
      return is_signed ? extended(a, size) < extended(b, size) : a < b;
    };
    if (type != "s64") expect("add." + type, size, nullptr, [](Bits a, Bits b) { return a + b; });
    expect("min." + type, size, nullptr, [&](Bits a, Bits b) { return less(b, a) ? b : a; });
    expect("max." + type, size, nullptr, [&](Bits a, Bits b) { return less(a, b) ? b : a; });
  }
  expect("inc.u32", 4, nullptr, [](Bits a, Bits b) { return a >= b ? 0 : a + 1; });
  expect("dec.u32", 4, nullptr, [](Bits a, Bits b) { return a == 0 || a > b ? b : a - 1; });
  for (const auto& [type, size] : {std::pair<std::string, std::size_t>{"b32", 4}, {"b64", 8}}) {
    expect("and." + type, size, nullptr, [](Bits a, Bits b) { return a & b; });
    expect("or." + type, size, nullptr, [](Bits a, Bits b) { return a | b; });
    expect("xor." + type, size, nullptr, [](Bits a, Bits b) { return a ^ b; });
  }
}

JUDGES(BulkReduction, OfNumbers, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32",
       "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.bf16",
       "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16");
TEST_F(BulkReduction, OfNumbers) {
  const auto sum = [](const Format& f) {
    return [&f](Bits a, Bits b) {
      return exact::encode(
          exact::add(exact::decode(a, f), exact::decode(b, f), exact::Direction::kNearestEven), f,
          exact::Direction::kNearestEven);
    };
  };
  // A number wins over a NaN; -0 is less than +0.
  const auto least = [](const Format& f, bool most) {
    return [&f, most](Bits a, Bits b) {
      const auto is_nan = [&](Bits v) { return exact::decode(v, f).is_nan(); };
      if (is_nan(a) && is_nan(b))
        return exact::encode(exact::decode(a, f), f, exact::Direction::kZero);
      if (is_nan(a) || is_nan(b)) return is_nan(a) ? b : a;
      const auto order = [&](Bits v) {
        return (v & f.sign_bit()) != 0 ? -static_cast<std::int64_t>(v & ~f.sign_bit()) - 1
                                       : static_cast<std::int64_t>(v);
      };
      return (order(a) < order(b)) == most ? b : a;
    };
  };
  expect("add.f32", 4, &exact::kF32, sum(exact::kF32));
  expect("add.noftz.f16", 2, &exact::kF16, sum(exact::kF16));
  expect("add.noftz.bf16", 2, &exact::kBF16, sum(exact::kBF16));
  expect("min.f16", 2, &exact::kF16, least(exact::kF16, false));
  expect("max.f16", 2, &exact::kF16, least(exact::kF16, true));
  expect("min.bf16", 2, &exact::kBF16, least(exact::kBF16, false));
  expect("max.bf16", 2, &exact::kBF16, least(exact::kBF16, true));
  // Of two NaNs the second is returned. (docs/journal/silicon.md says what silicon returns.) The
  // order in which a compiler adds decides which one the host returns. A single NaN is returned
  // itself.
  expect("add.f64", 8, nullptr, [](Bits a, Bits b) {
    const double old = std::bit_cast<double>(a), value = std::bit_cast<double>(b);
    if (std::isnan(old) && std::isnan(value)) return b | Bits{1} << 51;
    return std::bit_cast<Bits>(old + value);
  });
}

TEST_F(BulkReduction, IsCheckedAsACopyAndAsAnAtomic) {
  const std::vector<std::uint8_t> ones(kBytes, 1);
  const auto expect_finding = [&](const std::string& body, Kind kind, const std::string& words) {
    const Outcome o = run(body, ones, ones);
    ASSERT_FALSE(o.findings.empty());
    EXPECT_EQ(o.findings[0].kind, kind) << text(o);
    EXPECT_THAT(o.findings[0].to_string(), HasSubstr(words));
  };
  expect_finding("bar.sync 0;\n@!%p1 bra OVER;\n" + copy("add.u32") + kWait,
                 Kind::kMissingProxyFence, "fence.proxy.async");
  expect_finding(kFence + copy("add.u32") + "st.shared.u32 [%r2], 0;\n" + kWait, Kind::kRace,
                 "source has been overwritten");
  expect_finding(kFence + "add.u64 %rd2, %rd2, 8;\n" + copy("add.u32") + kWait, Kind::kMisaligned,
                 "16");
  expect_finding(kFence + "add.u64 %rd2, %rd2, 16;\n" + copy("add.u32") + kWait, Kind::kOutOfBounds,
                 "'out'");
  // A reduction to unwritten memory has no defined operand.
  gpu_.load_text(kernel(kFence + copy("add.u32") + kWait));
  const Outcome o =
      gpu_.launch("k", 1, kThreads, gpu_.buffer(ones, "in"), gpu_.unwritten(kBytes, "out"));
  ASSERT_FALSE(o.findings.empty());
  EXPECT_EQ(o.findings[0].kind, Kind::kUninitialised) << text(o);
  EXPECT_THAT(o.findings[0].where, HasSubstr("the memory it changes was never written"));
  // Atomics of other threads do not race with the reduction.
  EXPECT_TRUE(run(kFence + copy("add.u32") + kWait + "red.global.add.u32 [%rd2], 1;\n", ones, ones)
                  .findings.empty());
}

// ---- to the shared memory of a cluster's block
// ------------------------------------------------------------------------

// Clusters of two blocks. The tile of rank 0 holds 4,096 bytes of `in`; `sum` of rank 1 holds as
// many bytes of `out`. %r5 and %r6 are the addresses of `sum` and the mbarrier of rank 1; %p1 is
// true for thread 0. Rank 0 executes `send`. Rank 1 executes `receive` and writes its sum to `out`.
// An H100 ran these kernels unchanged.
constexpr std::uint32_t kClusters = 16, kSent = 4096, kSenders = 256;
std::string cluster_kernel(const std::string& fence, const std::string& send,
                           const std::string& receive) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .shared .align 128 .b8 tile[4096];
  .shared .align 128 .b8 sum[4096];
  .shared .align 8 .b64 bar[2];
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r8, %cluster_ctarank;
  mov.u32 %r9, %clusterid.x;
  setp.eq.u32 %p1, %r1, 0;
  setp.eq.u32 %p2, %r8, 1;
  mad.lo.u32 %r9, %r9, 256, %r1;
  mad.wide.u32 %rd1, %r9, 16, %rd1;
  mad.wide.u32 %rd2, %r9, 16, %rd2;
  mov.u32 %r2, tile;
  mov.u32 %r3, sum;
  mov.u32 %r4, bar;
  mapa.shared::cluster.u32 %r5, %r3, 1;
  mapa.shared::cluster.u32 %r6, %r4, 1;
  selp.b64 %rd3, %rd2, %rd1, %p2;
  selp.b32 %r7, %r3, %r2, %p2;
  mad.lo.u32 %r7, %r1, 16, %r7;
  ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd3];
  st.shared.v4.u32 [%r7], {%r10, %r11, %r12, %r13};
  @%p1 mbarrier.init.shared.b64 [%r4], 1;
  @%p1 mbarrier.init.shared.b64 [%r4+8], 1;
  fence.mbarrier_init.release.cluster;
)" + fence +
         R"(
  barrier.cluster.arrive;
  barrier.cluster.wait;
  @%p2 bra RECEIVE;
  @!%p1 bra DONE;
)" + send +
         R"(
  bra DONE;
RECEIVE:
)" + receive +
         R"(
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r7];
  st.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13};
DONE:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;
}
)";
}
constexpr char kFenceAsync[] = "  fence.proxy.async;";
constexpr char kReceive[] =
    "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 4096;\n"
    "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0;\n  @!%p3 bra WAIT;\n";
std::string send(const std::string& operation, const std::string& to = "%r5",
                 const std::string& from = "%r2", const std::string& size = "4096",
                 const std::string& object = "%r6") {
  return "  cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." +
         operation + " [" + to + "], [" + from + "], " + size + ", [" + object + "];\n";
}

class ClusterReduction : public ::testing::Test {
 protected:
  ClusterReduction() { gpu_.config.cluster = {2, 1, 1}; }
  Outcome run(const std::string& text, const std::vector<std::uint8_t>& in,
              const std::vector<std::uint8_t>& out) {
    gpu_.load_text(text);
    out_ = gpu_.buffer(out, "out");
    return gpu_.launch("k", 2 * static_cast<std::uint32_t>(in.size() / kSent), kSenders,
                       gpu_.buffer(in, "in"), out_);
  }
  std::vector<std::uint8_t> result(std::size_t bytes) const {
    return gpu_.fetch<std::uint8_t>(out_, bytes);
  }

  // The inputs of the H100 run: random bits, small numbers, extremes, equal pairs.
  void expect(const std::string& operation, std::size_t size, std::uint64_t of_h100,
              const Reference& reference) {
    std::uint64_t state = 0;
    for (const char c : operation) state = state * 131 + static_cast<unsigned char>(c);
    const auto draw = [&]() -> Bits {
      const Bits any = next_mixed(state);
      switch (next_mixed(state) % 5) {
        case 0: return any % 5;
        case 1: return ~(any % 3);
        case 2: return Bits{1} << (8 * size - 1) | any % 3;
        default: return any;
      }
    };
    std::vector<std::uint8_t> in(kClusters * kSent), out(kClusters * kSent);
    for (std::size_t at = 0; at < in.size(); at += size) {
      const Bits value = draw(), other = draw(), old = next_mixed(state) % 4 == 0 ? value : other;
      std::memcpy(&in[at], &value, size);
      std::memcpy(&out[at], &old, size);
    }
    const Outcome o = run(cluster_kernel(kFenceAsync, send(operation), kReceive), in, out);
    ASSERT_TRUE(o.findings.empty()) << text(o);
    const auto actual = result(out.size());
    const Bits mask = size == 8 ? ~Bits{0} : (Bits{1} << 8 * size) - 1;
    std::uint64_t digest = 0xcbf29ce484222325;
    for (std::size_t at = 0; at < out.size(); at += size) {
      Bits old = 0, value = 0, now = 0;
      std::memcpy(&old, &out[at], size);
      std::memcpy(&value, &in[at], size);
      std::memcpy(&now, &actual[at], size);
      ASSERT_EQ(now, reference(old, value) & mask)
          << operation << std::hex << " of " << old << " and " << value;
    }
    for (const std::uint8_t b : actual) digest = (digest ^ b) * 0x100000001b3;
    EXPECT_EQ(digest, of_h100) << operation << std::hex << ": " << digest;
  }

  // Expects this first finding of a kernel on ones.
  void expect_finding(const std::string& text_of_kernel, Kind kind, const std::string& words) {
    const std::vector<std::uint8_t> ones(kSent, 1);
    const Outcome o = run(text_of_kernel, ones, ones);
    ASSERT_FALSE(o.findings.empty()) << words;
    EXPECT_EQ(o.findings[0].kind, kind) << text(o);
    EXPECT_THAT(o.findings[0].to_string(), HasSubstr(words));
  }
  // Expects every byte of the sum of ones to be `sum`.
  void expect_sum(const std::string& text_of_kernel, std::uint8_t sum) {
    const std::vector<std::uint8_t> ones(kSent, 1);
    const Outcome o = run(text_of_kernel, ones, ones);
    EXPECT_TRUE(o.findings.empty()) << text(o);
    EXPECT_EQ(result(kSent), std::vector<std::uint8_t>(kSent, sum));
  }

  Machine gpu_;
  memory::Address out_ = 0;
};

JUDGES(ClusterReduction, GivesWhatAnH100Gave,
       "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32",
       "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.s32",
       "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.inc.u32",
       "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.xor.b32");
TEST_F(ClusterReduction, GivesWhatAnH100Gave) {
  const auto add = [](Bits a, Bits b) { return a + b; };
  const auto least = [](Bits a, Bits b) { return a < b ? a : b; };
  const auto most = [](Bits a, Bits b) { return a < b ? b : a; };
  const auto signed_least = [](Bits a, Bits b) { return extended(a, 4) < extended(b, 4) ? a : b; };
  const auto signed_most = [](Bits a, Bits b) { return extended(a, 4) < extended(b, 4) ? b : a; };
  expect("add.u32", 4, 0x760e6fd927323881, add);
  expect("add.s32", 4, 0xbaff91fd875a52c4, add);
  expect("add.u64", 8, 0xb9c78f3ac0117c56, add);
  expect("min.u32", 4, 0x7945e317d32ae4c8, least);
  expect("max.u32", 4, 0x841b961fe136ec46, most);
  expect("min.s32", 4, 0xd4787fca3271eba9, signed_least);
  expect("max.s32", 4, 0xdfd3362986fb7cab, signed_most);
  expect("inc.u32", 4, 0x325f88610f6c0e04, [](Bits a, Bits b) { return a >= b ? 0 : a + 1; });
  expect("dec.u32", 4, 0xc913625eef066834,
         [](Bits a, Bits b) { return a == 0 || a > b ? b : a - 1; });
  expect("and.b32", 4, 0xffb6205babf253cb, [](Bits a, Bits b) { return a & b; });
  expect("or.b32", 4, 0x13abc841a67ae657, [](Bits a, Bits b) { return a | b; });
  expect("xor.b32", 4, 0xc746f186b1616a5d, [](Bits a, Bits b) { return a ^ b; });
}

TEST_F(ClusterReduction, ComesWithItsPhase) {
  const std::string expect_only = "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 4096;\n";
  expect_finding(cluster_kernel(kFenceAsync, send("add.u32"), expect_only), Kind::kRace,
                 "cp.reduce.async.bulk");
  // The atomic uses the generic proxy: only the wait orders it after the reduction.
  expect_finding(cluster_kernel(kFenceAsync, send("add.u32"),
                                expect_only + "  red.shared.add.u32 [%r7], 1;\n"),
                 Kind::kRace, "");
  std::string fewer = kReceive;
  fewer.replace(fewer.find("4096"), 4, "4080");
  expect_finding(cluster_kernel(kFenceAsync, send("add.u32"), fewer), Kind::kDeadlock,
                 "wait at the mbarrier");
}

TEST_F(ClusterReduction, SeveralMayBeUnderWayToOnePlace) {
  std::string twice = kReceive;
  twice.replace(twice.find("4096"), 4, "8192");
  expect_sum(cluster_kernel(kFenceAsync, send("add.u32") + send("add.u32"), twice), 3);
  // Two phases of two mbarriers; each completes its own reduction.
  const std::string both =
      kReceive +
      std::string(
          "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4+8], 2048;\n"
          "AGAIN:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r4+8], 0;\n  @!%p3 bra AGAIN;\n");
  const std::string sends = send("add.u32") + send("add.u32", "%r5+2048", "%r2", "2048", "%r6+8");
  gpu_.config.cluster = {2, 1, 1};
  const std::vector<std::uint8_t> ones(kSent, 1);
  const Outcome o = run(cluster_kernel(kFenceAsync, sends, both), ones, ones);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  std::vector<std::uint8_t> sums(kSent, 2);
  std::fill(sums.begin() + 2048, sums.end(), 3);
  EXPECT_EQ(result(kSent), sums);
  expect_finding(cluster_kernel(kFenceAsync, sends, kReceive), Kind::kRace,
                 "asynchronous copy is on its way");
  // A copy replaces what a reduction changes.
  const std::string replaces =
      "  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r2], "
      "4096, [%r6];\n";
  expect_finding(cluster_kernel(kFenceAsync, replaces + send("add.u32"), twice), Kind::kRace,
                 "asynchronous copy is on its way");
}

TEST_F(ClusterReduction, BlocksAddToOnePlace) {
  // Rank 1 sends itself what it has in its tile.
  std::string twice =
      "  mad.lo.u32 %r14, %r1, 16, %r2;\n  st.shared.v4.u32 [%r14], {%r10, %r11, %r12, %r13};\n  "
      "fence.proxy.async;\n  bar.sync 0;\n"
      "  @!%p1 bra OVER;\n" +
      send("add.u32", "%r3", "%r2", "4096", "%r4") + "OVER:\n" + kReceive;
  twice.replace(twice.find("expect_tx.shared.b64 _, [%r4], 4096"), 35,
                "expect_tx.shared.b64 _, [%r4], 8192");
  expect_sum(cluster_kernel(kFenceAsync, send("add.u32"), twice), 3);
}

TEST_F(ClusterReduction, WantsAFenceOnBothSides) {
  expect_finding(cluster_kernel("", send("add.u32"), kReceive), Kind::kMissingProxyFence,
                 "fence.proxy.async");
  // The source is written by a copy and needs no fence; the destination was stored.
  const std::string fetch =
      "  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 4096;\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 4096, "
      "[%r4];\n"
      "FETCH:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0;\n  @!%p3 bra FETCH;\n";
  const auto without_stores = [&](const std::string& fence) {
    std::string k = cluster_kernel(fence, fetch + send("add.u32"), kReceive);
    k.insert(k.find("st.shared.v4.u32"), "@%p2 ");
    return k;
  };
  expect_finding(without_stores(""), Kind::kMissingProxyFence, "fence.proxy.async");
  expect_sum(without_stores("  @%p2 fence.proxy.async;"), 2);
}

TEST_F(ClusterReduction, IsCheckedAsACopy) {
  const auto of = [](const std::string& sends) {
    return cluster_kernel(kFenceAsync, sends, kReceive);
  };
  expect_finding(of(send("add.u32", "%r5", "%r2", "4088")), Kind::kInvalidInstruction,
                 "multiple of 16");
  expect_finding(of(send("add.u32", "%r5+8")), Kind::kMisaligned, "16");
  expect_finding(of(send("add.u32", "%r5", "%r2+8")), Kind::kMisaligned, "16");
  expect_finding(of(send("add.u32", "%r5+16")), Kind::kOutOfBounds, "'sum'");
  expect_finding(of(send("add.u32", "%r5", "%r2+16")), Kind::kOutOfBounds, "'tile'");
  expect_finding(of(send("add.u32", "%r5", "%r2", "4096", "%r4")), Kind::kMbarrierMisuse,
                 "of another block than the destination");
  expect_finding(cluster_kernel(kFenceAsync, send("add.u32"),
                                "  st.shared.u32 [%r7], 5;\n" + std::string(kReceive)),
                 Kind::kRace, "cp.reduce.async.bulk");
  // The destination is unwritten, or three bytes of a source element are.
  std::string k = of(send("add.u32"));
  k.insert(k.find("st.shared.v4.u32"), "@!%p2 ");
  expect_finding(k, Kind::kUninitialised, "the memory it changes was never written");
  const std::string uses =
      "  ld.shared.u8 %r14, [%r7];\n  add.u32 %r14, %r14, 1;\n  st.global.u32 [%rd2], %r14;\n";
  k = cluster_kernel(kFenceAsync, send("add.u32"), kReceive + uses);
  k.replace(k.find("st.shared.v4.u32 [%r7], {%r10, %r11, %r12, %r13};"), 49,
            "@%p2 st.shared.v4.u32 [%r7], {%r10, %r11, %r12, %r13};\n  @!%p2 st.shared.u8 [%r7], "
            "%r10;\n  @!%p2 st.shared.v2.u32 [%r7+8], {%r12, %r13};");
  expect_finding(k, Kind::kUninitialised, "");
}

}  // namespace bulk_reduction_test
}  // namespace lockstep::engine
