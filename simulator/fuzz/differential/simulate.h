// Runs programs on the simulated GPU, in this process, in all the ways that must give the same
// result.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/fuzz/differential/program.h"
#include "simulator/isa/forms.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::fuzz::differential {

// How a module is loaded.
struct Loading {
  int target = 0;  // 0: the program's own
  engine::RegisterPlaces registers = engine::RegisterPlaces::kShared;
};

// How a kernel is launched.
struct Launching {
  std::uint64_t schedule_seed = 0;
  int host_threads = 1;
  std::uint32_t checks = check::kAllChecks;
  std::set<const isa::FormRow*>* rows =
      nullptr;  // collects the executed rows of the table of forms
};

struct Result {
  std::string error;                 // why it was not loaded, or its findings
  std::vector<std::uint8_t> memory;  // Layout
  bool operator==(const Result&) const = default;
};

class Simulator {
 public:
  Simulator();
  ~Simulator();

  // Loads programs of one target as one module, which replaces the previous one. Returns the reason
  // if it is refused, otherwise an empty string.
  std::string load(std::span<const Program> programs, const Loading& how);
  // Runs program `n` of the module.
  Result run(const Program& program, std::size_t n, const Launching& how);
  std::uint64_t thread_instructions() const { return thread_instructions_; }

 private:
  std::unique_ptr<memory::DeviceMemory> memory_;
  memory::Address input_ = 0, arena_ = 0;
  std::unique_ptr<engine::Module> module_;
  std::uint64_t thread_instructions_ = 0;
};

// Initialises a program's memory before it runs.
void prepare(const Program& program, std::span<std::uint8_t> memory);

// A digest of a memory's contents. A GPU computes it in the same way, one word in each thread.
std::uint64_t digest(std::span<const std::uint8_t> memory);

}  // namespace lockstep::fuzz::differential
