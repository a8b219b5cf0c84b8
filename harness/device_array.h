// Device buffers under the memory contract: guard bytes on both sides, a chosen misalignment, outputs poisoned before the launch, inputs
// checked untouched afterwards. Only the harness makes device buffers.
//
// Buffers belong to the running case. When its body ends, every buffer's guards and every input's bytes are verified, whether the body asked
// or not. On the simulated GPU the guards are out of bounds for kernels (extension.h, lockstepNameBuffer), so reads of them are caught too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/field.h"

namespace lockstep {

// What an output (and every guard) holds before the launch. NaN and huge apply to floating-point elements; for integers they are bit patterns.
enum class Poison : std::uint8_t { kNaN, kHuge, kZeros, kOnes };
Domain<Poison> poisons();

struct Layout {
  int misalignment = 0;           // elements past a 256-byte boundary, 0 ... 31 and more
  Poison poison = Poison::kNaN;
  std::size_t guard_bytes = 4096; // on each side, at least
};

enum class Role : std::uint8_t { kInput, kOutput, kInOut };

template <class T>
class DeviceArray {
 public:
  static DeviceArray input(std::string name, std::span<const T> host, const Layout& layout);
  static DeviceArray output(std::string name, std::size_t count, const Layout& layout);
  static DeviceArray in_out(std::string name, std::span<const T> host, const Layout& layout);

  T* data() const;                // device pointer; valid (and misaligned as asked) for size() == 0 too
  std::size_t size() const;
  std::vector<T> fetch() const;   // synchronises, and copies to the host
  // Indices whose bytes still are the poison; what an unwritten element looks like (a written one may equal it by chance).
  bool holds_poison(std::size_t index, const T& value) const;
  const std::string& name() const;
  void repoison();                // an output, before a second launch of the same case
  // ... moveable, not copyable; the device memory is released with the case
};

}  // namespace lockstep
