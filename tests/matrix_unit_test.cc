// Runs every law of properties/matrix_unit.h on a device's matrix units, one suite for each compute
// capability that added instructions.
#include "properties/matrix_unit.h"

#include "properties/matrix_unit_calls.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

bool prove_since(int capability) {
  const Requirement needs = {Capability::kComputeCapability,
                             static_cast<std::uint64_t>(capability)};
  return prove("MatrixUnitSm" + std::to_string(capability), matrix_unit_laws(),
               matrix_forms(needs, forms_since(capability, kernels::mma_forms())));
}

const bool proved = prove_since(75) && prove_since(80) && prove_since(89) && prove_since(90) &&
                    prove("MatrixUnitSm90a", matrix_unit_laws(),
                          matrix_forms({Capability::kWgmma}, kernels::wgmma_forms())) &&
                    prove("MatrixUnit", matrix_unit_launch_laws(), MatrixUnitLaunchers());

}  // namespace
}  // namespace lockstep::properties
