// A sampling profile of kernels: host time by instruction and by activity of the simulator.
//
// A separate thread samples every host thread of every launch that has a TimeProfile, about once a
// millisecond. It adds the time since its last sample to the instruction that it finds there. So
// short launches count in proportion. Times are of host threads: two threads that run for a second
// count two seconds.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "simulator/engine/launch/coverage.h"

namespace lockstep::engine {

// What a host thread is doing for an instruction.
enum class Doing : std::uint8_t {
  kLoop,        // chooses warps, fetches instructions, evaluates guards, branches, starts blocks
  kArithmetic,  // computes from registers to registers
  kMemory,      // addresses, bounds, alignment, bytes
  kRaces,       // the search for races
  kInitialisation,   // tracks uninitialised values
  kSynchronisation,  // barriers, fences, waits, and the order that they make
  kNothing,          // not running
};
inline constexpr std::size_t kDoings = static_cast<std::size_t>(Doing::kNothing);
inline constexpr std::array<std::string_view, kDoings> kDoingNames = {
    "loop", "arithmetic", "memory", "races", "initialisation", "synchronisation"};

struct ProfiledInstruction {
  std::string kernel;  // mangled
  std::string text;    // "ld.global.f32"
  int ptx_line = 0;
  SourcePlace source;
  std::array<double, kDoings> seconds{};  // by Doing, of host threads
};

// The sum over all launches that were given this profile. Thread-safe.
class TimeProfile {
 public:
  void add(const ProfiledInstruction& i) {
    const std::lock_guard lock(mutex_);
    ProfiledInstruction& sum =
        instructions_
            .try_emplace({i.kernel, i.ptx_line, i.text},
                         ProfiledInstruction{i.kernel, i.text, i.ptx_line, i.source, {}})
            .first->second;
    for (std::size_t d = 0; d < kDoings; ++d) sum.seconds[d] += i.seconds[d];
  }
  std::vector<ProfiledInstruction> instructions() const {
    const std::lock_guard lock(mutex_);
    std::vector<ProfiledInstruction> all;
    for (const auto& [key, instruction] : instructions_) all.push_back(instruction);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, int, std::string>, ProfiledInstruction> instructions_;
};

}  // namespace lockstep::engine
