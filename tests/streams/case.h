// Programs with one missing ordering between operations, and their repaired twins.
//
// A case is one function over `bool mistake`. With the mistake, two operations that access the same
// bytes are unordered; without it, they are ordered. Both programs differ in nothing else:
//
//   CASE("kernels", two_streams, "produce", "consume") {
//     Ints x(0), y(0);
//     Stream a, b;
//     produce<<<1, kN, 0, a>>>(x, 7, spin);
//     consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
//     want(y.holds(7));
//   }
//
// The two strings after the name are the sides of the race. A finding must contain one of them for
// each side: the name of a kernel or a call; `|` separates alternatives. want() records whether the
// result was right. On a GPU the first operation lasts 20 ms, so that the result is wrong if the
// second one can overtake it. On the simulated GPU it does not wait.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace lockstep::streams {

struct Case {
  const char* kind;
  const char* name;
  const char* first;
  const char* second;
  void (*run)(bool mistake);
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

// The time that a kernel waits before its work, in clocks; set by main.
inline long long spin = 0;
// Whether every result of the case so far was right.
inline bool right = true;
inline void want(bool result) { right = right && result; }

// The number of threads of a block and of elements of an array.
constexpr int kN = 64;
constexpr size_t kBytes = kN * sizeof(int);

class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamDefault, int priority = 0) {
    cudaStreamCreateWithPriority(&stream_, flags, priority);
  }
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  // Destroys it before the end of the scope.
  void destroy() {
    cudaStreamDestroy(stream_);
    stream_ = nullptr;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { cudaEventCreateWithFlags(&event_, cudaEventDisableTiming); }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }
  // Destroys it before the end of the scope.
  void destroy() {
    cudaEventDestroy(event_);
    event_ = nullptr;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// A vector whose element i is value + i.
inline std::vector<int> from(int value, int n = kN) {
  std::vector<int> all(n);
  for (int i = 0; i < n; ++i) all[i] = value + i;
  return all;
}

// Device memory whose element i is value + i. The constructor returns when the device is idle.
class Ints {
 public:
  explicit Ints(int value, int n = kN) : n_(n) {
    cudaMalloc(&data_, n * sizeof(int));
    const std::vector<int> host = from(value, n);
    cudaMemcpy(data_, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
  }
  ~Ints() { cudaFree(data_); }
  Ints(const Ints&) = delete;
  Ints& operator=(const Ints&) = delete;
  operator int*() const { return data_; }
  // Synchronises the device and returns whether element i is value + i.
  bool holds(int value) const { return fetch() == from(value, n_); }
  std::vector<int> fetch() const {
    std::vector<int> host(n_);
    return cudaDeviceSynchronize() == cudaSuccess &&
                   cudaMemcpy(host.data(), data_, n_ * sizeof(int), cudaMemcpyDeviceToHost) ==
                       cudaSuccess
               ? host
               : std::vector<int>();
  }

 private:
  int* data_ = nullptr;
  int n_;
};

// Pinned host memory whose element i is value + i.
class Pinned {
 public:
  explicit Pinned(int value) {
    cudaHostAlloc(&data_, kBytes, cudaHostAllocMapped);
    for (int i = 0; i < kN; ++i) data_[i] = value + i;
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  operator int*() const { return data_; }
  // Returns whether element i is value + i, without synchronisation.
  bool holds_now(int value) const {
    for (int i = 0; i < kN; ++i)
      if (static_cast<volatile int*>(data_)[i] != value + i) return false;
    return true;
  }
  // Synchronises the device and returns whether element i is value + i.
  bool holds(int value) const { return cudaDeviceSynchronize() == cudaSuccess && holds_now(value); }

 private:
  int* data_ = nullptr;
};

}  // namespace lockstep::streams

#define CASE(kind, name, first, second)                                                   \
  static void name(bool mistake);                                                         \
  static const bool added_##name =                                                        \
      (::lockstep::streams::cases().push_back({kind, #name, first, second, name}), true); \
  static void name(bool mistake)
