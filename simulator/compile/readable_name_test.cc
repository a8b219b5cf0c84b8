#include "simulator/compile/readable_name.h"

#include <gtest/gtest.h>

namespace lockstep::compile {
namespace readable_name_test {

TEST(ReadableName, OfAFunctionIsItsSignature) {
  EXPECT_EQ(demangled("_Z5storePii"), "store(int*, int)");
  EXPECT_EQ(demangled("kernel"), "kernel");
  EXPECT_EQ(demangled("__nv_static_15__0a1b_4_a_cu_77__Z5storePii"), "store(int*, int)");
  EXPECT_EQ(demangled("__nv_static_99__0a1b__Z5storePii"), "__nv_static_99__0a1b__Z5storePii");
  EXPECT_EQ(demangled("i"), "i") << "a name of C linkage, not the type int";
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
}

TEST(ReadableName, OfAVariableIsWhatTheCodeAroundItCallsIt) {
  EXPECT_EQ(variable_name("cells"), "cells");
  EXPECT_EQ(variable_name("_ZZ6kernelPiE5cells"), "cells");
  EXPECT_EQ(variable_name("_ZN8geometry5cellsE"), "geometry::cells");
  EXPECT_EQ(variable_name("_ZN12_GLOBAL__N_15cellsE"), "cells");
}

}  // namespace readable_name_test
}  // namespace lockstep::compile
