// The names and texts of driver API results.
#pragma once

#include <cuda.h>

namespace lockstep::driver {

struct ErrorText {
  const char* name = "";
  const char* text = "";
  bool known = true;
};
// `known` is false if the number is no result.
ErrorText text_of(CUresult result);

}  // namespace lockstep::driver
