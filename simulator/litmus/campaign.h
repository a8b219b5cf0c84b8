// Runs many random litmus programs on the simulated GPU and compares the results with the oracle.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "simulator/litmus/compare.h"
#include "simulator/litmus/generator.h"

namespace lockstep::litmus {

struct Plan {
  std::uint64_t programs = 2'000;
  // The index of the first program in the sequence. Fifty programs form a module, and a program's
  // index in its module influences a schedule. A multiple of fifty gives the same modules as 0.
  std::uint64_t first = 0;
  std::uint64_t seed = 1;
  int schedules = 4;            // of each program: the deterministic one, and others
  int jobs = 1;                 // host threads
  std::size_t most_shown = 20;  // reduced differences to show, each of another shape
};

struct Found {
  std::uint64_t place = 0;   // index in the sequence
  std::uint64_t number = 0;  // argument of random_program()
  Difference difference;
  Program program;  // reduced
};

struct Tally {
  std::uint64_t programs = 0, runs = 0, blocking = 0, too_large = 0, steps = 0;
  // By placement, space and verdict (kRace, kFree, kMixed).
  std::array<std::array<std::array<std::uint64_t, 3>, kSpaces>, kPlacements> verdicts{};
  // By placement, space and fault: faults that no rule explains.
  std::array<std::array<std::array<std::uint64_t, kFaults>, kSpaces>, kPlacements> faults{};
  std::map<std::string, std::array<std::uint64_t, kFaults>> by_rule;  // faults that a rule explains
  std::vector<Found> found;
  std::uint64_t unexplained() const;
};

// The seeds of `n` schedules: 0 and others.
std::vector<std::uint64_t> schedules(int n);

// The same plan always runs the same programs, whatever `jobs`. Calls `progress` every few seconds.
Tally run(const Plan& plan, const std::function<void(const Tally&)>& progress = {});

// A program's operations and places without its values.
std::string shape(const Program& p);

}  // namespace lockstep::litmus
