// Names of the program's own source instead of those that compilers make of them.
#pragma once

#include <string>

namespace lockstep::compile {

// "store(int*, int)" for "_Z5storePii", and for what nvcc -rdc=true makes of a static function of
// that name; the name itself when it is not mangled.
std::string demangled(const std::string& name);

// A variable as the code around it calls it: "cells" of "kernel(int*)::cells", and of
// "_INTERNAL_6f0a_5_a_cu_11::(anonymous namespace)::cells", where nvcc puts what a file keeps to
// itself; "geometry::cells" of that.
std::string variable_name(const std::string& mangled);

}  // namespace lockstep::compile
