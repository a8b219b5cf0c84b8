// One simulated GPU for all inputs of a process, with the buffers for their kernels.
#pragma once

#include <cstdint>

#include "simulator/engine/launch/launch.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::fuzz {

class Machine {
 public:
  // Allocates new buffers for every input, so that an input sees nothing of the previous one.
  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  static constexpr std::uint64_t kWritten = 4096, kUnwritten = 256;  // bytes
  static memory::DeviceMemory& memory();
  memory::Address written() const { return written_; }
  memory::Address unwritten() const { return unwritten_; }
  memory::Address freed() const { return freed_; }

  // Launches `kernel`, unless it exceeds a limit of the device for which the runtime would refuse
  // it. Parameters of eight bytes or more are the addresses of the buffers, in turn.
  void launch(const engine::Kernel& kernel, engine::LaunchConfig config) const;

 private:
  memory::Address written_, unwritten_, freed_;
};

}  // namespace lockstep::fuzz
