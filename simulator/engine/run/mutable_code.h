// Device code that can be changed, instruction by instruction, while it is loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/mutation/mutant.h"

namespace lockstep::engine {

// A mutant of a loaded module that can take its place and give it back.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // Puts the mutant in the module's place, or the module back. While the mutant is there, only
  // those of the module's kernels may be launched for which is_of() is true. Throws
  // std::logic_error while a launch of the module is under way (running.h).
  virtual void exchange() = 0;
  // Whether the mutant has this kernel: one that can come to the changed instruction.
  virtual bool is_of(const Kernel& kernel) const = 0;
};

// The texts of one module, parsed once more.
class MutableCode {
 public:
  virtual ~MutableCode() = default;

  // Every mutant, in the order of the texts.
  virtual std::vector<mutation::Mutant> mutants() const = 0;

  // The instructions that a launch came to, whatever their guards said: their places, without an
  // edit. `ran`: LaunchConfig::ran of a launch of `kernel`, which is of a module that was loaded
  // from these texts.
  virtual std::vector<mutation::Place> reached(const Kernel& kernel,
                                               std::span<const std::uint8_t> ran) const = 0;

  // Turns `module`, which was loaded from these texts into `memory`, into the mutant: its kernels
  // stay, and its variables with what they hold. Why that cannot be, if it cannot: then the module
  // is as it was.
  virtual std::string mutate(const mutation::Place& place, Module& module,
                             memory::DeviceMemory& memory, int device,
                             RegisterPlaces places) const = 0;

  // The same mutant beside the module, for launches of a kernel one by one: quicker to make, since
  // of other kernels nothing is compiled. Nothing, where the program could see the change without a
  // launch: in a kernel's shared or local memory. `why`: the reason when the mutant cannot be
  // compiled.
  virtual std::unique_ptr<Exchange> prepare(const mutation::Place& place, Module& module,
                                            memory::DeviceMemory& memory, int device,
                                            RegisterPlaces places, std::string* why) = 0;

  // By place: the operations of `module`, which was loaded from these texts, that belong to it, as
  // LaunchConfig::ran counts them; and the kernel whose they are, empty where it is a function that
  // kernels call.
  struct Operations {
    std::string kernel;
    std::vector<std::uint32_t> pcs;
  };
  virtual std::vector<Operations> operations(const Module& module,
                                             std::span<const mutation::Place> places) const = 0;
};

// Whether code of the kernel's module may allocate or free memory, so that a launch cannot be taken
// back by putting back what memory held.
bool allocates(const Kernel& kernel);

// Of texts that load_module has accepted.
std::unique_ptr<MutableCode> parse_again(std::span<const std::string_view> texts);

}  // namespace lockstep::engine
