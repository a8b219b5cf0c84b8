// What this process has had executed, as text that another process can execute once more:
// lockstepTranscribe and lockstepTakeTranscript (simulator/extension.h has the form).
//
// An operation is written down when it is executed, after the code and the memory that have come
// and gone since the last one.
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
  // The operation is executed now.
  void add(Runtime& runtime, const Device& device, const Pending& p);
  // What was written since the last call, after what memory and code have become.
  std::string take(Runtime& runtime);

 private:
  void add_changes(Runtime& runtime);
  void add_event(const std::string& fields);
  void add_launch(Runtime& runtime, const Device& device, const KernelWork& work);
  void add_copy(const Runtime& runtime, const CopyWork& work);
  void add_fill(const FillWork& work);

  bool on_ = false;
  std::string text_;
  std::uint64_t generation_ = ~std::uint64_t{0};  // of memory, when it was last looked at
  std::set<memory::Address> placed_;
  std::set<std::uint64_t> loaded_;  // by FatBinary::Loaded::number
};

// That of the process.
Transcript& transcript();

}  // namespace lockstep::runtime
