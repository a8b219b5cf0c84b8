// Arrays of more than 2^31 elements. Not applicable on a device without the memory for them.
#include "properties/many_elements.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool access = register_laws("MemoryAccess", many_access_laws(), MemoryAccess());
const bool shuffle = register_laws("Shuffle", many_shuffle_laws(), Shuffle());
const bool spaces = register_laws("MemorySpaces", many_space_laws(), MemorySpaces());
const bool copies = register_laws("TensorCopy", many_copy_laws(), TensorCopy());
const bool stencil = register_laws("Stencil", many_stencil_laws(), Stencil(kernels::stencil_1d));
const bool staging = register_laws("Staging", many_staging_laws(), kernels::StagingLaunchers());

}  // namespace
}  // namespace lockstep::properties
