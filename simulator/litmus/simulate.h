// Runs litmus programs on the simulated GPU, in this process, and returns the races that its checks
// report.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "simulator/litmus/oracle.h"
#include "simulator/litmus/program.h"

namespace lockstep::litmus {

struct Ran {
  bool race = false;
  std::set<Race> races;                 // as reported; the order within a pair has no meaning
  std::vector<std::uint64_t> outcomes;  // as Execution::outcome(), of each copy
  std::string report;                   // the findings, as printed for a user
  std::string trouble;  // it did not run to its end, or there were findings of other kinds
};

class Simulator {
 public:
  Simulator();
  ~Simulator();
  // Loads the programs as one module, which replaces the previous one. Throws std::runtime_error if
  // it is refused.
  void load(std::span<const Program> programs);
  // Runs program `n` of the module. Races do not end it.
  Ran run(std::size_t n, std::uint64_t schedule_seed);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::litmus
