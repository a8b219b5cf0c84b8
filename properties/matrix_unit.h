// The laws of the matrix units: for every unit, and that a unit's measured parameters predict its
// results.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/property/property.h"
#include "kernels/matrix_unit.h"
#include "properties/law.h"

namespace lockstep::properties {

struct Measured;  // the measurement of one form

// Instruction forms with the same required capability.
struct MatrixForms {
  Requirement needs;
  std::vector<kernels::MatrixForm> forms;
  // Key: the form's name. Each form is measured once, for several laws.
  std::shared_ptr<std::vector<std::pair<std::string, std::shared_ptr<const Measured>>>> measured;
};
MatrixForms matrix_forms(const Requirement& needs, std::vector<kernels::MatrixForm> forms);

// Those of `forms` that need this compute capability, times ten.
std::vector<kernels::MatrixForm> forms_since(int capability,
                                             const std::vector<kernels::MatrixForm>& forms);

Laws<MatrixForms> matrix_unit_laws();

}  // namespace lockstep::properties
