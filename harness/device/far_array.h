// Device memory in parts that lie far apart in one range of addresses, with no memory between them:
// an offset of more than 32 bits at the cost of a few pages, on the simulated GPU as on silicon
// (virtual memory management, CUDA driver API 6.14).
//
//   FarArray image("image", {{0, 4 * width}, {pitch, 4 * width}});   // two rows
//   image.write(pitch, row);
//   ... launch with image.data() and pitch ...
//   image.read(pitch, 4 * width);
//
// The simulated GPU reports an access outside of the parts, except between parts of one page of
// 2 MiB or of neighbouring pages. Lives inside a running case. Too little device memory ends the
// property as NOT_RUN; any other CUDA error fails the case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

class FarArray {
 public:
  struct Part {
    std::uint64_t begin = 0, bytes = 0;  // from data() on
  };
  // What the driver maps is a multiple of it.
  static constexpr std::uint64_t kPage = std::uint64_t{2} << 20;

  // Bytes from the first part to the end of the last that can be had here: 2^38, or the largest
  // power of two below for which there are addresses (a process under ThreadSanitizer has few).
  static std::uint64_t widest();

  // Of the current device. data() is aligned to 256 bytes and `shift` more, which is below 256.
  FarArray(std::string name, const std::vector<Part>& parts, std::size_t shift = 0);
  ~FarArray();
  FarArray(const FarArray&) = delete;
  FarArray& operator=(const FarArray&) = delete;

  unsigned char* data() const { return reinterpret_cast<unsigned char*>(begin_ + shift_); }
  void write(std::uint64_t at, const unsigned char* bytes, std::size_t count);
  // To the simulated GPU nobody has written these bytes.
  void mark_unwritten(std::uint64_t at, std::size_t count);
  // Waits for the device.
  void read(std::uint64_t at, unsigned char* bytes, std::size_t count) const;

 private:
  struct Pages {
    std::uint64_t begin, bytes;  // from begin_ on
  };
  void map(const Pages& pages, int device);
  void release();

  std::string name_;
  std::uint64_t begin_ = 0, reserved_ = 0, shift_ = 0;
  std::vector<Pages> mapped_;
};

}  // namespace lockstep
