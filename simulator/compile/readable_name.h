// The names in a program's source for the names that compilers generate.
#pragma once

#include <string>

namespace lockstep::compile {

// "store(int*, int)" for "_Z5storePii", and for the name that nvcc -rdc=true generates for such a
// static function. The name itself if it is not mangled.
std::string demangled(const std::string& name);

// A variable's name in the surrounding code: "cells" for "kernel(int*)::cells" and for
// "_INTERNAL_6f0a_5_a_cu_11::(anonymous namespace)::cells", nvcc's name for a variable that is
// private to its file; "geometry::cells" for a variable of namespace geometry.
std::string variable_name(const std::string& mangled);

}  // namespace lockstep::compile
