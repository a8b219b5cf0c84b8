// The functions that programs call if they are compiled for per-thread default streams (`nvcc
// --default-stream per-thread`; CUDA Runtime API, "Stream synchronization behavior"). Their names
// end in _ptsz or _ptds, and stream 0 is the calling thread's own.
#pragma once

#include <utility>

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// During its lifetime, stream 0 is the calling thread's own.
class PerThreadDefaultStream {
 public:
  PerThreadDefaultStream()
      : before_(std::exchange(thread_state().per_thread_default_stream, true)) {}
  ~PerThreadDefaultStream() { thread_state().per_thread_default_stream = before_; }
  PerThreadDefaultStream(const PerThreadDefaultStream&) = delete;
  PerThreadDefaultStream& operator=(const PerThreadDefaultStream&) = delete;

 private:
  bool before_;
};

template <auto function>
struct WithPerThreadStream;
// Deprecated functions have such variants, too.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
template <class Result, class... Arguments, Result (*function)(Arguments...)>
struct WithPerThreadStream<function> {
  static Result call(Arguments... arguments) {
    const PerThreadDefaultStream own;
    return function(arguments...);
  }
};
#pragma GCC diagnostic pop

}  // namespace lockstep::runtime

// Defines the variant of an API function. The dynamic linker calls the resolver to get the function
// for the name, so the variant needs no parameter list.
#define LOCKSTEP_PER_THREAD(function, suffix)                                                   \
  extern "C" {                                                                                  \
  __attribute__((no_sanitize_thread)) static decltype(&function) resolve_##function##suffix() { \
    return &lockstep::runtime::WithPerThreadStream<&function>::call;                            \
  }                                                                                             \
  decltype(function) function##suffix __attribute__((ifunc("resolve_" #function #suffix)));     \
  }
