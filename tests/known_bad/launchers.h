// Launchers with mistakes that do not depend on what they compute. The templates break any
// launcher, so that the laws of every family can be run on each mistake.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
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
  using Arguments = std::tuple<A...>;  // references too: a captured launch reads them later
  using Copies = std::tuple<std::decay_t<A>...>;

  // Ignores its stream argument.
  static LaunchStatus on_the_default_stream(A... a) {
    Arguments all(a...);
    std::get<cudaStream_t>(all) = nullptr;
    return std::apply(kLauncher, all);
  }

  // Returns at once if the arrays are those of the previous call.
  static LaunchStatus once_for_the_same_arrays(A... a) {
    static std::optional<std::array<const void*, sizeof...(A)>> last;
    const std::array<const void*, sizeof...(A)> arrays = {array_of(a)...};
    if (last == arrays) return {};
    const LaunchStatus status = kLauncher(a...);
    if (status.ok()) last = arrays;
    return status;
  }

  // Keeps the other arguments for later calls with the same arrays, as a cached tensor map does.
  static LaunchStatus with_the_first_arguments(A... a) {
    static std::array<const void*, sizeof...(A)> last = {};
    static std::deque<Copies> kept;  // a captured launch may read them
    const std::array<const void*, sizeof...(A)> arrays = {array_of(a)...};
    const LaunchStatus status = kLauncher(a...);
    if (!status.ok()) return status;
    if (last != arrays) {
      last = arrays;
      kept.emplace_back(a...);
      return status;
    }
    std::get<cudaStream_t>(kept.back()) = std::get<cudaStream_t>(Arguments(a...));
    return std::apply(kLauncher, kept.back());
  }

  // Ignores the limit of the grid. kMaxBlocks(arguments) is the argument with the limit.
  template <auto kMaxBlocks>
  static LaunchStatus as_many_blocks_as_it_likes(A... a) {
    static std::deque<Copies> kept;
    Copies& all = kept.emplace_back(a...);
    if (kMaxBlocks(all) >= 1) kMaxBlocks(all) = std::numeric_limits<int>::max();
    return std::apply(kLauncher, all);
  }

  // Fails for strides that no tensor map can hold: a map holds 40 bits of a stride that is a
  // multiple of 16. kStride(arguments) is in bytes.
  template <auto kStride>
  static LaunchStatus by_a_map_whatever_the_stride(A... a) {
    Arguments all(a...);
    const LaunchStatus status = std::apply(kLauncher, all);
    const auto stride = static_cast<std::uint64_t>(kStride(all));
    return status.ok() && stride % 16 == 0 && stride >> 40 != 0
               ? kernels::status_of(cudaErrorInvalidValue, "known-bad", "making a map")
               : status;
  }

  // Checks only the low 32 bits of kProduct(arguments), a product of arguments that may be at most
  // kMost.
  template <auto kProduct, auto kMost>
  static LaunchStatus product_in_32_bits(A... a) {
    Arguments all(a...);
    const auto product = kProduct(all);
    return product > kMost && static_cast<std::uint32_t>(product) <= kMost
               ? LaunchStatus{}
               : std::apply(kLauncher, all);
  }

  // Launches without checking the error of CUDA.
  static LaunchStatus without_a_look(A... a) {
    const LaunchStatus status = kLauncher(a...);
    return status.of_cuda ? LaunchStatus{} : status;
  }

  // Works only on the device of its first call: it assumes that the preparation of that device
  // holds for all.
  static LaunchStatus for_one_device(A... a) {
    int device = 0;
    if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess)
      return kernels::status_of(e, "known-bad", "");
    static const int prepared = device;
    return device == prepared
               ? kLauncher(a...)
               : kernels::status_of(cudaErrorInvalidConfiguration, "known-bad", "launching");
  }

  // Accepts, or refuses, one value too many. kEdge(arguments) is the argument, kLast its largest
  // valid value.
  template <auto kEdge, auto kLast>
  static LaunchStatus one_too_many(A... a) {
    Arguments all(a...);
    return kEdge(all) == kLast + 1 ? LaunchStatus{} : std::apply(kLauncher, all);
  }
  template <auto kEdge, auto kLast>
  static LaunchStatus one_too_few(A... a) {
    Arguments all(a...);
    return kEdge(all) == kLast ? kernels::refused("known-bad", "too many")
                               : std::apply(kLauncher, all);
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
