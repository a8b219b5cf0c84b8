// The matrix product's laws. A law is a sentence about every case; it takes the implementation that
// it judges, so that a broken or a rewritten kernel can stand in the place of the real one.
#pragma once

#include <functional>

#include "kernels/matmul.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launcher's signature and its contract (kernels/matmul.h).
using Matmul = std::function<decltype(kernels::matmul)>;

// In the order in which a mutant meets them.
Laws<Matmul> matmul_laws();
// With all sides 2,048, rows far apart, and more rows than a grid of large tiles covers.
Laws<Matmul> huge_matmul_laws();

}  // namespace lockstep::properties
