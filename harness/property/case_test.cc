// Cases on the simulated GPU: findings, errors that it can clear, names of buffers, schedules. A
// fake stands for the simulator here.
#include "harness/property/case.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "harness/device/device.h"
#include "harness/device/device_array.h"
#include "harness/property/compare.h"
#include "harness/property/schedule.h"
#include "harness/testing/fake_extension.h"
#include "harness/testing/fake_runtime.h"

namespace lockstep {
namespace case_test {

using testing::fake;
using testing::fake_extension;

class Case : public ::testing::Test {
 protected:
  void SetUp() override {
    fake() = testing::Fake{};
    // The first case of the process sets these once.
    const int quiet = fake_extension().quiet;
    const std::uint32_t checks = fake_extension().checks;
    fake_extension() = testing::FakeExtension{};
    fake_extension().quiet = quiet;
    fake_extension().checks = checks;
  }
};

TEST_F(Case, TheExtensionIsFound) {
  EXPECT_TRUE(is_simulator());
  EXPECT_TRUE(extension().name_buffer && extension().take_errors && extension().clear_error &&
              extension().set_schedule && extension().set_quiet);
  EXPECT_FALSE(extension().read_counters) << "the fake has none";
}

TEST_F(Case, BarriersAreStrictInASuite) {
  run_case([] {});
  EXPECT_EQ(fake_extension().checks, 15u | 32u) << "with all that was on";
}

TEST_F(Case, ThePropertiesSayWhatTheRuntimeSays) {
  const DeviceProperties& d = device_properties();
  EXPECT_EQ(d.name, "Fake GPU");
  EXPECT_EQ(d.major, 8);
  EXPECT_EQ(d.uuid, "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
  EXPECT_EQ(d.max_cluster_blocks, 1);
  EXPECT_TRUE(d.managed_memory);
  EXPECT_TRUE(d.simulated);
  EXPECT_EQ(d.entries().at("compute_capability"), "8.6");
  EXPECT_EQ(d.entries().at("simulated"), "true");
}

TEST_F(Case, BuffersAreNamedWithoutTheirGuards) {
  float* data = nullptr;
  const CaseOutcome outcome = run_case([&] {
    const auto out = DeviceArray<float>::output("y", 33, Layout{3});
    data = out.data();
    DeviceArray<float>::output("empty", 0, Layout{});
  });
  EXPECT_TRUE(outcome.held()) << outcome.failure.message;
  ASSERT_EQ(fake_extension().named.size(), 2u);
  EXPECT_EQ(fake_extension().named[0].begin, data);
  EXPECT_EQ(fake_extension().named[0].bytes, 33 * sizeof(float));
  EXPECT_EQ(fake_extension().named[0].name, "y");
  EXPECT_EQ(fake_extension().named[1].bytes, 0u);
}

// Only outputs are marked, each time that they are poisoned; their guards are not.
TEST_F(Case, PoisonIsMarkedAsUnwritten) {
  for (const std::size_t n : {std::size_t{33}, std::size_t{100000}}) {
    fake_extension().unwritten.clear();
    float* data = nullptr;
    const CaseOutcome outcome = run_case([&] {
      const std::vector<float> host(n);
      DeviceArray<float>::input("x", host, Layout{});
      DeviceArray<float>::in_out("z", host, Layout{});
      DeviceArray<float>::output("empty", 0, Layout{});
      EXPECT_TRUE(fake_extension().unwritten.empty());
      auto out = DeviceArray<float>::output("y", n, Layout{3});
      data = out.data();
      EXPECT_EQ(fake_extension().unwritten.size(), 1u);
      out.repoison();
    });
    EXPECT_TRUE(outcome.held()) << outcome.failure.message;
    ASSERT_EQ(fake_extension().unwritten.size(), 2u);
    for (const auto& marked : fake_extension().unwritten) {
      EXPECT_EQ(marked.begin, data);
      EXPECT_EQ(marked.bytes, n * sizeof(float));
      // Poison written later counts as written.
      float last = 0;
      ASSERT_EQ(marked.held.size(), n * sizeof(float));
      std::memcpy(&last, marked.held.data() + (n - 1) * sizeof(float), sizeof last);
      EXPECT_TRUE(std::isnan(last)) << "marked before it was poisoned";
    }
  }
}

TEST_F(Case, TheDigestIsOfWhatOutputsHeld) {
  const auto digest = [](float x, float y, float z) {
    return run_case([=] {
             const std::vector<float> hosts[] = {{x}, {z}};
             DeviceArray<float>::input("x", hosts[0], Layout{}).fetch();
             const auto out = DeviceArray<float>::output("y", 1, Layout{});
             out.data()[0] = y;
             out.fetch();
             DeviceArray<float>::in_out("z", hosts[1], Layout{}).fetch();
           })
        .digest;
  };
  const std::uint64_t first = digest(1, 2, 3);
  EXPECT_NE(first, 0u);
  EXPECT_EQ(digest(9, 2, 3), first) << "an input is no result";
  EXPECT_NE(digest(1, 9, 3), first);
  EXPECT_NE(digest(1, 2, 9), first);
  EXPECT_EQ(run_case([] {}).digest, 0u) << "nobody has fetched anything";
}

TEST_F(Case, WhatTheSimulatedGpuRunsOtherwiseHasNoDigest) {
  const auto fetched = [] {
    const auto out = DeviceArray<float>::output("y", 1, Layout{});
    out.data()[0] = 1;
    out.fetch();
  };
  EXPECT_NE(run_case(fetched).digest, 0u);
  EXPECT_EQ(run_case([&] {
              const SampledBlocks sampled(2);
              fetched();
            }).digest,
            0u);
  EXPECT_EQ(run_case([&] { run_between_calls([](std::size_t) {}, fetched); }).digest, 0u);
  EXPECT_NE(run_case(fetched).digest, 0u) << "a later case has its digest again";
  const CaseOutcome reduced = run_case(fetched, /*reduced=*/true);
  EXPECT_TRUE(reduced.reduced);
  EXPECT_EQ(reduced.digest, 0u) << "nobody compares it";
}

TEST_F(Case, ABufferThatTheSimulatorDoesNotKnowIsNeverAccepted) {
  fake_extension().knows_buffers = false;
  EXPECT_EQ(run_case([] { DeviceArray<float>::output("y", 1, Layout{}); }).failure.label(),
            "exception");
  EXPECT_EQ(fake().live, 0) << "its memory is released all the same";
}

TEST_F(Case, AFindingFailsACaseThatComputedTheRightResult) {
  const CaseOutcome outcome = run_case(
      [] { fake_extension().findings = R"([{"kind": "race", "text": "race in shared memory"}])"; });
  EXPECT_EQ(outcome.failure.label(), "finding:race");
  EXPECT_EQ(outcome.failure.message, "race in shared memory");
  EXPECT_TRUE(run_case([] {}).held()) << "a finding belongs to one case";
  EXPECT_EQ(fake_extension().quiet, 1)
      << "a finding is reported with its counterexample, not as it happens";
}

TEST_F(Case, AFindingOutranksWhatFollowedFromIt) {
  const CaseOutcome outcome = run_case([] {
    const auto out = DeviceArray<float>::output("y", 1, Layout{});
    out.data()[1] = 0;
    fake_extension().findings = R"([{"kind": "out-of-bounds", "text": "4 bytes past y"}, )"
                                R"({"kind": "race", "text": "another"}])";
    fake().sticky = cudaErrorIllegalAddress;
    out.fetch();
  });
  EXPECT_EQ(outcome.failure.label(), "finding:out-of-bounds");
  EXPECT_NE(outcome.failure.message.find("4 bytes past y\nand 1 more, the next: another"),
            std::string::npos)
      << outcome.failure.message;
  EXPECT_NE(outcome.failure.message.find("also (cuda-error): waiting for 'y' failed"),
            std::string::npos)
      << outcome.failure.message;
  EXPECT_NE(outcome.failure.message.find("also (guard): the guard after 'y'"), std::string::npos)
      << outcome.failure.message;
  EXPECT_EQ(fake_extension().cleared, 1);
  EXPECT_TRUE(outcome.device_lost.empty()) << "the simulator can clear what hardware cannot";
  EXPECT_TRUE(run_case([] { DeviceArray<float>::output("y", 1, Layout{}); }).held());
  EXPECT_EQ(fake().live, 0);
}

TEST_F(Case, InformationFailsNothingAndAnythingElseDoes) {
  const auto label = [](const char* findings) {
    return run_case([&] { fake_extension().findings = findings; }).failure.label();
  };
  EXPECT_EQ(label(R"([{"kind": "race", "severity": "information", "text": "benign"}])"), "none");
  EXPECT_EQ(label(R"([{"kind": "race", "severity": "error", "text": "bad"}])"), "finding:race");
  EXPECT_EQ(
      label(R"([{"kind": "a", "severity": "information"}, {"kind": "b", "severity": "error"}])"),
      "finding:b");
  EXPECT_EQ(label(R"([{"kind": "c", "severity": "unheard of"}])"), "finding:c");
  // The information in the simulator's format.
  const std::string informs =
      R"({"kind":"i","severity":"information","text":"a \"quote}]\", a \\"})";
  const auto all = [&](const std::string& findings) {
    return label(("[" + findings + "]").c_str());
  };
  EXPECT_EQ(all(""), "none");
  EXPECT_EQ(all(informs), "none");
  EXPECT_EQ(all(informs + "," + informs), "none");
  EXPECT_EQ(all(informs + R"(,{"kind":"d","severity":"error"})"), "finding:d");
  EXPECT_EQ(all(R"({"kind":"d","severity":"error"},)" + informs), "finding:d");
  EXPECT_EQ(all(informs + R"(,{"kind":"e"},)" + informs), "finding:e")
      << "an error, where nothing is said";
  EXPECT_EQ(all(R"({"kind":"f","other":)" + informs + "}"), "finding:f")
      << "what a part says is not what the finding says";
  EXPECT_EQ(all(R"({"kind":"g","text":"\"severity\":\"information\""})"), "finding:g")
      << "nor what a text says";
  EXPECT_EQ(all(R"({"kind":"h","text":"\\","severity":"error"},)" + informs), "finding:h");
  EXPECT_EQ(all(R"({"severity":"information","text":"a\""},{"kind":"j","text":"\"b"})"),
            "finding:j");
}

