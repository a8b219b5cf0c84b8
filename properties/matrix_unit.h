// The laws of the matrix units: what any of them owes, and that what was measured of one says what
// it gives.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/property/property.h"
#include "kernels/matrix_unit.h"
#include "properties/law.h"

namespace lockstep::properties {

struct Measured;  // what was found out about one form

// Instruction forms that come with the same capability.
struct MatrixForms {
  Requirement needs;
  std::vector<kernels::MatrixForm> forms;
  // By the name of the form: measured once, and asked for by several laws.
  std::shared_ptr<std::vector<std::pair<std::string, std::shared_ptr<const Measured>>>> measured;
};
MatrixForms matrix_forms(const Requirement& needs, std::vector<kernels::MatrixForm> forms);

// Those of `forms` that came with a compute capability, ten times it.
std::vector<kernels::MatrixForm> forms_since(int capability,
                                             const std::vector<kernels::MatrixForm>& forms);

Laws<MatrixForms> matrix_unit_laws();

}  // namespace lockstep::properties
