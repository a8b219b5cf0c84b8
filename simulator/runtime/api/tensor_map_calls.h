// The driver's functions that make tensor maps. Programs get them from the runtime by name (driver_entry_calls.cc).
#pragma once

#include <string_view>

namespace lockstep::runtime {

// A function of the driver API, and the version of CUDA that brought it. Null: there is none of this name here.
struct DriverFunction {
  void* function = nullptr;
  unsigned since = 0;
};
DriverFunction tensor_map_function(std::string_view name);

}  // namespace lockstep::runtime
