// A GPU accessed through the driver's library, which is loaded at run time: building this needs
// nothing of CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

class Device {
 public:
  // Opens the first GPU of the machine. Throws std::runtime_error if there is none of compute
  // capability 9.0.
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  const std::string& name() const { return name_; }

  // A stream and memory for `programs` at a time.
  class Lane {
   public:
    Lane(Device& device, std::size_t programs);
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    struct Outcome {
      std::string error;       // of the driver; the memory of all programs is then lost
      bool hangs = false;      // the time limit was exceeded: this process can do nothing more
      std::size_t failed = 0;  // in both cases: the program that was running
      std::vector<std::uint64_t> digests;  // by program: digest() of its Layout
    };
    // Runs the kernels of a module with these programs, except the skipped ones.
    Outcome run(std::span<const Program> programs, std::span<const std::uint8_t> skipped,
                const std::string& cubin, int milliseconds);
    // The memory that program `n` of the last run left.
    std::vector<std::uint8_t> memory(const Program& program, std::size_t n);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Driver;
  std::unique_ptr<Driver> driver_;
  std::string name_;
};

}  // namespace lockstep::fuzz::differential
