// Storage of a host thread that outlives the program's own. The main thread's `thread_local`
// variables are destroyed before global objects are, whose destructors may call CUDA; a thread's
// are destroyed in the reverse order of their making, so that one made early may call CUDA after
// all that were made late are gone.
#pragma once

#include <pthread.h>

#include <new>

namespace lockstep::engine {

// The calling thread's T, made when first asked for. It is destroyed after the thread's variables,
// and never where the process ends first. Throws std::bad_alloc where the process has no key left
// for it.
template <class T>
T& per_thread() {
  // No destructor, hence there as long as the thread.
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
