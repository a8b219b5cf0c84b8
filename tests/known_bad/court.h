// Every known-bad kernel must be rejected for its stated reason, and every known-good twin accepted, by the same laws
// that prove the real ones. Each suspect's trial is a gtest test, KnownBad.<family>_<name> or
// KnownGood.<family>_<name>; the program closes with a table of all verdicts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/device.h"
#include "harness/property.h"
#include "properties/law.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

// The cases of each law. A suspect meets all laws with a few cases first, for most mistakes show at once though perhaps
// only to the last law; the most are enough for the rarest trap (a size past 2^16).
inline constexpr std::array kRoundsToReject = {40, 300, 2000};
// What a twin must stand.
inline constexpr std::array kRoundsToAccept = {100};
// Spent on the minimal case at most: where a mistake needs many elements to show, each run takes its time.
inline constexpr double kShrinkSeconds = 3;

inline constexpr char kAccepted[] = "accepted";

// What the laws found: the first law that does not hold, or none.
struct Judgement {
  std::string law, label = kAccepted, minimal_case, message;
  std::uint64_t cases = 0;  // of all laws together
};

// A suspect of any family.
struct Defendant {
  std::string family, name, trap;
  bool bad = false;
  Labels rejected_for;  // on the device at hand
  bool tried_here = true;
  std::string not_tried;  // why silicon cannot show it
  std::function<Judgement(std::span<const int> rounds)> judge;

  std::string full_name() const { return family + "/" + name; }
};

// Registers the defendant's trial.
void bring_to_court(Defendant defendant);

template <class Launcher, class Implementation>
Judgement judge(Launcher* launch, const properties::Laws<Implementation>& laws,
                std::span<const int> rounds) {
  Judgement judgement;
  for (const int cases : rounds) {
    for (const auto& law : laws) {
      PropertyOptions options;
      options.cases = std::max(cases / law.options.cost, 1);
      options.max_shrink_seconds = kShrinkSeconds;
      const PropertyResult result = law.judge(law.name, *launch, options);
      judgement.cases += result.cases;
      if (result.held || result.not_applicable) continue;  // a law that needs more than the device has judges nobody
      judgement.law = law.name;
      judgement.label = result.failure.label();
      judgement.minimal_case = result.minimal_case;
      judgement.message = result.failure.message;
      if (result.not_run) judgement.label = "not run", judgement.message = *result.not_run;
      return judgement;
    }
  }
  return judgement;
}

// Registers the trials of a family. Returns true, so that a file can call it before main().
template <class Launcher, class Implementation>
bool summon(const std::string& family, const Suspects<Launcher>& suspects,
            const properties::Laws<Implementation>& laws) {
  for (const auto& s : suspects) {
    bring_to_court({.family = family,
                    .name = s.name,
                    .trap = s.trap,
                    .bad = s.is_bad(),
                    .rejected_for = is_simulator() ? s.rejected_for : s.on_silicon,
                    .tried_here = is_simulator() || s.simulator_only.empty(),
                    .not_tried = s.simulator_only,
                    .judge = [launch = s.launch, laws](std::span<const int> rounds) { return judge(launch, laws, rounds); }});
  }
  return true;
}

}  // namespace lockstep::known_bad
