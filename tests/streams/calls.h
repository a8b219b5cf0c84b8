// The calls that order_test examines: does a call return before a kernel has ended that runs in
// some stream, and does work that is put behind the call in another stream come after it?
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

namespace lockstep::streams {

// What a call finds. No work is under way when it is made.
struct Situation {
  explicit Situation(cudaStream_t busy);
  ~Situation();
  Situation(const Situation&) = delete;
  Situation& operator=(const Situation&) = delete;

  static constexpr size_t kSmall = 256, kLarge = 1 << 20;
  // The stream in which the kernel runs.
  cudaStream_t busy;
  // Not blocking: one with nothing in it, and the one in which the later work is put.
  cudaStream_t idle = nullptr, later = nullptr;
  // Blocking, with nothing in it.
  cudaStream_t idle_blocking = nullptr;
  // Recorded in `busy` behind the kernel; and in `idle`, long ago.
  cudaEvent_t behind = nullptr, past = nullptr;
  // Each of kLarge bytes, which neither kernel touches.
  char *device = nullptr, *second = nullptr, *pinned = nullptr, *managed = nullptr;
  std::vector<char> pageable, pageable_too;
  cudaArray_t array = nullptr;
  // How many situations there were before.
  int number;
};

constexpr size_t kSmall = Situation::kSmall, kLarge = Situation::kLarge;

using Prepared = std::function<void()>;

// Several calls of one answer are one row: its name has all of them.
struct Call {
  const char* name;
  // Makes what the call needs, and returns the call.
  Prepared (*prepare)(Situation&);
  // It is to be the first of its kind: else it is made once before, when nothing runs.
  bool cold = false;
};

// In the order of the table.
std::vector<Call> copies_and_fills();
std::vector<Call> other_calls();
std::vector<Call> graph_calls();
std::vector<Call> process_calls();
std::vector<Call> settings_and_queries();

// What f(&pointer) makes.
template <class F>
void* made(F f) {
  void* p = nullptr;
  f(&p);
  return p;
}

}  // namespace lockstep::streams

// A call, and its name in the table.
#define CALL(name, ...)                  \
  {                                      \
    name, [](Situation& s) -> Prepared { \
      return [&s] {                      \
        (void)s;                         \
        __VA_ARGS__;                     \
      };                                 \
    }                                    \
  }
// ... that needs what `made_by` makes, as `x`.
#define CALL_WITH(name, made_by, ...)    \
  {                                      \
    name, [](Situation& s) -> Prepared { \
      const auto x = (made_by);          \
      return [&s, x] {                   \
        (void)s;                         \
        (void)x;                         \
        __VA_ARGS__;                     \
      };                                 \
    }                                    \
  }