TEST_F(Case, AnUnreadableFindingIsStillAFinding) {
  EXPECT_EQ(run_case([] { fake_extension().findings = "[{\"kind\""; }).failure.label(),
            "finding:unreadable");
  EXPECT_EQ(run_case([] { fake_extension().findings = "[{}]"; }).failure.label(),
            "finding:unnamed");
  for (const char* unreadable :
       {"", R"([{"severity":"information"})", R"([{"severity":"information")", R"("a")"}) {
    EXPECT_EQ(run_case([&] { fake_extension().findings = unreadable; }).failure.label(),
              "finding:unreadable")
        << unreadable;
  }
}

TEST_F(Case, GTestsOwnAssertionsFailTheCaseAndNotTheTest) {
  const CaseOutcome expected = run_case([] {
    EXPECT_EQ(1, 2) << "first";
    EXPECT_EQ(3, 4) << "second";
  });
  EXPECT_EQ(expected.failure.label(), "expectation");
  EXPECT_NE(expected.failure.message.find("first"), std::string::npos);
  EXPECT_NE(expected.failure.message.find("case_test.cc:"), std::string::npos);
  bool reached = false;
  const CaseOutcome asserted = run_case([&] {
    ASSERT_TRUE(false);
    reached = true;
  });
  EXPECT_EQ(asserted.failure.label(), "expectation");
  EXPECT_FALSE(reached);
  EXPECT_TRUE(run_case([] {
                EXPECT_EQ(1, 1);
                SUCCEED();
              }).held());
}

