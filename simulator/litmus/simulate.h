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
  std::set<Race> races;                 // as reported; the order of a pair means nothing
  std::vector<std::uint64_t> outcomes;  // as Execution::outcome(), of each copy
  std::string report;                   // the findings, as a user reads them
  std::string trouble;  // it did not run to its end, or there were findings of other kinds
};

class Simulator {
 public:
  Simulator();
  ~Simulator();
  // As one module, in place of the one before. Throws std::runtime_error when it is refused.
  void load(std::span<const Program> programs);
  // Runs the n-th program of the module. Races do not end it.
  Ran run(std::size_t n, std::uint64_t schedule_seed);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::litmus
