// Memory that the processor executes. No page of it is writable while it can be executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace lockstep::translate {

// A copy of machine code in pages of its own, which are given back with the object.
class MachineCode {
 public:
  MachineCode() = default;
  // Throws std::bad_alloc where the system has no memory or forbids executable pages. The code must
  // not depend on its address.
  explicit MachineCode(std::span<const std::uint8_t> code);
  MachineCode(MachineCode&& other) noexcept { *this = std::move(other); }
  MachineCode& operator=(MachineCode&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MachineCode();

  const std::uint8_t* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::uint8_t* begin_ = nullptr;
  std::size_t bytes_ = 0;  // of the mapping: whole pages
};

// Appends the range to /tmp/perf-PID.map, from which perf takes the names of generated code, if
// LOCKSTEP_PERF_MAP=1 is set.
void name_for_perf(const MachineCode& code, const char* name);

}  // namespace lockstep::translate
