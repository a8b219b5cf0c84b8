// The simulated GPU of a process, shared by all inputs, with buffers for their kernels.
#pragma once

#include <cstdint>

#include "simulator/engine/launch/launch.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::fuzz {

class Machine {
 public:
  // Buffers are created anew for every input, so that inputs do not influence each other.
  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  static constexpr std::uint64_t kWritten = 4096, kUnwritten = 256;  // bytes
  static memory::DeviceMemory& memory();
  memory::Address written() const { return written_; }
  memory::Address unwritten() const { return unwritten_; }
  memory::Address freed() const { return freed_; }

  // Launches `kernel` unless it needs more than a device has, which the runtime would refuse.
  // Parameters of eight bytes and more are filled with the addresses of the buffers, in turn.
  void launch(const engine::Kernel& kernel, engine::LaunchConfig config) const;

 private:
  memory::Address written_, unwritten_, freed_;
};

}  // namespace lockstep::fuzz