TEST_F(Case, ASkipInsideACaseIsNotAPass) {
  const CaseOutcome outcome = run_case([] { GTEST_SKIP() << "no"; });
  EXPECT_FALSE(outcome.held());
  EXPECT_TRUE(outcome.not_run.has_value());
}

TEST_F(Case, ABrokenCaseThatThenCannotGoOnIsAFailure) {
  const CaseOutcome outcome = run_case([] {
    const auto out = DeviceArray<float>::output("y", 1, Layout{});
    out.data()[1] = 0;
    not_run("no more memory");
  });
  EXPECT_EQ(outcome.failure.label(), "guard");
  EXPECT_FALSE(outcome.not_run);
}

TEST_F(Case, RequireCudaDistinguishesSuccessFailureAndMemory) {
  EXPECT_TRUE(run_case([] { REQUIRE_CUDA(cudaSuccess); }).held());
  EXPECT_EQ(run_case([] { REQUIRE_CUDA(cudaErrorInvalidConfiguration); }).failure.label(),
            "cuda-error");
  EXPECT_TRUE(run_case([] { REQUIRE_CUDA(cudaErrorMemoryAllocation); }).not_run.has_value());
}

TEST_F(Case, RequireLaw) {
  EXPECT_TRUE(run_case([] { REQUIRE_LAW(1 + 1 == 2, "sums"); }).held());
  const CaseOutcome outcome = run_case([] { REQUIRE_LAW(1 + 1 == 3, "f({}) is {}", 1, 2); });
  EXPECT_EQ(outcome.failure.label(), "law");
  EXPECT_NE(outcome.failure.message.find("1 + 1 == 3: f(1) is 2"), std::string::npos)
      << outcome.failure.message;
}

