// A text of the operations that this process has executed, from which another process can repeat
// them: lockstepTranscribe and lockstepTakeTranscript (simulator/extension.h describes the format).
//
// An operation is added when it is executed, after the changes of code and memory since the
// operation before it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "simulator/memory/device_memory.h"
#include "simulator/runtime/work/pending.h"

namespace lockstep::runtime {

// All functions are called under the device lock.
class Transcript {
 public:
  bool is_on() const { return on_; }
  void turn(bool on) { on_ = on; }
  // Call when the operation is executed.
  void add(Runtime& runtime, const Device& device, const Pending& p);
  // The text since the last call, including the latest changes of memory and code.
  std::string take(Runtime& runtime);

 private:
  void add_changes(Runtime& runtime);
  void add_event(const std::string& fields);
  void add_launch(Runtime& runtime, const Device& device, const KernelWork& work);
  void add_copy(const Runtime& runtime, const CopyWork& work);
  void add_fill(const FillWork& work);

  bool on_ = false;
  std::string text_;
  std::uint64_t generation_ = ~std::uint64_t{0};  // of memory, when it was last examined
  std::set<memory::Address> placed_;
  std::set<std::uint64_t> loaded_;  // by FatBinary::Loaded::number
};

// The transcript of the process.
Transcript& transcript();

}  // namespace lockstep::runtime
