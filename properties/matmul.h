// The matrix product's laws. A law is a statement about every case. It takes the implementation
// under test as an argument, so that a broken or rewritten kernel can replace the real one.
#pragma once

#include <functional>

#include "kernels/matmul.h"
#include "properties/law.h"

namespace lockstep::properties {

// A function with the launcher's signature and contract (kernels/matmul.h).
using Matmul = std::function<decltype(kernels::matmul)>;

// In the order in which mutants are judged.
Laws<Matmul> matmul_laws();
// With all sides 2,048, with rows far apart, and with more rows than a grid of large tiles covers.
Laws<Matmul> huge_matmul_laws();

}  // namespace lockstep::properties
