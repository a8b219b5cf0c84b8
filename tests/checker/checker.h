// Pairs of kernels, one with a planted mistake and one without, that differ in nothing else.
//
// A pair is one kernel template over `bool faulty` and the host code that launches it:
//
//   template <bool faulty>
//   __global__ void past_the_end(int* y, int n) {
//     const int i = threadIdx.x;
//     if (i < n + faulty) y[i] = i;  // FAULT past_the_end
//   }
//   PAIR(past_the_end, "out-of-bounds") {
//     Buffer<int> y(32);
//     past_the_end<faulty><<<1, 64>>>(y, 32);
//   }
//
// PAIR_ON defines a pair in one line.
//
// The comment FAULT marks the line of the finding; checker_test reads it from the source. A comment
// on a line of its own marks the statement that follows. Several lines may bear the name of one
// pair. Each finding must be at one of these lines, and so must the other access of a race. The
// correct kernel is the negative control: it must have no finding except information of the pair's
// kind.
//
// All of this must hold under every schedule. The first kind is that of the default schedule. If a
// mistake is reported differently under other schedules, the pair names further kinds, as in "race,
// mbarrier-misuse".
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace lockstep::checker {

struct Pair {
  // The path of the .cu, as passed to the compiler.
  const char* file;
  const char* name;
  // The kind of the faulty kernel's finding. After commas: further kinds, under other schedules.
  const char* kind;
  void (*faulty)();
  void (*correct)();
  // The kind of the correct kernel's information; nullptr if it has none.
  const char* information;
};

std::vector<Pair>& pairs();
bool add(Pair pair);

// Device memory, freed at the end of the scope. Unwritten, or filled with the byte `fill`.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) { cudaMalloc(&data_, count * sizeof(T)); }
  Buffer(std::size_t count, int fill) : Buffer(count) {
    cudaMemset(data_, fill, count * sizeof(T));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  operator T*() const { return data_; }
  // Copies the whole buffer to the host.
  void fetch() const {
    std::vector<T> host(count_);
    cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// Enables the leak check during its lifetime. Allocations made before it are not leaks of this
// pair.
class LookForLeaks {
 public:
  LookForLeaks();
  ~LookForLeaks();

 private:
  unsigned before_;
};

// Enables a check that is off by default, during its lifetime.
class Strict {
 public:
  explicit Strict(unsigned check);
  ~Strict();

 private:
  unsigned before_;
};
struct StrictBarriers : Strict {
  StrictBarriers() : Strict(1u << 5) {}
};
struct StrictProxies : Strict {
  StrictProxies() : Strict(1u << 8) {}
};

}  // namespace lockstep::checker

// A pair whose kernel gets a buffer, and then more arguments:
//   PAIR_ON(past_the_end, "out-of-bounds", (1, 64), Buffer<int>(32), 32)
// launches past_the_end<faulty><<<1, 64>>>(the buffer, 32).
#define PAIR_ON(name, kind, launch, buffer, ...)                                            \
  PAIR(name, kind) {                                                                        \
    const auto& only = buffer;                                                              \
    name<faulty><<<LOCKSTEP_WITHOUT_PARENTHESES launch>>>(only __VA_OPT__(, ) __VA_ARGS__); \
  }
// PAIR_ON with two buffers.
#define PAIR_ON_TWO(name, kind, launch, one, other, ...)                               \
  PAIR(name, kind) {                                                                   \
    const auto& x = one;                                                               \
    const auto& y = other;                                                             \
    name<faulty><<<LOCKSTEP_WITHOUT_PARENTHESES launch>>>(x, y __VA_OPT__(, ) __VA_ARGS__); \
  }
#define LOCKSTEP_WITHOUT_PARENTHESES(...) __VA_ARGS__
// The host code of the pair follows, as the body of a function template over `bool faulty`.
#define PAIR(name, kind) LOCKSTEP_PAIR(name, kind, nullptr)
// A pair whose correct kernel is legal but causes information.
#define PAIR_WITH_INFORMATION(name, kind) LOCKSTEP_PAIR(name, kind, kind)
#define LOCKSTEP_PAIR(name, kind, information)                                    \
  template <bool faulty>                                                          \
  void run_##name();                                                              \
  static const bool added_##name = ::lockstep::checker::add(                      \
      {__FILE__, #name, kind, run_##name<true>, run_##name<false>, information}); \
  template <bool faulty>                                                          \
  void run_##name()
