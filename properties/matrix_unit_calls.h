// The laws of multiply_tiles as a launcher, whatever a form computes: the contract of
// kernels/matrix_unit.h as data, and the batteries that follow from it.
#pragma once

#include "kernels/matrix_unit.h"
#include "properties/law.h"

namespace lockstep::properties {

// The launcher as a value, so that another can replace it.
struct MatrixUnitLaunchers {
  decltype(kernels::multiply_tiles)* multiply = kernels::multiply_tiles;
};

// For the forms that the device supports.
Laws<MatrixUnitLaunchers> matrix_unit_launch_laws();

}  // namespace lockstep::properties