TEST_F(Case, RequireDeterministicRunsUnderOtherSchedulesAndPutsTheFirstBack) {
  std::vector<float> result(3, 1);
  EXPECT_TRUE(run_case([&] { REQUIRE_DETERMINISTIC(3, [&] { return result; }); }).held());
  EXPECT_EQ(fake_extension().schedules, (std::vector<std::uint64_t>{1, 0, 2, 0, 3, 0}));
  fake_extension().schedules.clear();
  const CaseOutcome outcome = run_case([&] {
    REQUIRE_DETERMINISTIC(3, [&] {
      std::vector<float> v(3, 0.0f);
      if (!fake_extension().schedules.empty() && fake_extension().schedules.back() == 2)
        v[1] = -0.0f;
      return v;
    });
  });
  EXPECT_EQ(outcome.failure.label(), "nondeterminism");
  EXPECT_NE(outcome.failure.message.find("schedule 2 gives other bits"), std::string::npos)
      << outcome.failure.message;
  EXPECT_EQ(fake_extension().schedules.back(), 0u) << "put back though the case failed";
}

TEST_F(Case, TheBudgetIsTheLargestOfTheCase) {
  struct Reference {
    std::vector<double> value, bound;
  };
  const CaseOutcome outcome = run_case([] {
    const std::vector<float> v = {1};
    REQUIRE_WITHIN_BOUND(v, (Reference{{1.5}, {1}}));
    REQUIRE_WITHIN_BOUND(v, (Reference{{1.25}, {1}}));
  });
  EXPECT_TRUE(outcome.held());
  EXPECT_EQ(outcome.budget, 0.5);
  const CaseOutcome failed = run_case([] {
    const std::vector<float> v = {1, 1};
    REQUIRE_WITHIN_BOUND(v, (Reference{{1.25, 3}, {1, 1}}));
  });
  EXPECT_EQ(failed.failure.label(), "mismatch");
  EXPECT_EQ(failed.budget, 0.25) << "of the elements that match";
}

}  // namespace case_test
}  // namespace lockstep
