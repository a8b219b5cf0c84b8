// Device memory for cases with large addresses: a kernel accesses a few short ranges, far apart,
// and only these are filled and read. On the simulated GPU the rest costs nothing; on silicon the
// device must have all of the memory.
//
//   SparseArray image("image", far + near);            // bytes
//   image.fill(far, near);                             // poison, also around the kernel's range
//   ... launch ...
//   image.read(far, near)
//
// Exists inside a running case. Without enough device memory the property ends as NOT_RUN; any
// other CUDA error fails the case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

class SparseArray {
 public:
  static constexpr unsigned char kUntouched = 0xa5;

  SparseArray(std::string name, std::size_t bytes);
  ~SparseArray();
  SparseArray(const SparseArray&) = delete;
  SparseArray& operator=(const SparseArray&) = delete;

  unsigned char* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Writes `contents`, or `count` bytes `value`, at offset `at`. Throws std::logic_error past the
  // end.
  void write(std::size_t at, const std::vector<unsigned char>& contents);
  void fill(std::size_t at, std::size_t count, unsigned char value = kUntouched);
  // Waits for the device.
  std::vector<unsigned char> read(std::size_t at, std::size_t count) const;

  // The same for elements of a plain type; `at` is in bytes.
  template <class T>
  void write_elements(std::size_t at, const std::vector<T>& elements) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(elements.data());
    write(at, {bytes, bytes + elements.size() * sizeof(T)});
  }
  template <class T>
  std::vector<T> read_elements(std::size_t at, std::size_t count) const {
    const std::vector<unsigned char> bytes = read(at, count * sizeof(T));
    const auto* const elements = reinterpret_cast<const T*>(bytes.data());
    return {elements, elements + count};
  }

 private:
  void check(std::size_t at, std::size_t count) const;

  std::string name_;
  std::size_t size_ = 0;
  unsigned char* data_ = nullptr;
};

}  // namespace lockstep
