// Launchers with a mistake that has nothing to do with what they compute: made of any launcher, so that the batteries
// of every family can be held to each of them.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/launch_status.h"

namespace lockstep::known_bad {

using kernels::LaunchStatus;

template <auto* kLauncher, class Signature = std::remove_pointer_t<decltype(kLauncher)>>
struct Broken;

template <auto* kLauncher, class... A>
struct Broken<kLauncher, LaunchStatus(A...)> {
  using Arguments = std::tuple<A...>;  // references too: what a captured launch reads must live on

  // Ignores the stream that it is given.
  static LaunchStatus on_the_default_stream(A... a) {
    Arguments all(a...);
    std::get<cudaStream_t>(all) = nullptr;
    return std::apply(kLauncher, all);
  }

  // Does nothing for the arrays that it has just worked on.
  static LaunchStatus once_for_the_same_arrays(A... a) {
    static std::optional<std::array<const void*, sizeof...(A)>> last;
    const std::array<const void*, sizeof...(A)> arrays = {array_of(a)...};
    if (last == arrays) return {};
    const LaunchStatus status = kLauncher(a...);
    if (status.ok()) last = arrays;
    return status;
  }

  // Launches, and does not look whether CUDA has taken it.
  static LaunchStatus without_a_look(A... a) {
    const LaunchStatus status = kLauncher(a...);
    return status.of_cuda ? LaunchStatus{} : status;
  }

  // Works on the device of its first call alone: what it prepares there it takes for prepared everywhere.
  static LaunchStatus for_one_device(A... a) {
    int device = 0;
    if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return kernels::status_of(e, "known-bad", "");
    static const int prepared = device;
    return device == prepared ? kLauncher(a...)
                              : kernels::status_of(cudaErrorInvalidConfiguration, "known-bad", "launching");
  }

  // kEdge(arguments) is one of them, of which kLast is the last value that must be taken.
  template <auto kEdge, auto kLast>
  static LaunchStatus one_too_many(A... a) {
    Arguments all(a...);
    return kEdge(all) == kLast + 1 ? LaunchStatus{} : std::apply(kLauncher, all);
  }
  template <auto kEdge, auto kLast>
  static LaunchStatus one_too_few(A... a) {
    Arguments all(a...);
    return kEdge(all) == kLast ? kernels::refused("known-bad", "too many") : std::apply(kLauncher, all);
  }

 private:
  template <class T>
  static const void* array_of(const T& argument) {
    if constexpr (std::is_same_v<T, cudaStream_t>) {
      return nullptr;
    } else if constexpr (std::is_pointer_v<T>) {
      return argument;
    } else if constexpr (requires { argument.data, argument.stride; }) {
      return argument.data;
    } else {
      return nullptr;
    }
  }
};

}  // namespace lockstep::known_bad
