// Converts mangled names to the names in the program's source.
#pragma once

#include <string>

namespace lockstep::compile {

// "store(int*, int)" for "_Z5storePii", also in the form of a static function compiled with nvcc
// -rdc=true. A name that is not mangled is returned unchanged.
std::string demangled(const std::string& name);

// A variable's name as the surrounding code uses it: "cells" for "kernel(int*)::cells" and for
// "_INTERNAL_6f0a_5_a_cu_11::(anonymous namespace)::cells", the form in which nvcc names a file's
// own variables. "geometry::cells" stays as it is.
std::string variable_name(const std::string& mangled);

}  // namespace lockstep::compile
