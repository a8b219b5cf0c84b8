// Proofs before a launch, and their use by the launch: LaunchConfig::Proof.
#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "simulator/engine/launch/proof_variable.h"
#include "simulator/engine/run/module.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace proof_test {

using Proof = LaunchConfig::Proof;

constexpr unsigned kBlocks = 5000;  // enough for `on` to prove before the first launch

// Thread t of each block writes word t of shared memory, executes `between`, and copies word 255 -
// t to out[t].
std::string reversal(const std::string& between) {
  return R"(
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 s[1024];
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, s;
  add.s32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  )" + between +
         R"(
  sub.s32 %r5, %r3, %r2;
  ld.shared.u32 %r6, [%r5+1020];
  setp.ne.u32 %p1, %r7, 0;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  @!%p1 st.global.u32 [%rd3], %r6;
  ret;
}
)";
}

struct Launched {
  Outcome outcome;
  std::vector<std::uint32_t> out;
};
Launched launched(const std::string& between, Proof proof) {
  testing::Machine gpu;
  gpu.config.proof = proof;
  std::string text = reversal(between);
  text.replace(text.find("  .reg .b64"), 0, "  .reg .pred %p<3>;\n");
  text.replace(text.find("  setp.ne"), 0, "  mov.u32 %r7, %ctaid.x;\n");
  gpu.load(text);
  const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(256));
  Launched result{gpu.launch("k", kBlocks, 256, out), {}};
  result.out = gpu.fetch<std::uint32_t>(out, 256);
  return result;
}

std::vector<std::uint32_t> reversed() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t t = 0; t < 256; ++t) all.push_back(255 - t);
  return all;
}

TEST(Proof, WhatIsProvedHasNoFindingWhicheverWayItIsRun) {
  for (const Proof proof : {Proof::kOff, Proof::kOn, Proof::kCompare}) {
    const Launched r = launched("bar.sync 0;", proof);
    EXPECT_THAT(r.outcome.findings, ::testing::IsEmpty());
    EXPECT_EQ(r.out, reversed());
  }
}

TEST(Proof, ARaceIsFoundWhicheverWayItIsRun) {
  for (const Proof proof : {Proof::kOff, Proof::kOn, Proof::kCompare}) {
    const Launched r = launched("", proof);
    ASSERT_EQ(r.outcome.findings.size(), 1u) << static_cast<int>(proof);
    EXPECT_EQ(r.outcome.findings[0].kind, check::Kind::kRace);
  }
}

TEST(Proof, ABarrierOfHalfTheThreadsIsNoProof) {
  for (const Proof proof : {Proof::kOff, Proof::kOn, Proof::kCompare}) {
    const Launched r = launched("setp.lt.u32 %p2, %r1, 128;\n@%p2 bar.sync 1, 128;", proof);
    ASSERT_EQ(r.outcome.findings.size(), 1u) << static_cast<int>(proof);
    EXPECT_EQ(r.outcome.findings[0].kind, check::Kind::kRace);
  }
}

TEST(Proof, ALaunchPaysForAProofThatItIsWorth) {
  testing::Machine gpu;
  gpu.load(
      ".visible .entry k() {\n .shared .align 4 .b8 s[4];\n .reg .b32 %r<2>;\n"
      " ld.shared.u32 %r1, [s];\n ret;\n}\n");
  const auto& kernel = static_cast<const LoadedKernel&>(*gpu.module->find_kernel("k"));
  int proofs = 0;
  bool may_save = true, saves = true;
  const auto ask = [&](const std::string& key, std::uint64_t work = 0) {
    return kernel.certificate_worth(
        key, work, 100, [&] { return may_save; },
        [&] {
          ++proofs;
          return proof::Certificate();
        },
        [&](const proof::Certificate&) { return saves; });
  };
  const auto execute = [&](std::uint64_t instructions, std::uint64_t searched = 0) {
    kernel.begin_launch();
    kernel.end_launch(instructions, searched, 4);
  };
  EXPECT_EQ(ask("a", 60), nullptr);
  EXPECT_EQ(ask("a", 60), nullptr) << "asking is no work";
  execute(60);
  EXPECT_EQ(proofs, 0);
  EXPECT_NE(ask("a", 60), nullptr) << "two launches have 120 instructions";
  EXPECT_NE(ask("a"), nullptr) << "it is known";
  EXPECT_EQ(proofs, 1);
  execute(100);
  EXPECT_EQ(ask("b"), nullptr) << "a second proof needs 200 in all";
  execute(40);
  saves = may_save = false;
  EXPECT_EQ(ask("b"), nullptr) << "nothing could be left out";
  may_save = true;
  EXPECT_NE(ask("b"), nullptr);
  EXPECT_EQ(proofs, 2);
  // The proof was useless: seven further proofs have to be paid for before the next.
  execute(400, 399);
  EXPECT_EQ(ask("c"), nullptr);
  execute(0, 1);
  EXPECT_NE(ask("c"), nullptr) << "searches count as instructions do";
  EXPECT_EQ(proofs, 3);
  execute(1000);
  saves = true;
  EXPECT_EQ(ask("d", 99), nullptr) << "it may never come again";
  EXPECT_NE(ask("d", 99), nullptr) << "it has come again";
  EXPECT_NE(ask("e", 100), nullptr) << "it is worth a proof by itself";
  EXPECT_EQ(proofs, 5);
}

TEST(Proof, TheWorkOfALaunchIsExpectedFromEarlierOnes) {
  testing::Machine gpu;
  gpu.load(".visible .entry k() {\n ret;\n}\n");
  const auto& kernel = static_cast<const LoadedKernel&>(*gpu.module->find_kernel("k"));
  EXPECT_EQ(kernel.expected_work(8), std::nullopt);
  kernel.begin_launch();
  kernel.end_launch(60, 40, 4);
  EXPECT_EQ(kernel.expected_work(8), 200u);
  kernel.begin_launch();
  kernel.end_launch(0, 0, 6);
  EXPECT_EQ(kernel.expected_work(8), 80u);
  kernel.forget_certificates();
  EXPECT_EQ(kernel.expected_work(8), std::nullopt);
}

TEST(Proof, TheVariableOfTestsAndFuzzersTakesNoOtherWord) {
  const char* const before = std::getenv("LOCKSTEP_PROOF");
  const std::string kept = before == nullptr ? "" : before;
  const auto set_to = [](const char* word) {
    setenv("LOCKSTEP_PROOF", word, 1);
    return proof_by_variable();
  };
  EXPECT_EQ(set_to(""), Proof::kOff);
  EXPECT_EQ(set_to("off"), Proof::kOff);
  EXPECT_EQ(set_to("on"), Proof::kOn);
  EXPECT_EQ(set_to("compare"), Proof::kCompare);
  EXPECT_EXIT(set_to("comapre"), ::testing::ExitedWithCode(2), "LOCKSTEP_PROOF='comapre'");
  setenv("LOCKSTEP_PROOF", kept.c_str(), 1);
}

}  // namespace proof_test
}  // namespace lockstep::engine
