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
#include "properties/stencil.h"
#include "tests/known_bad/stencil.h"

namespace lockstep {
namespace {

// Enough for the rarest trap (a size past 2^16), and what a twin must stand in each law.
constexpr int kCasesToReject = 2000;
constexpr int kCasesToAccept = 200;

// What the laws found: the first law that does not hold, or none.
struct Judgement {
  std::string law, label = "accepted", minimal_case, message;
  std::uint64_t cases = 0;
};

// A suspect of any family.
struct Defendant {
  std::string family, name, trap;
  std::vector<std::string> rejected_for;  // here, on this device; empty: must be accepted
  std::string simulator_only;
  bool bad = false;
  std::function<Judgement(int cases)> judge;
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
  PropertyOptions options;
  options.cases = cases;
  Judgement judgement;
  for (const auto& law : laws) {
    const PropertyResult result = law.judge(launch, options);
    judgement.cases += result.cases;
    if (result.held) continue;
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
  if (!is_simulator() && !d.simulator_only.empty()) {
    require_capability({.capability = Capability::kSimulator});
  }
  const Judgement j = d.judge(d.bad ? kCasesToReject : kCasesToAccept);
  rows().push_back({d, j});
  current_record().cases = j.cases;
  if (d.bad) {
    EXPECT_TRUE(std::ranges::find(d.rejected_for, j.label) != d.rejected_for.end())
        << d.family << "/" << d.name << " (" << d.trap << ") must be rejected for "
        << fmt::format("{}", fmt::join(d.rejected_for, " or ")) << ", but " << j.label << " by " << j.law << " after "
        << j.cases << " cases\n  minimal case: " << j.minimal_case << "\n"
        << j.message;
  } else {
    EXPECT_EQ(j.label, "accepted") << d.family << "/" << d.name << " (" << d.trap << ") is right, but " << j.law
                                   << " rejects it\n  minimal case: " << j.minimal_case << "\n"
                                   << j.message;
  }
}

template <class Launcher, class Implementation>
void summon(const std::string& family, const std::vector<known_bad::Suspect<Launcher>>& suspects,
            const std::vector<properties::Law<Implementation>>& laws) {
  for (const auto& s : suspects) {
    const bool bad = !s.rejected_for.empty();
    Defendant d = {family,
                   s.name,
                   s.trap,
                   is_simulator() ? s.rejected_for : s.rejected_on_silicon_for,
                   s.simulator_only,
                   bad,
                   [&s, &laws](int cases) { return judge(s.launch, laws, cases); }};
    ::testing::RegisterTest(bad ? "KnownBad" : "KnownGood", (family + "_" + s.name).c_str(), nullptr, nullptr, __FILE__,
                            __LINE__, [d] {
                              class Trial : public ::testing::Test {
                               public:
                                explicit Trial(const Defendant& d) : d_(d) {}
                                void TestBody() override { bring_to_court(d_); }

                               private:
                                const Defendant& d_;
                              };
                              return new Trial(d);
                            });
  }
}

class Table : public ::testing::Environment {
 public:
  void TearDown() override {
    fmt::print("\n{:<34} {:<74} {:<28} {:>6}  {}\n", "kernel", "trap", "rejected for", "cases", "minimal case");
    for (const auto& [d, j] : rows()) {
      fmt::print("{:<34} {:<74} {:<28} {:>6}  {}\n", d.family + "/" + d.name, d.trap, j.label, j.cases, j.minimal_case);
    }
    const auto bad = std::ranges::count_if(rows(), [](const Row& r) { return r.defendant.bad; });
    fmt::print("\n{} known-bad kernels and {} known-good twins judged\n", bad, rows().size() - bad);
  }
};

const bool registered = [] {
  ::testing::AddGlobalTestEnvironment(new Table);
  summon("stencil", known_bad::stencil_suspects(), properties::stencil_laws());
  return true;
}();

}  // namespace
}  // namespace lockstep
