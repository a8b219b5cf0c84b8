// The calls that order_test examines. Does a call return before an earlier kernel of some stream
// has ended? Is work launched after the call in another stream ordered after that kernel?
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

namespace lockstep::streams {

// The streams, events and memory for a call. No work is pending when it is constructed.
struct Situation {
  // `bytes`: the size of each range of memory.
  Situation(cudaStream_t busy, size_t bytes);
  ~Situation();
  Situation(const Situation&) = delete;
  Situation& operator=(const Situation&) = delete;

  static constexpr size_t kSmall = 256, kRange = 4096, kLarge = 1 << 20;
  // The stream of the kernel.
  cudaStream_t busy;
  // Non-blocking streams: an empty one, and the stream of the later work.
  cudaStream_t idle = nullptr, later = nullptr;
  // An empty blocking stream.
  cudaStream_t idle_blocking = nullptr;
  // Recorded in `busy` after the kernel; recorded in `idle` and complete.
  cudaEvent_t behind = nullptr, past = nullptr;
  // Neither kernel accesses them.
  char *device = nullptr, *second = nullptr, *pinned = nullptr, *managed = nullptr;
  std::vector<char> pageable, pageable_too;
  cudaArray_t array = nullptr;
  // The number of situations constructed before.
  int number;
};

constexpr size_t kSmall = Situation::kSmall, kLarge = Situation::kLarge;

// A call with its arguments: a function that captures at most six words. (With std::function, two
// hundred of them take half of the time to compile.)
class Prepared {
 public:
  template <class Function>
  Prepared(Function function)
      : call_([](void* captured) { (*static_cast<Function*>(captured))(); }) {
    static_assert(sizeof(Function) <= sizeof captured_ && std::is_trivially_copyable_v<Function>);
    new (captured_) Function(function);
  }
  void operator()() { call_(captured_); }

 private:
  void (*call_)(void*);
  alignas(std::max_align_t) char captured_[6 * sizeof(void*)];
};

// One row of the table: a call, or several calls with equal results, whose names it joins.
struct Call {
  const char* name;
  // Prepares the arguments and returns a function that makes the call.
  Prepared (*prepare)(Situation&);
  // Measures the first call of its kind. Otherwise one call is made before, on an idle device.
  bool cold = false;
  // Each range of its situation. Most calls use less than a page, and filling more costs more time
  // than all the rest.
  size_t bytes = Situation::kRange;
};

// The call, with ranges of kLarge bytes.
inline Call large(Call call) {
  call.bytes = kLarge;
  return call;
}

// The calls, in the order of the table.
std::vector<Call> copies_and_fills();
std::vector<Call> other_calls();
std::vector<Call> graph_calls();
std::vector<Call> process_calls();
std::vector<Call> settings_and_queries();

// The pointer that f(&pointer) sets.
template <class F>
void* made(F f) {
  void* p = nullptr;
  f(&p);
  return p;
}

}  // namespace lockstep::streams

// A call and its name in the table.
#define CALL(name, ...)                  \
  {                                      \
    name, [](Situation& s) -> Prepared { \
      return [&s] {                      \
        (void)s;                         \
        __VA_ARGS__;                     \
      };                                 \
    }                                    \
  }
// A call that uses the value of `made_by` as `x`.
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
