// Loaded device code that can be changed instruction by instruction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/mutation/mutant.h"

namespace lockstep::engine {

// A mutant of a loaded module that can replace the module and be replaced by it again.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // Swaps the mutant and the module. While the mutant is active, only kernels of the module for
  // which is_of() is true may be launched. Throws std::logic_error while a launch of the module is
  // under way (running.h).
  virtual void exchange() = 0;
  // Whether the mutant includes this kernel, that is, whether the kernel can reach the changed
  // instruction.
  virtual bool is_of(const Kernel& kernel) const = 0;
};

// A kernel that computes mutants' values beside its own (mutation/watch.h). A launch of it leaves
// what the unchanged kernel leaves, but executes more instructions.
struct WatchedKernel {
  std::unique_ptr<Exchange> code;
  struct Mutant {
    bool watched = false;
    bool keeps_initialisation = false;
    std::vector<std::uint32_t> pcs;  // kExecuted if the mutant would have differed in some thread
  };
  std::vector<Mutant> mutants;  // by place
  // By program counter of this kernel: the instruction of the unchanged kernel; ~0u: none.
  std::vector<std::uint32_t> instructions;
};

// The texts of one module, parsed again for mutation.
class MutableCode {
 public:
  virtual ~MutableCode() = default;

  // All mutants, in the order of the texts.
  virtual std::vector<mutation::Mutant> mutants() const = 0;

  // The places of the instructions that a launch reached, whatever their guards were. `ran`:
  // LaunchConfig::ran of a launch of `kernel`, whose module must have been loaded from these texts.
  virtual std::vector<mutation::Place> reached(const Kernel& kernel,
                                               std::span<const std::uint8_t> ran) const = 0;

  // Turns `module` into the mutant. It must have been loaded from these texts into `memory`. Its
  // kernels stay, and its variables keep their values. Returns an error message if this is
  // impossible; the module is then unchanged.
  virtual std::string mutate(const mutation::Place& place, Module& module,
                             memory::DeviceMemory& memory, int device,
                             RegisterPlaces places) const = 0;

  // Builds the same mutant beside the module, for launches of single kernels. This is faster than
  // mutate(), since other kernels are not compiled. Returns nullptr if the program could see the
  // change without a launch (in a kernel's shared or local memory), or if the mutant does not
  // compile; `why` is then the reason.
  virtual std::unique_ptr<Exchange> prepare(const mutation::Place& place, Module& module,
                                            memory::DeviceMemory& memory, int device,
                                            RegisterPlaces places, std::string* why) = 0;

  // Builds the kernel that watches the mutants at `places`, all of one kernel, beside the module.
  // nullopt if it does not compile.
  virtual std::optional<WatchedKernel> watch(std::span<const mutation::Place> places,
                                             Module& module, memory::DeviceMemory& memory,
                                             int device, RegisterPlaces registers) = 0;

  // For each place: the operations of `module` that belong to it, with program counters as in
  // LaunchConfig::ran, and their kernel. `kernel` is empty for a function that kernels call.
  // `module` must have been loaded from these texts.
  struct Operations {
    std::string kernel;
    std::vector<std::uint32_t> pcs;
  };
  virtual std::vector<Operations> operations(const Module& module,
                                             std::span<const mutation::Place> places) const = 0;
};

// Whether code of the kernel's module may allocate or free memory. Such a launch cannot be undone
// by restoring the contents of memory.
bool allocates(const Kernel& kernel);

// Parses texts that load_module has accepted.
std::unique_ptr<MutableCode> parse_again(std::span<const std::string_view> texts);

}  // namespace lockstep::engine
