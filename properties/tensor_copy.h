// The tensor copies' laws. A law is a statement about every case. It takes the implementations
// under test as an argument, so that a broken or rewritten kernel can replace a real one.
#pragma once

#include "kernels/tensor_copy.h"
#include "properties/law.h"

namespace lockstep::properties {

// Functions with the launchers' signatures and contracts (kernels/tensor_copy.h).
using TensorCopy = kernels::TensorCopyLaunchers;

// In the order in which mutants are judged. Each law requires Capability::kTensorCopies.
Laws<TensorCopy> tensor_copy_laws();

}  // namespace lockstep::properties
