// Compares a launch of a mutant with the same launch unchanged.
//
// A program can see these effects of a launch: the contents of memory, which bytes count as
// written, printed text, findings and, if it asks, counters. If all of them are equal, here and in
// earlier launches, the mutant cannot change the program's course. It need not run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/engine/run/mutable_code.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

// A copy of all memory that a kernel can access.
class MemoryImage {
 public:
  // Returns false if there is more than `most` bytes of it.
  bool take(const memory::DeviceMemory& memory, std::uint64_t most);
  bool equals(const memory::DeviceMemory& memory) const;
  // Restores the contents. The memory's allocations must be those of the image.
  void put_back(const memory::DeviceMemory& memory) const;
  // Releases buffers that only few launches need.
  void forget();

 private:
  struct Piece {
    const memory::Allocation* allocation;
    std::size_t bytes, shadow;  // offsets in contents_
    std::size_t shadow_bytes;
  };
  std::vector<Piece> pieces_;
  std::vector<std::byte> contents_;
};

class Trial {
 public:
  // Runs the launch unchanged and records its results. Returns false if a comparison is impossible:
  // too much memory, device code that may allocate or free memory, findings, or grids that still
  // run. Memory is then restored; otherwise it is as after the launch. `watched`: runs in place of
  // the unchanged kernel, and leaves the same; nullptr: none.
  bool begin(const engine::Kernel& kernel, const engine::LaunchConfig& config,
             memory::DeviceMemory& memory, engine::Exchange* watched);
  // LaunchConfig::ran of the unchanged launch. Valid only after begin() returned true.
  const std::vector<std::uint8_t>& ran() const { return ran_; }
  // The number of warp instructions of the unchanged launch.
  std::uint64_t instructions() const { return unchanged_.outcome.counters.warp_instructions; }
  // Runs the launch with the kernel as it is now. Returns whether the results are the same.
  // `counters`: compares the counters, too. Memory is restored.
  bool leaves_the_same(bool counters);
  // Restores memory to what it was before the launch.
  void undo();
  // If begin()'s launch can stand for the program's launch: brings memory to where it was after it,
  // and returns its outcome. Otherwise memory is restored.
  std::optional<engine::Outcome> adopt();

 private:
  struct Left {
    engine::Outcome outcome;
    std::string printed;
    bool failed = false;  // by an exception
  };
  Left run(std::uint64_t instruction_limit);

  const engine::Kernel* kernel_ = nullptr;
  engine::LaunchConfig config_;
  memory::DeviceMemory* memory_ = nullptr;
  std::vector<std::uint8_t> ran_;
  MemoryImage before_, after_;
  bool undone_ = true;  // memory is as before the launch
  bool tried_ = false;  // mutants have run, and left their accesses in the search for races
  Left unchanged_;
  std::uint64_t instruction_limit_ = 0;
};

}  // namespace lockstep::runtime
