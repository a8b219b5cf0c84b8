// Functions of the driver API that the runtime API has too, with the same arguments in other types.
//
//   Forward<"cuStreamQuery", Needs::kContext, decltype(cuStreamQuery), &cudaStreamQuery>::run
//
// is a function of cuStreamQuery's type that calls cudaStreamQuery in the frame of call.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "simulator/driver/call.h"

namespace lockstep::driver {

// Converts an argument of the driver API to the runtime's type. Enumerators have the same numbers
// in both APIs and structures the same members. A device address becomes a pointer.
template <class To, class From>
To same(From from) {
  if constexpr (std::is_same_v<From, CUmemLocation>) {
    return {.type = static_cast<cudaMemLocationType>(from.type), .id = from.id};
  } else if constexpr (std::is_enum_v<To>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_convertible_v<From, To>) {
    return from;
  } else {
    using Target = std::remove_pointer_t<From>;
    if constexpr (std::is_pointer_v<From> && !std::is_function_v<Target>)
      static_assert(sizeof(Target) == sizeof(std::remove_pointer_t<To>));
    return reinterpret_cast<To>(from);
  }
}

// A string as a template argument.
template <std::size_t size>
struct Name {
  char text[size];
  constexpr Name(const char (&from)[size]) { std::copy_n(from, size, text); }
};

template <Name name, Needs needs, class Function, auto runtime_function>
struct Forward;

template <Name name, Needs needs, class... Driver, class... Runtime,
          cudaError_t (*runtime_function)(Runtime...)>
struct Forward<name, needs, CUresult(Driver...), runtime_function> {
  static CUresult run(Driver... arguments) {
    return call(name.text, needs == Needs::kContext ? needs_of(arguments...) : needs,
                [&] { return runtime_function(same<Runtime>(arguments)...); });
  }

  // A stream among the arguments decides, or else an event.
  static Needs needs_of(Driver... arguments) {
    CUstream stream = nullptr;
    CUevent event = nullptr;
    bool has_stream = false;
    const auto see = [&](auto argument) {
      if constexpr (std::is_same_v<decltype(argument), CUstream>)
        stream = argument, has_stream = true;
      if constexpr (std::is_same_v<decltype(argument), CUevent>) event = argument;
    };
    (see(arguments), ...);
    if (!has_stream && event != nullptr) return Needs::kHandle;
    return driver::needs_of(stream);
  }
};

}  // namespace lockstep::driver
