// Device memory in parts that lie far apart in one address range, with no memory between them. It
// gives offsets of more than 32 bits at the cost of a few pages, on the simulated GPU as on silicon
// (virtual memory management, CUDA driver API 6.14).
//
//   FarArray image("image", {{0, 4 * width}, {pitch, 4 * width}});   // two rows
//   image.write(pitch, row);
//   ... launch with image.data() and pitch ...
//   image.read(pitch, 4 * width);
//
// The simulated GPU reports an access outside of the parts, unless it is between parts of one 2 MiB
// page or of neighbouring pages. Exists inside a running case. Without enough device memory the
// property ends as NOT_RUN; any other CUDA error fails the case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

class FarArray {
 public:
  struct Part {
    std::uint64_t begin = 0, bytes = 0;  // offset from data()
  };
  // The unit of the driver's mappings.
  static constexpr std::uint64_t kPage = std::uint64_t{2} << 20;

  // The widest range, in bytes, from the first part to the end of the last: 2^38, or the largest
  // smaller power of two that can be reserved (a process under ThreadSanitizer has few addresses).
  static std::uint64_t widest();

  // On the current device. data() is `shift` bytes, 0 to 255, past a 256-byte boundary.
  FarArray(std::string name, const std::vector<Part>& parts, std::size_t shift = 0);
  ~FarArray();
  FarArray(const FarArray&) = delete;
  FarArray& operator=(const FarArray&) = delete;

  unsigned char* data() const { return reinterpret_cast<unsigned char*>(begin_ + shift_); }
  void write(std::uint64_t at, const unsigned char* bytes, std::size_t count);
  // Marks these bytes as unwritten for the simulated GPU.
  void mark_unwritten(std::uint64_t at, std::size_t count);
  // Waits for the device.
  void read(std::uint64_t at, unsigned char* bytes, std::size_t count) const;

 private:
  struct Pages {
    std::uint64_t begin, bytes;  // offset from begin_
  };
  void map(const Pages& pages, int device);
  void release();

  std::string name_;
  std::uint64_t begin_ = 0, reserved_ = 0, shift_ = 0;
  std::vector<Pages> mapped_;
};

}  // namespace lockstep
