// A campaign of many random programs, one after another on each host thread. Records what differed,
// and how many programs contained each row of the table.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulator/fuzz/differential/choices.h"
#include "simulator/fuzz/differential/compare.h"
#include "simulator/fuzz/differential/generator.h"

namespace lockstep::fuzz::differential {

struct Plan {
  std::uint64_t programs = 0;  // 0: until the time is up
  std::chrono::steady_clock::duration time = std::chrono::hours(24);
  std::uint64_t seed = 1;
  int jobs = 2;
  bool silicon = false;
  std::size_t most_mismatches = 20;  // the campaign ends after this many
};

struct Mismatch {
  std::uint64_t number = 0;  // Recipe::number
  Judgement judgement;
  Program program;  // reduced
  std::string ptx;  // of the reduced program
};

struct Tally {
  std::uint64_t programs = 0, referenced = 0, thread_instructions = 0;
  std::vector<std::uint64_t> rows;  // by row of the table: the number of programs that contain it
  std::vector<Mismatch> mismatches;
  double seconds = 0;
};

// possible_rows(): rows that can be in a program. rows_below(): those of them that fewer than
// `least` programs contained.
std::vector<int> possible_rows(bool silicon);
std::vector<int> rows_below(const Tally& tally, std::uint64_t least, bool silicon);

// A row that few programs have contained so far, or -1. Most programs are generated for one row.
int wanted_row(Choices& choose, const std::vector<std::uint64_t>& rows,
               const std::vector<int>& possible);

// Runs a campaign. `progress` is called about every ten seconds.
Tally run(const Plan& plan, const std::function<void(const Tally&)>& progress);

// Reduces a program while the same voter differs.
Mismatch minimised(const Recipe& recipe, const Judgement& judgement, Simulator& simulator);

}  // namespace lockstep::fuzz::differential
