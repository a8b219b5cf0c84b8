// Judges one program without a GPU: by the reference, and by running it in all the ways that must
// give the same result.
#pragma once

#include <string>

#include "simulator/fuzz/differential/program.h"
#include "simulator/fuzz/differential/simulate.h"

namespace lockstep::fuzz::differential {

struct Judgement {
  // The name of the voter that differs: "reference", "registers", "schedule", "threads", "checks",
  // "target 100". "finding" if checks reject the program, "refused" if it does not load. Empty: all
  // agree.
  std::string voter;
  std::string detail;  // the first word that differs and its meaning, or the findings
};

// Also runs the program under `schedules` seeded schedules.
Judgement judge(const Program& program, Simulator& simulator, std::uint64_t schedules = 2);

// "block 1, thread 3: r4 is 00000001, by the reference 00000002".
std::string first_difference(const Program& program, const std::vector<std::uint8_t>& a,
                             const std::vector<std::uint8_t>& b, const std::string& voter);

}  // namespace lockstep::fuzz::differential
