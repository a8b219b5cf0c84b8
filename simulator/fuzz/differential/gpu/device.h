// A GPU through the driver's library, which is loaded at run time: nothing of CUDA is needed to
// build this.
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
  // The first GPU of the machine. Throws std::runtime_error when there is none of compute
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
      std::string error;       // of the driver; the memory of all programs is lost with it
      bool hangs = false;      // after the time limit: nothing more can be done in this process
      std::size_t failed = 0;  // after either: the program that was running
      std::vector<std::uint64_t> digests;  // by program: digest() of its Layout
    };
    // Runs the kernels of a module of these programs, but for those to be skipped.
    Outcome run(std::span<const Program> programs, std::span<const std::uint8_t> skipped,
                const std::string& cubin, int milliseconds);
    // What the n-th program of the last run left behind.
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
