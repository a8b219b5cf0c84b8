// The names and texts of the driver API's results.
#pragma once

#include <cuda.h>

namespace lockstep::driver {

struct ErrorText {
  const char* name = "";
  const char* text = "";
  bool known = true;
};
// `known` is false if `result` is not a value of CUresult.
ErrorText text_of(CUresult result);

}  // namespace lockstep::driver
