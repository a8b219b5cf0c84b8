#include "harness/property/property.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "harness/device/device.h"
#include "harness/device/device_array.h"
#include "harness/ledger/exit_guard.h"
#include "harness/ledger/session.h"
#include "harness/property/case.h"
#include "harness/property/compare.h"
#include "harness/property/values.h"
#include "harness/testing/fake_runtime.h"

namespace lockstep {
namespace {

using testing::fake;

struct Sample {
  std::int64_t n = 0;
  int block = 32;
  Layout layout;
  Values values;
  static void fields(Sample& c, FieldVisitor& field) {
    field("n", c.n, sizes(0, 1 << 16));
    field("block", c.block, one_of({32, 64, 1024}));
    field("misalignment", c.layout.misalignment, range(0, 31));
    field("poison", c.layout.poison, poisons());
    field("values", c.values,
          values_of({ValueKind::kSmallIntegers, ValueKind::kUniform, ValueKind::kWide}));
  }
};

struct Reference {
  std::vector<double> value, bound;
};

// A kernel that doubles, on the fake runtime; it omits element `missed`.
void doubles(const Sample& c, std::int64_t missed = -1) {
  const std::vector<float> x = make_values<float>(c.values, static_cast<std::size_t>(c.n));
  const auto in = DeviceArray<float>::input("x", x, c.layout);
  const auto out = DeviceArray<float>::output("y", x.size(), c.layout);
  Reference reference;
  for (std::int64_t i = 0; i < c.n; ++i) {
    if (i != missed) out.data()[i] = 2 * in.data()[i];
    reference.value.push_back(2.0 * x[static_cast<std::size_t>(i)]);
    reference.bound.push_back(0);
  }
  REQUIRE_WITHIN_BOUND(out, reference, one_thread_per_element(static_cast<std::uint32_t>(c.block)));
}

PropertyResult run(const std::function<void(const Sample&)>& check,
                   const PropertyOptions& options = {}) {
  return run_property<Sample>("Property.OfTheTest", check, options);
}

// A crash, such as that of a reference with a bug.
TEST(PropertyDeathTest, ACaseThatEndsTheProcessIsNamedWithItsReplay) {
  EXPECT_EXIT(
      {
        exit_guard::arm();
        exit_guard::running("Property.OfTheTest");
        run([](const Sample& c) {
          if (c.n > 40) std::abort();
        });
      },
      ::testing::KilledBySignal(SIGABRT),
      "while Property.OfTheTest was running.*\n  case:   n=[0-9]+ block=.*\n  replay: .*"
      "--case=Property.OfTheTest: n=[0-9]+ block=");
}

TEST(Property, HoldsOnEveryCaseItRan) {
  std::set<std::string> texts;
  int runs = 0;
  const PropertyResult result = run([&](const Sample& c) {
    ++runs;
    texts.insert(print_case(c));
    doubles(c);
  });
  EXPECT_TRUE(result.held);
  EXPECT_EQ(result.cases, static_cast<std::uint64_t>(kDefaultCases));
  EXPECT_EQ(runs, kDefaultCases);
  EXPECT_GT(texts.size(), 190u) << "cases differ";
  EXPECT_EQ(result.failure.reason, Reason::kNone);
  EXPECT_EQ(fake().live, 0);
}

TEST(Property, RunsAsManyCasesAsAsked) {
  PropertyOptions options;
  options.cases = 1000;
  EXPECT_EQ(run([](const Sample&) {}, options).cases, 1000u);
}

TEST(Property, FindsAndShrinksToTheLeastCase) {
  const PropertyResult result = run([](const Sample& c) { doubles(c, 40); });
  EXPECT_FALSE(result.held);
  EXPECT_EQ(result.failure.label(), "unwritten");
  EXPECT_EQ(result.minimal_case, "n=41 block=32 misalignment=0 poison=nan values=integers:0");
  EXPECT_NE(result.failure.message.find("[40] is nan (0x7ffa5a5a)"), std::string::npos)
      << "of the minimal case: " << result.failure.message;
  EXPECT_GT(result.shrinks, 0);
}

TEST(Property, ShrinksWhateverBreaksIt) {
  const std::map<std::string, std::function<void(const Sample&)>> bodies = {
      {"expectation", [](const Sample& c) { EXPECT_LT(c.n, 33); }},
      {"exception",
       [](const Sample& c) {
         if (c.n >= 33) throw std::runtime_error("too large");
       }},
      {"law", [](const Sample& c) { REQUIRE_LAW(c.n < 33, "n is {}", c.n); }},
      {"cuda-error",
       [](const Sample& c) {
         REQUIRE_CUDA(c.n < 33 ? cudaSuccess : cudaErrorInvalidConfiguration);
       }},
      {"guard",
       [](const Sample& c) {
         const auto y = DeviceArray<int>::output("y", 33, c.layout);
         y.data()[c.n < 33 ? 0 : 33] = 1234;
       }},
      {"input-changed",
       [](const Sample& c) {
         const auto x = DeviceArray<float>::input("x", std::vector<float>(40), c.layout);
         if (c.n >= 33) x.data()[3] = 1;
       }},
  };
  for (const auto& [label, body] : bodies) {
    const PropertyResult result = run(body);
    EXPECT_EQ(result.failure.label(), label);
    EXPECT_EQ(result.minimal_case, "n=33 block=32 misalignment=0 poison=nan values=integers:0")
        << label;
  }
}

TEST(Property, SameSeedSameCounterexampleAndSameNumberOfRuns) {
  const auto body = [](const Sample& c) { REQUIRE_LAW(c.n % 97 != 5, "n={}", c.n); };
  const PropertyResult a = run(body), b = run(body);
  EXPECT_EQ(a.minimal_case, b.minimal_case);
  EXPECT_EQ(a.cases, b.cases);
  EXPECT_EQ(a.shrink_runs, b.shrink_runs);
  EXPECT_EQ(a.seed, b.seed);
  PropertyOptions other;
  other.seed = a.seed + 1;
  EXPECT_EQ(run(body, other).seed, a.seed + 1) << "a given seed is used as it is";
}

TEST(Property, NoCaseIsTriedTwiceOnceOneHasFailed) {
  std::map<std::string, int> runs;
  std::uint64_t before = 0;
  bool failed = false;
  const PropertyResult result = run([&](const Sample& c) {
    const bool breaks = c.n >= 1000 && c.block > 32;
    if (!failed) ++before;
    failed |= breaks;
    if (failed) ++runs[print_case(c)];
    REQUIRE_LAW(!breaks, "large");
  });
  EXPECT_EQ(result.minimal_case, "n=1000 block=64 misalignment=0 poison=nan values=integers:0");
  for (const auto& [text, count] : runs) EXPECT_EQ(count, 1) << text;
  EXPECT_EQ(runs.size(), static_cast<std::size_t>(result.shrink_runs) + 1)
      << "and the one that failed first";
  EXPECT_EQ(before, result.cases);
}

TEST(Property, TheBudgetIsTheLargestOfItsCases) {
  const PropertyResult result = run([](const Sample& c) {
    REQUIRE_WITHIN_BOUND((std::vector<float>{c.block == 1024 ? 0.75f : 0.25f}),
                         (Reference{{0}, {1}}));
  });
  EXPECT_TRUE(result.held);
  EXPECT_EQ(result.budget, 0.75);
}

// The digest covers the outputs of all cases, in their order.
TEST(Property, TheDigestIsOfAllCases) {
  PropertyOptions options;
  options.cases = 10;
  const auto digest = [&](int which, std::uint64_t output) {
    int number = 0;
    return run(
               [&](const Sample&) {
                 const std::uint64_t now = number++ == which ? output : 7;
                 note_output(&now, sizeof now);
               },
               options)
        .digest;
  };
  const std::uint64_t same = digest(-1, 0);
  EXPECT_NE(same, 0u);
  EXPECT_EQ(digest(3, 7), same);
  std::set<std::uint64_t> seen = {same};
  for (int which = 0; which < 10; ++which)
    EXPECT_TRUE(seen.insert(digest(which, 8)).second) << "case " << which;
  EXPECT_EQ(run([](const Sample&) {}, options).digest, 0u);
}

// A sample whose work is its size; the texts of the cases that run.
struct Worked : Sample {
  std::int64_t work() const { return n; }
};
std::vector<std::string> drawn(const PropertyOptions& options, PropertyResult& result) {
  std::vector<std::string> texts;
  result = run_property<Worked>(
      "Property.OfTheTest",
      [&](const Worked& c) {
        texts.push_back(print_case(c));
        note_output(&c.n, sizeof c.n);
      },
      options);
  return texts;
}

// The session's limit of work, for the lifetime of the object.
class LimitedWork {
 public:
  explicit LimitedWork(std::int64_t work) { session_options().work = work; }
  ~LimitedWork() { session_options() = SessionOptions{}; }
  LimitedWork(const LimitedWork&) = delete;
  LimitedWork& operator=(const LimitedWork&) = delete;
};
constexpr std::int64_t kStepsOfALaunch = 20'000;  // property.cc

TEST(Work, ALargeCaseIsDrawnAgainAndOthersStay) {
  constexpr std::int64_t kMost = 100;  // half of the cases have more
  PropertyOptions options;
  options.cases = 100;
  PropertyResult whole, limited;
  const std::vector<std::string> all = drawn(options, whole);
  const LimitedWork limit(kMost * kCasesOfMostWork);
  session_options().scale = 1000;  // enough for all cases
  const std::vector<std::string> some = drawn(options, limited);
  ASSERT_EQ(some.size(), all.size());
  int again = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    Worked before, after;
    ASSERT_EQ(parse_case(all[i], before), "");
    ASSERT_EQ(parse_case(some[i], after), "");
    EXPECT_LE(after.work(), kMost) << some[i];
    if (before.work() <= kMost) EXPECT_EQ(some[i], all[i]);
    again += before.work() > kMost;
  }
  EXPECT_GT(again, 20);
  EXPECT_FALSE(whole.reduced);
  EXPECT_NE(whole.digest, 0u);
  EXPECT_TRUE(limited.held);
  EXPECT_TRUE(limited.reduced);
  EXPECT_EQ(limited.digest, 0u) << "the outputs are not those of a run without a limit";
}

TEST(Work, ALimitThatNothingExceedsChangesNothing) {
  PropertyOptions options;
  options.cases = 50;
  PropertyResult whole, limited;
  const std::vector<std::string> all = drawn(options, whole);
  const LimitedWork limit(50 * kStepsOfALaunch + (std::int64_t{50} << 17));
  EXPECT_EQ(drawn(options, limited), all);
  EXPECT_FALSE(limited.reduced);
  EXPECT_EQ(limited.digest, whole.digest);
}

TEST(Work, APropertyEndsWhenItsWorkIsSpent) {
  PropertyOptions options;
  options.cases = 100;
  const LimitedWork limit(40 * kStepsOfALaunch);
  PropertyResult result;
  const auto cheap = [](const Sample&) { note_output("1", 1); };
  result = run(cheap, options);
  EXPECT_EQ(result.cases, 40u);
  EXPECT_TRUE(result.held);
  EXPECT_TRUE(result.reduced);
  EXPECT_EQ(result.digest, 0u);
  options.cost = 2;
  EXPECT_EQ(run(cheap, options).cases, 20u) << "launches of a case count";
  session_options().scale = 2;
  EXPECT_EQ(run(cheap, options).cases, 40u);
  session_options().scale = 1;
  options.cost = 1000;
  EXPECT_EQ(run(cheap, options).cases, 10u) << "the least";
  options.cases = 3;
  EXPECT_EQ(run(cheap, options).cases, 3u);
  EXPECT_FALSE(run(cheap, options).reduced);
  drawn(options, result);
  EXPECT_EQ(result.cases, 3u);
}

TEST(Work, ACaseThatIsNeverSmallRunsAllTheSame) {
  struct Large : Sample {
    std::int64_t work() const { return 1'000'000 + n; }
  };
  const LimitedWork limit(1000);
  PropertyOptions options;
  options.cases = 3;
  const PropertyResult result = run_property<Large>(
      "Property.OfTheTest", [](const Large&) {}, options);
  EXPECT_TRUE(result.held);
  EXPECT_EQ(result.cases, 3u);
  EXPECT_TRUE(result.reduced);
}

// In turns, an option may have large cases alone. One of them runs.
TEST(Work, InTurnsOneLargeCaseStays) {
  struct Optional {
    bool large = false;
    static void fields(Optional& c, FieldVisitor& field) { field("large", c.large, booleans()); }
    std::int64_t work() const { return large ? 1'000'000 : 0; }
  };
  const LimitedWork limit(50 * kStepsOfALaunch);
  PropertyOptions options;
  options.cases = 20, options.in_turns = true;
  int large = 0;
  run_property<Optional>(
      "Property.OfTheTest", [&](const Optional& c) { large += c.large; }, options);
  EXPECT_EQ(large, 1);
}

TEST(Work, AReplayIsNotLimited) {
  const LimitedWork limit(1);
  PropertyOptions options;
  options.replay = "n=65000 block=32 misalignment=0 poison=nan values=integers:0";
  PropertyResult result;
  EXPECT_EQ(drawn(options, result), std::vector<std::string>{*options.replay});
  EXPECT_TRUE(result.held);
  EXPECT_FALSE(result.reduced);
}

TEST(Work, ALawMayReduceItsListUnderALimitAlone) {
  PropertyOptions options;
  options.cases = 2;
  bool may = false;
  const auto asks = [&](const Sample&) {
    may = may_reduce();
    note_output("1", 1);
  };
  EXPECT_NE(run(asks, options).digest, 0u);
  EXPECT_FALSE(may);
  const LimitedWork limit(1'000'000'000);
  const PropertyResult limited = run(asks, options);
  EXPECT_TRUE(may);
  EXPECT_TRUE(limited.reduced);
  EXPECT_EQ(limited.digest, 0u);
  session_options().replay_case = "n=1";
  EXPECT_NE(run(asks, options).digest, 0u);
  EXPECT_FALSE(may);
  EXPECT_THROW(may_reduce(), std::logic_error) << "outside a case";
}

TEST(Property, ShrinkingStopsWhenItsRunsAreSpent) {
  PropertyOptions options;
  options.max_shrinks = 7;
  int runs = 0;
  const PropertyResult result = run(
      [&](const Sample& c) {
        ++runs;
        REQUIRE_LAW(c.n < 5000, "large");
      },
      options);
  EXPECT_EQ(result.shrink_runs, 7);
  EXPECT_EQ(static_cast<std::uint64_t>(runs), result.cases + 7);
  Sample c;
  ASSERT_EQ(parse_case(result.minimal_case, c), "");
  EXPECT_GE(c.n, 5000) << "what is reported did fail";
  options.max_shrinks = 0;
  EXPECT_EQ(run([&](const Sample& s) { REQUIRE_LAW(s.n < 5000, "large"); }, options).shrink_runs,
            0);
}

TEST(Property, ShrinkingStopsWhenItsTimeIsSpent) {
  PropertyOptions options;
  const auto slow = [](const Sample& c) {
    if (c.n < 5000) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE_LAW(false, "large");
  };
  options.max_shrink_seconds = 0.1;
  const PropertyResult result = run(slow, options);
  EXPECT_FALSE(result.held);
  EXPECT_LE(result.shrinks, 5);
  options.max_shrink_seconds = 0;
  EXPECT_EQ(run(slow, options).shrink_runs, 0);
}

TEST(Property, ReplayRunsThatCaseAlone) {
  PropertyOptions options;
  options.replay = "n=77 block=64 misalignment=3 poison=ones values=wide:9";
  int runs = 0;
  const PropertyResult good = run(
      [&](const Sample& c) {
        ++runs;
        EXPECT_EQ(print_case(c), "n=77 block=64 misalignment=3 poison=ones values=wide:9");
      },
      options);
  EXPECT_TRUE(good.held) << good.failure.message;
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(good.cases, 1u);
  const PropertyResult bad = run(
      [&](const Sample&) {
        ++runs;
        REQUIRE_LAW(false, "no");
      },
      options);
  EXPECT_EQ(runs, 2) << "a replayed case is not shrunk";
  EXPECT_EQ(bad.minimal_case, *options.replay);
}

TEST(Property, AReportedCaseFailsAgainForTheSameReason) {
  const auto body = [](const Sample& c) { doubles(c, 40); };
  const PropertyResult found = run(body);
  PropertyOptions options;
  options.replay = found.minimal_case;
  const PropertyResult again = run(body, options);
  EXPECT_EQ(again.minimal_case, found.minimal_case);
  EXPECT_EQ(again.failure.message, found.failure.message);
}

TEST(Property, ACaseThatCannotBeReadIsNotRun) {
  PropertyOptions options;
  options.replay = "n=77 block=65 misalignment=3 poison=ones values=wide:9";
  const PropertyResult result = run([](const Sample&) { FAIL() << "must not run"; }, options);
  EXPECT_FALSE(result.held);
  EXPECT_EQ(result.not_run, "--case: field 'block' cannot be '65': it takes one of 32, 64, 1024");
  EXPECT_EQ(result.cases, 0u);
}

// A domain whose printed text is not parsed to the same case.
TEST(Property, ACounterexampleThatDoesNotReadAsItselfIsReportedAsSuch) {
  struct Odd {
    int n = 0;
    static void fields(Odd& c, FieldVisitor& field) { field("n", c.n, range(0, 100)); }
    void normalise() { n |= n > 50; }
  };
  const PropertyResult good =
      run_property<Odd>("Property.Odd", [](const Odd& c) { REQUIRE_LAW(c.n < 60, "large"); });
  EXPECT_EQ(good.minimal_case, "n=61");
  EXPECT_EQ(good.failure.message.find("cannot be replayed"), std::string::npos);
  struct Growing : Odd {
    static void fields(Growing& c, FieldVisitor& field) { field("n", c.n, range(0, 100)); }
    void normalise() { n += n < 50; }
  };
  const PropertyResult bad = run_property<Growing>(
      "Property.Growing", [](const Growing& c) { REQUIRE_LAW(c.n < 20, "large"); });
  EXPECT_FALSE(bad.held);
  EXPECT_NE(bad.failure.message.find("cannot be replayed, for its text does not read as itself: "
                                     "these fields do not go together; the nearest case is"),
            std::string::npos)
      << bad.failure.message;
}

TEST(Property, AGeneratorThatLeavesItsDomainIsNotRun) {
  struct Wild {
    int n = 0;
    static void fields(Wild& c, FieldVisitor& field) {
      field("n", c.n, drawn_by<int>(gen_of(range(6, 9)), range(0, 5)));
    }
  };
  const PropertyResult result = run_property<Wild>("Property.Wild", [](const Wild&) {});
  EXPECT_FALSE(result.held);
  ASSERT_TRUE(result.not_run);
  EXPECT_NE(result.not_run->find("a case could not be made: a generator drew '"), std::string::npos)
      << *result.not_run;
}

TEST(Property, WhatCannotRunIsNotAPass) {
  const PropertyResult result = run([](const Sample& c) {
    if (c.n > 1000) not_run("no memory for that");
  });
  EXPECT_FALSE(result.held);
  ASSERT_TRUE(result.not_run);
  EXPECT_EQ(result.not_run->find("no memory for that (case: n="), 0u);
  int begun = 0;
  const PropertyResult never = run([&](const Sample&) {
    ++begun;
    not_run("never");
  });
  EXPECT_FALSE(never.held);
  EXPECT_EQ(begun, 1) << "the first ends the property";
  EXPECT_EQ(never.cases, 0) << "it counts as none";
}

TEST(Property, ACandidateThatCannotRunDoesNotEndShrinking) {
  bool failed = false;
  int refused = 0;
  const PropertyResult result = run([&](const Sample& c) {
    if (failed && c.n < 15) {
      ++refused;
      not_run("no memory for that");
    }
    failed |= c.n >= 20;
    REQUIRE_LAW(c.n < 20, "large");
  });
  EXPECT_EQ(result.minimal_case, "n=20 block=32 misalignment=0 poison=nan values=integers:0");
  EXPECT_GT(refused, 0);
  EXPECT_FALSE(result.not_run);
}

TEST(Property, ARequirementThatTheDeviceDoesNotMeetIsNotApplicable) {
  int beyond = 0;
  const PropertyResult result = run([&](const Sample&) {
    require_capability({Capability::kClusters});
    ++beyond;
  });
  EXPECT_FALSE(result.held);
  EXPECT_FALSE(result.not_run);
  EXPECT_EQ(result.not_applicable,
            "needs thread-block clusters; the device has none (Fake GPU, compute capability 8.6)");
  EXPECT_EQ(beyond, 0);
  EXPECT_EQ(run([](const Sample&) {
              require_capability({Capability::kGlobalBytes, std::uint64_t{1} << 40});
            }).not_applicable,
            "needs 1099511627776 bytes of global memory; the device has 8589934592 (Fake GPU, "
            "compute capability 8.6)");
  EXPECT_EQ(run([](const Sample&) {
              require_capability({Capability::kComputeCapability, 89});
            }).not_applicable,
            "needs compute capability 8.9 or later; the device has 8.6 (Fake GPU, compute "
            "capability 8.6)");
  EXPECT_TRUE(run([](const Sample&) {
                require_capability({Capability::kComputeCapability, 86});
              }).held);
  EXPECT_EQ(run([](const Sample&) { require_capability({Capability::kWgmma}); }).not_applicable,
            "needs multiplication of matrices by a warpgroup; the device has none (Fake GPU, "
            "compute capability 8.6)");
  EXPECT_EQ(
      run([](const Sample&) { require_capability({Capability::kTensorMemory}); }).not_applicable,
      "needs products in tensor memory; the device has none (Fake GPU, compute capability 8.6)");
  EXPECT_TRUE(run([](const Sample&) { require_capability({Capability::kManagedMemory}); }).held);
  EXPECT_TRUE(run([](const Sample&) {
                require_capability({Capability::kGlobalBytes, std::uint64_t{1} << 30});
              }).held);
}

TEST(Property, ARequirementOfSomeCasesOnlyIsNotRun) {
  const PropertyResult result = run([](const Sample& c) {
    if (c.n > 200) require_capability({Capability::kClusters});
  });
  EXPECT_FALSE(result.held);
  EXPECT_FALSE(result.not_applicable);
  ASSERT_TRUE(result.not_run);
  EXPECT_NE(result.not_run->find("move what needs it to a property of its own"), std::string::npos)
      << *result.not_run;
}

TEST(Seed, ComesFromTheNameAndTheRunOfBazel) {
  unsetenv("TEST_RANDOM_SEED");
  EXPECT_EQ(seed_of(""), 0xcbf29ce484222325u) << "FNV-1a";
  EXPECT_EQ(seed_of("a"), 0xaf63dc4c8601ec8cu) << "FNV-1a";
  EXPECT_NE(seed_of("Stencil.A"), seed_of("Stencil.B"));
  const std::uint64_t first = seed_of("Stencil.A");
  setenv("TEST_RANDOM_SEED", "1", 1);
  EXPECT_EQ(seed_of("Stencil.A"), first) << "a single run is the first of many";
  setenv("TEST_RANDOM_SEED", "2", 1);
  const std::uint64_t second = seed_of("Stencil.A");
  EXPECT_NE(second, first);
  setenv("TEST_RANDOM_SEED", "3", 1);
  EXPECT_NE(seed_of("Stencil.A"), second);
  unsetenv("TEST_RANDOM_SEED");
}

TEST(Options, ComeFromTheSession) {
  session_options() = SessionOptions{};
  EXPECT_EQ(detail::session_property_options("A.B", 50).cases, 50);
  session_options().scale = 0.001;
  EXPECT_EQ(detail::session_property_options("A.B", 50).cases, 1) << "never none";
  session_options().scale = 2;
  EXPECT_EQ(detail::session_property_options("A.B", 50).cases, 100);
  session_options().cases = 7;
  session_options().seed = 9;
  EXPECT_EQ(detail::session_property_options("A.B", 50).cases, 7);
  EXPECT_EQ(detail::session_property_options("A.B", 1).cases, 1) << "one case stays one";
  EXPECT_EQ(detail::session_property_options("A.B", 50).seed, 9u);
  session_options().replay_property = "A.B";
  session_options().replay_case = "n=1";
  EXPECT_EQ(detail::session_property_options("A.B", 50).replay, "n=1");
  EXPECT_FALSE(detail::session_property_options("A.C", 50).replay);
  session_options() = SessionOptions{};
}

// The results that a property reports to GoogleTest and to the record.
struct Reported {
  Record record;
  std::string text;
  int failed = 0, skipped = 0;
};
Reported report(const std::function<void()>& body) {
  begin_property("Suite.Name");
  ::testing::TestPartResultArray parts;
  {
    const ::testing::ScopedFakeTestPartResultReporter intercept(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &parts);
    body();
  }
  Reported r;
  r.record = end_property();
  for (int i = 0; i < parts.size(); ++i) {
    r.failed += parts.GetTestPartResult(i).failed();
    r.skipped += parts.GetTestPartResult(i).skipped();
    r.text += parts.GetTestPartResult(i).message();
  }
  return r;
}

Reported report(void (*check)(const Sample&)) {
  return report(
      [check] { detail::check_property<const Sample&>("Suite.Name", check, 100, "file.cc", 12); });
}

TEST(Report, APassIsQuiet) {
  const Reported r = report([](const Sample& c) { doubles(c); });
  EXPECT_EQ(r.text, "");
  EXPECT_EQ(r.record.verdict, Verdict::kPass);
  EXPECT_EQ(r.record.property, "Suite.Name");
  EXPECT_EQ(r.record.cases, 100u);
  EXPECT_EQ(r.record.seed, seed_of("Suite.Name"));
}

TEST(Report, AReducedPropertyHasANoteAndNoDigest) {
  const auto noted = [](const Sample&) { note_output("1", 1); };
  EXPECT_EQ(report(+noted).record.notes.count("digest"), 1u);
  const LimitedWork limit(40 * kStepsOfALaunch);
  const Reported r = report(+noted);
  EXPECT_EQ(r.record.verdict, Verdict::kPass);
  EXPECT_EQ(r.record.cases, 40u);
  EXPECT_EQ(r.record.notes.count("digest"), 0u);
  EXPECT_EQ(r.record.notes.at("reduced"), "to LOCKSTEP_WORK");
}

TEST(Report, AFailureIsOneCounterexampleWithItsReplayLine) {
  const Reported r = report([](const Sample& c) { doubles(c, 40); });
  EXPECT_EQ(r.failed, 1);
  EXPECT_EQ(r.record.verdict, Verdict::kFail);
  EXPECT_EQ(r.record.reason, "unwritten");
  EXPECT_EQ(r.record.minimal_case, "n=41 block=32 misalignment=0 poison=nan values=integers:0");
  for (const char* part : {"Suite.Name fails: unwritten", "case:   n=41 block=32",
                           "1 of 41 elements wrong", "block 1, thread 8 (warp 0, lane 8)",
                           "replay: ", "--case=Suite.Name: n=41 block=32", "seed "}) {
    EXPECT_NE(r.text.find(part), std::string::npos) << part << " in\n" << r.text;
  }
  EXPECT_EQ(r.record.replay.find('\n'), std::string::npos) << "one line";
}

TEST(Report, NotApplicableIsASkipWithItsClause) {
  const Reported r = report([](const Sample&) { require_capability({Capability::kSimulator}); });
  EXPECT_EQ(r.failed, 0);
  EXPECT_EQ(r.skipped, 1);
  EXPECT_EQ(r.record.verdict, Verdict::kNotApplicable);
  EXPECT_EQ(r.record.reason,
            "needs the simulated GPU; the device has none (Fake GPU, compute capability 8.6)");
}

TEST(Report, NotRunIsRed) {
  const Reported r = report([](const Sample&) { not_run("because"); });
  EXPECT_EQ(r.failed, 1);
  EXPECT_EQ(r.record.verdict, Verdict::kNotRun);
  EXPECT_EQ(r.record.reason.find("because"), 0u);
}

// A property without cases is red for every judge.
TEST(Report, APropertyWithoutCasesIsRed) {
  PropertyResult empty;
  empty.held = true;
  const Reported r = report([&] {
    detail::check_property(
        "Suite.Name", [&](const PropertyOptions&) { return empty; }, 100, "file.cc", 12);
  });
  EXPECT_EQ(r.failed, 1);
  EXPECT_EQ(r.record.verdict, Verdict::kNotRun);
  EXPECT_EQ(r.record.reason, "no case was run");
  EXPECT_NE(r.text.find("Suite.Name did not run: no case was run"), std::string::npos) << r.text;
}

PROPERTY(Macro, TakesACaseByReference, const Sample& c) { doubles(c); }
PROPERTY_CASES(Macro, TakesANumberOfCasesAndACaseByValue, 30, Sample c) {
  c.n %= 10;
  doubles(c);
}

// Must be the last test: from here on the process has no device.
TEST(ZLost, AStickyErrorEndsShrinkingAndWhatComesAfterIsNotRun) {
  int runs = 0;
  const PropertyResult result = run([&](const Sample& c) {
    ++runs;
    const auto out = DeviceArray<float>::output("y", 1, c.layout);
    if (c.n > 40) fake().sticky = cudaErrorIllegalAddress;
  });
  EXPECT_EQ(result.failure.label(), "cuda-error");
  EXPECT_EQ(result.shrink_runs, 0);
  EXPECT_EQ(static_cast<std::uint64_t>(runs), result.cases);
  EXPECT_NE(device_lost().find("Property.OfTheTest with n="), std::string::npos) << device_lost();
  const Reported later = report([](const Sample&) { FAIL() << "must not run"; });
  EXPECT_EQ(later.failed, 1);
  EXPECT_EQ(later.record.verdict, Verdict::kNotRun);
  EXPECT_EQ(later.record.reason, "device lost after " + device_lost());
  fake() = testing::Fake{};
}

}  // namespace
}  // namespace lockstep
