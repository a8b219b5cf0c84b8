// Common code of the programs in this folder: names, verdicts, device memory, and deliberate
// mistakes.
//
// Each .cu file is a whole program (`nvcc -std=c++17 -cudart shared nbody.cu`). Several of them
// make one binary, which compiles faster: one translation unit, with the `main` of this header.
//
//   BINARY                      runs all its programs
//   BINARY NAME                 runs one
//   BINARY NAME --mistake=N     runs it with its Nth mistake, from 1
//   BINARY --list               prints the name of each and the number of its mistakes
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct Program {
  const char* name;
  int mistakes;
  bool (*run)(int mistake);  // 0: no mistake
};

inline std::vector<Program>& programs() {
  static std::vector<Program> all;
  return all;
}

inline const char* running = "";

// The body of a program: takes `int mistake` and returns a verdict.
#define PROGRAM(name, mistakes) \
  PROGRAM_NAMED(name, mistakes)  // a macro, so that a binary can rename a program
#define PROGRAM_NAMED(name, mistakes)                                     \
  static bool run_##name(int mistake);                                    \
  static const bool listed_##name =                                       \
      (programs().push_back(Program{#name, mistakes, run_##name}), true); \
  static bool run_##name([[maybe_unused]] int mistake)

#define CUDA(call)                                                                \
  do {                                                                            \
    const cudaError_t error_ = (call);                                            \
    if (error_ != cudaSuccess) {                                                  \
      std::printf("FAIL %s: %s:%d: %s: %s\n", running, __FILE__, __LINE__, #call, \
                  cudaGetErrorName(error_));                                      \
      std::exit(1);                                                               \
    }                                                                             \
  } while (0)

// Prints PASS or FAIL with the text. Fails if a kernel has failed.
inline bool verdict(bool right, const char* format, ...) {
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  std::printf("%s %s: ", right ? "PASS" : "FAIL", running);
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::printf("\n");
  return right;
}

// An array in device memory: of a given size, uninitialised, or a copy of a vector.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t size) : size_(size) { CUDA(cudaMalloc(&data_, size * sizeof(T))); }
  explicit Buffer(const std::vector<T>& from) : Buffer(from.size()) { set(from); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }

  operator T*() const { return data_; }
  T* get() const { return data_; }
  void zero() { CUDA(cudaMemset(data_, 0, size_ * sizeof(T))); }
  void set(const std::vector<T>& from) {
    CUDA(cudaMemcpy(data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  void swap(Buffer& other) { std::swap(data_, other.data_), std::swap(size_, other.size_); }

  std::vector<T> host() const {
    std::vector<T> to(size_);
    CUDA(cudaMemcpy(to.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

// A generator with the same numbers on every platform (Marsaglia's xorshift).
class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 2654435769u + 1) {}
  uint32_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  int below(int n) { return static_cast<int>((*this)() % static_cast<uint32_t>(n)); }
  double unit() { return (*this)() / 4294967296.0; }

 private:
  uint32_t state_;
};

inline int divide_up(int n, int d) { return (n + d - 1) / d; }

int main(int argc, char** argv) {
  if (argc == 2 && !std::strcmp(argv[1], "--list")) {
    for (const Program& p : programs()) std::printf("%s %d\n", p.name, p.mistakes);
    return 0;
  }
  const char* const wanted = argc > 1 ? argv[1] : nullptr;
  const int mistake =
      argc > 2 && !std::strncmp(argv[2], "--mistake=", 10) ? std::atoi(argv[2] + 10) : 0;
  if (argc > 3 || (argc == 3 && mistake < 1))
    return std::fprintf(stderr, "usage: %s [NAME [--mistake=N]]\n", argv[0]), 2;
  bool any = false, right = true;
  for (const Program& p : programs()) {
    if (wanted && std::strcmp(wanted, p.name)) continue;
    if (mistake > p.mistakes)
      return std::fprintf(stderr, "%s has %d mistakes\n", p.name, p.mistakes), 2;
    any = true;
    running = p.name;
    right &= p.run(mistake);
  }
  if (!any) return std::fprintf(stderr, "%s: no such program\n", wanted), 2;
  return right ? 0 : 1;
}
