// The tensor copies' laws. A law is a sentence about every case; it takes the implementations that
// it judges, so that a broken or a rewritten kernel can stand in the place of a real one.
#pragma once

#include "kernels/tensor_copy.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launchers' signatures and their contracts (kernels/tensor_copy.h).
using TensorCopy = kernels::TensorCopyLaunchers;

// In the order in which a mutant meets them. Each needs Capability::kTensorCopies.
Laws<TensorCopy> tensor_copy_laws();

}  // namespace lockstep::properties
