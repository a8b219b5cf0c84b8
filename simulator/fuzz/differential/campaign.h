// Many programs, one after another on each host thread: what differed, and which rows of the table
// have stood in how many of them.
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
  std::size_t most_mismatches = 20;  // then it ends
};

struct Mismatch {
  std::uint64_t number = 0;  // Recipe::number
  Judgement judgement;
  Program program;  // made small
  std::string ptx;  // of the small one
};

struct Tally {
  std::uint64_t programs = 0, referenced = 0, thread_instructions = 0;
  std::vector<std::uint64_t> rows;  // programs that hold each row of the table
  std::vector<Mismatch> mismatches;
  double seconds = 0;
};

// Rows that can stand in a program, and of these those that have stood in fewer than `least`.
std::vector<int> possible_rows(bool silicon);
std::vector<int> rows_below(const Tally& tally, std::uint64_t least, bool silicon);

// A row that few programs have held yet, or none: most programs are for one.
int wanted_row(Choices& choose, const std::vector<std::uint64_t>& rows,
               const std::vector<int>& possible);

// `progress` is called every ten seconds or so.
Tally run(const Plan& plan, const std::function<void(const Tally&)>& progress);

// Makes a program small for as long as the same voter differs.
Mismatch minimised(const Recipe& recipe, const Judgement& judgement, Simulator& simulator);

}  // namespace lockstep::fuzz::differential
