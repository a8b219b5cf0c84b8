// What the results of the driver API are called.
#pragma once

#include <cuda.h>

namespace lockstep::driver {

struct ErrorText {
  const char* name = "";
  const char* text = "";
  bool known = true;
};
// `known` is false for a number that is none.
ErrorText text_of(CUresult result);

}  // namespace lockstep::driver
