// A campaign of many random litmus programs, each judged by the simulated GPU and by the oracle.
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
  // The first program's place in the sequence. Fifty programs form a module, and their places
  // influence what a schedule does. A multiple of fifty gives the same modules as 0.
  std::uint64_t first = 0;
  std::uint64_t seed = 1;
  int schedules = 4;            // of each program: the deterministic one, and others
  int jobs = 1;                 // host threads
  std::size_t most_shown = 20;  // differences that are reduced, each of another shape
};

struct Found {
  std::uint64_t place = 0;   // in the sequence
  std::uint64_t number = 0;  // of random_program()
  Difference difference;
  Program program;  // reduced
};

struct Tally {
  std::uint64_t programs = 0, runs = 0, blocking = 0, too_large = 0, steps = 0;
  // By placement, space and verdict (kRace, kFree, kMixed).
  std::array<std::array<std::array<std::uint64_t, 3>, kSpaces>, kPlacements> verdicts{};
  // By placement, space and fault: differences that no rule explains.
  std::array<std::array<std::array<std::uint64_t, kFaults>, kSpaces>, kPlacements> faults{};
  std::map<std::string, std::array<std::uint64_t, kFaults>>
      by_rule;  // differences that a rule explains
  std::vector<Found> found;
  std::uint64_t unexplained() const;
};

// The seeds of `n` schedules: 0 and others.
std::vector<std::uint64_t> schedules(int n);

// Runs the same programs for the same plan, whatever `jobs` is. `progress` is called every few
// seconds.
Tally run(const Plan& plan, const std::function<void(const Tally&)>& progress = {});

// The shape of a program: its operations and places, without values.
std::string shape(const Program& p);

}  // namespace lockstep::litmus
