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

// The texts of one module, parsed once more.
class MutableCode {
 public:
  virtual ~MutableCode() = default;

  // Every mutant, in the order of the texts.
  virtual std::vector<mutation::Mutant> mutants() const = 0;

  // The instructions that a launch came to, whatever their guards said: their places, without an edit. `ran`: LaunchConfig::ran of a launch of `kernel`, which
  // is of a module that was loaded from these texts.
  virtual std::vector<mutation::Place> reached(const Kernel& kernel, std::span<const std::uint8_t> ran) const = 0;

  // Turns `module`, which was loaded from these texts into `memory`, into the mutant: its kernels stay, and its variables with what they hold. Why that
  // cannot be, if it cannot: then the module is as it was.
  virtual std::string mutate(const mutation::Place& place, Module& module, memory::DeviceMemory& memory, int device, RegisterPlaces places) const = 0;
};

// Of texts that load_module has accepted.
std::unique_ptr<MutableCode> parse_again(std::span<const std::string_view> texts);

}  // namespace lockstep::engine
