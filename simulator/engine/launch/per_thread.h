// Storage of a host thread that outlives the program's own storage. The main thread's
// `thread_local` variables are destroyed before global objects, whose destructors may call CUDA.
// Other threads destroy theirs in reverse order of construction, so an early one may call CUDA
// after all later ones are gone.
#pragma once

#include <pthread.h>

#include <new>

namespace lockstep::engine {

// The calling thread's T, constructed at the first call. It is destroyed after the thread's own
// variables, and not at all if the process ends first. Throws std::bad_alloc if the process has no
// pthread key left.
template <class T>
T& per_thread() {
  // Has no destructor, so it is valid as long as the thread.
  thread_local T* mine = nullptr;
  if (mine != nullptr) return *mine;
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    const auto destroy = [](void* of_thread) {
      mine = nullptr;
      delete static_cast<T*>(of_thread);
    };
    if (pthread_key_create(&made, destroy) != 0) throw std::bad_alloc();
    return made;
  }();
  mine = new T;
  pthread_setspecific(key, mine);
  return *mine;
}

}  // namespace lockstep::engine
