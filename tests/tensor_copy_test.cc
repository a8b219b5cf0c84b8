// Runs every law of properties/tensor_copy.h on the tensor copies.
#include "properties/tensor_copy.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("TensorCopy", tensor_copy_laws(), TensorCopy());

}  // namespace
}  // namespace lockstep::properties
