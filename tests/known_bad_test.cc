// Every known-bad kernel must be rejected for its stated reason, and every known-good twin accepted, by the same laws
// that prove the real ones.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "harness/device.h"
#include "harness/property.h"
#include "harness/session.h"
#include "properties/law.h"
#include "properties/histogram.h"
#include "properties/matmul.h"
#include "properties/memory_access.h"
#include "properties/memory_spaces.h"
#include "properties/ray_tracer.h"
#include "properties/shuffle.h"
#include "properties/staging.h"
#include "properties/stencil.h"
#include "tests/known_bad/histogram.h"
#include "tests/known_bad/matmul.h"
#include "tests/known_bad/memory_access.h"
#include "tests/known_bad/memory_spaces.h"
#include "tests/known_bad/ray_tracer.h"
#include "tests/known_bad/shuffle.h"
#include "tests/known_bad/staging.h"
#include "tests/known_bad/stencil.h"

namespace lockstep {
namespace {

// Enough for the rarest trap (a size past 2^16), and what a twin must stand in each law.
constexpr int kCasesToReject = 2000;
constexpr int kCasesToAccept = 100;

const std::string kAccepted = "accepted";

// What the laws found: the first law that does not hold, or none.
struct Judgement {
  std::string law, label = kAccepted, minimal_case, message;
  std::uint64_t cases = 0;  // of the law that rejects; of all laws together when accepted
};

// A suspect of any family.
struct Defendant {
  std::string family, name, trap;
  bool bad = false;
  known_bad::Labels rejected_for;  // on the device at hand
  bool tried_here = true;
  std::function<Judgement(int cases)> judge;

  std::string full_name() const { return family + "/" + name; }
};

struct Row {
  Defendant defendant;
  Judgement judgement;
};
std::vector<Row>& rows() {
  static std::vector<Row> rows;
  return rows;
}

template <class Launcher, class Implementation>
Judgement judge(Launcher* launch, const std::vector<properties::Law<Implementation>>& laws, int cases) {
  Judgement judgement;
  for (const auto& law : laws) {
    PropertyOptions options;
    options.cases = std::max(cases / law.cost, 1);
    const PropertyResult result = law.judge(*launch, options);
    judgement.cases += result.cases;
    if (result.held || result.not_applicable) continue;  // a law that needs more than the device has judges nobody
    judgement.cases = result.cases;
    judgement.law = law.name;
    judgement.label = result.failure.label();
    judgement.minimal_case = result.minimal_case;
    judgement.message = result.failure.message;
    if (result.not_run) judgement.label = "not run", judgement.message = *result.not_run;
    break;
  }
  return judgement;
}

void bring_to_court(const Defendant& d) {
  // Without a device every kernel would be rejected, some even for a label that is theirs.
  ASSERT_EQ(device_error(), "") << "no device to judge on";
  if (!d.tried_here) {
    const CaseOutcome clause = run_case([] { require_capability({.capability = Capability::kSimulator}); });
    current_record().verdict = Verdict::kNotApplicable;
    current_record().reason = clause.not_applicable.value();
    GTEST_SKIP() << "not applicable: " << current_record().reason;
  }
  const Judgement j = d.judge(d.bad ? kCasesToReject : kCasesToAccept);
  rows().push_back({d, j});
  current_record().cases = j.cases;
  const bool as_it_should =
      d.bad ? std::ranges::find(d.rejected_for, j.label) != d.rejected_for.end() : j.label == kAccepted;
  EXPECT_TRUE(as_it_should) << fmt::format(
      "{} ({}) must be {}, but was {} {} after {} cases\n  minimal case: {}\n{}", d.full_name(), d.trap,
      d.bad ? "rejected for " + fmt::format("{}", fmt::join(d.rejected_for, " or ")) : kAccepted, j.label,
      j.law.empty() ? "" : "by " + j.law, j.cases, j.minimal_case, j.message);
}

template <class Launcher, class Implementation>
void summon(const std::string& family, const std::vector<known_bad::Suspect<Launcher>>& suspects,
            const std::vector<properties::Law<Implementation>>& laws) {
  for (const auto& s : suspects) {
    const Defendant d = {.family = family,
                         .name = s.name,
                         .trap = s.trap,
                         .bad = s.is_bad(),
                         .rejected_for = is_simulator() ? s.rejected_for : s.on_silicon,
                         .tried_here = is_simulator() || s.simulator_only.empty(),
                         .judge = [&s, &laws](int cases) { return judge(s.launch, laws, cases); }};
    class Trial : public ::testing::Test {
     public:
      explicit Trial(Defendant d) : d_(std::move(d)) {}
      void TestBody() override { bring_to_court(d_); }

     private:
      const Defendant d_;
    };
    ::testing::RegisterTest(d.bad ? "KnownBad" : "KnownGood", (family + "_" + s.name).c_str(), nullptr, nullptr,
                            __FILE__, __LINE__, [d]() -> ::testing::Test* { return new Trial(d); });
  }
}

class Table : public ::testing::Environment {
 public:
  void TearDown() override {
    fmt::print("\n{:<36} {:<58} {:<28} {:>6}  {}\n", "kernel", "trap", "rejected for", "cases", "minimal case");
    for (const auto& [d, j] : rows()) {
      fmt::print("{:<36} {:<58} {:<28} {:>6}  {}\n", d.full_name(), d.trap, j.label, j.cases, j.minimal_case);
    }
    const auto bad = std::ranges::count_if(rows(), [](const Row& r) { return r.defendant.bad; });
    fmt::print("\n{} known-bad kernels and {} known-good twins judged\n", bad, rows().size() - bad);
  }
};

const bool registered = [] {
  ::testing::AddGlobalTestEnvironment(new Table);
  summon("stencil", known_bad::stencil_suspects(), properties::stencil_laws());
  summon("shuffle", known_bad::shuffle_suspects(), properties::shuffle_laws());
  summon("histogram", known_bad::histogram_suspects(), properties::histogram_laws());
  summon("ray_tracer", known_bad::ray_tracer_suspects(), properties::ray_tracer_laws());
  summon("matmul", known_bad::matmul_suspects(), properties::matmul_laws());
  summon("staging", known_bad::staging_suspects(), properties::staging_laws());
  summon("memory_spaces", known_bad::memory_space_suspects(), properties::memory_space_laws());
  summon("memory_access", known_bad::memory_access_suspects(), properties::memory_access_laws());
  return true;
}();

}  // namespace
}  // namespace lockstep
