// Judges one program here: by the reference, and by running it in all the ways that must make no
// difference.
#pragma once

#include <string>

#include "simulator/fuzz/differential/program.h"
#include "simulator/fuzz/differential/simulate.h"

namespace lockstep::fuzz::differential {

struct Judgement {
  // The voter that differs, a word: "reference", "registers", "schedule", "threads", "checks",
  // "target 100"; "finding" when checks reject the program, "refused" when it does not load. Empty:
  // all agree.
  std::string voter;
  std::string detail;  // the first word that differs and what it stands for, or the findings
};

// Runs it under so many schedules beside the ordinary one.
Judgement judge(const Program& program, Simulator& simulator, std::uint64_t schedules = 2);

// "block 1, thread 3: r4 is 00000001, by the reference 00000002".
std::string first_difference(const Program& program, const std::vector<std::uint8_t>& a,
                             const std::vector<std::uint8_t>& b, const std::string& voter);

}  // namespace lockstep::fuzz::differential
