// Launchers with a mistake that has nothing to do with what they compute: made of any launcher, so
// that the batteries of every family can be held to each of them.
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
  using Arguments = std::tuple<A...>;  // references too: what a captured launch reads must live on
  using Copies = std::tuple<std::decay_t<A>...>;

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

  // What it has made of the other arguments it keeps for calls on the same arrays, as a map of a
  // tensor is kept.
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

  // kMaxBlocks(arguments) is the largest grid that is allowed. The launcher does not observe it.
  template <auto kMaxBlocks>
  static LaunchStatus as_many_blocks_as_it_likes(A... a) {
    static std::deque<Copies> kept;
    Copies& all = kept.emplace_back(a...);
    if (kMaxBlocks(all) >= 1) kMaxBlocks(all) = std::numeric_limits<int>::max();
    return std::apply(kLauncher, all);
  }

  // kStride(arguments) are bytes. A tensor map holds 40 bits of a stride that 16 divides.
  template <auto kStride>
  static LaunchStatus by_a_map_whatever_the_stride(A... a) {
    Arguments all(a...);
    const LaunchStatus status = std::apply(kLauncher, all);
    const auto stride = static_cast<std::uint64_t>(kStride(all));
    return status.ok() && stride % 16 == 0 && stride >> 40 != 0
               ? kernels::status_of(cudaErrorInvalidValue, "known-bad", "making a map")
               : status;
  }

  // kProduct(arguments) is the product of some of them, at most kMost. The launcher looks at 32
  // bits of it.
  template <auto kProduct, auto kMost>
  static LaunchStatus product_in_32_bits(A... a) {
    Arguments all(a...);
    const auto product = kProduct(all);
    return product > kMost && static_cast<std::uint32_t>(product) <= kMost
               ? LaunchStatus{}
               : std::apply(kLauncher, all);
  }

  // Launches, and does not look whether CUDA has taken it.
  static LaunchStatus without_a_look(A... a) {
    const LaunchStatus status = kLauncher(a...);
    return status.of_cuda ? LaunchStatus{} : status;
  }

  // Works on the device of its first call alone: what it prepares there it takes for prepared
  // everywhere.
  static LaunchStatus for_one_device(A... a) {
    int device = 0;
    if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess)
      return kernels::status_of(e, "known-bad", "");
    static const int prepared = device;
    return device == prepared
               ? kLauncher(a...)
               : kernels::status_of(cudaErrorInvalidConfiguration, "known-bad", "launching");
  }

  // kEdge(arguments) is one of them. kLast is the last value that must be taken.
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
