// What multiply_tiles owes as every launcher does, whatever a form computes: the contract of
// kernels/matrix_unit.h as data, and the batteries that follow from it.
#pragma once

#include "kernels/matrix_unit.h"
#include "properties/law.h"

namespace lockstep::properties {

// As one value, so that another launcher can stand in its place.
struct MatrixUnitLaunchers {
  decltype(kernels::multiply_tiles)* multiply = kernels::multiply_tiles;
};

// Of the forms that the device has.
Laws<MatrixUnitLaunchers> matrix_unit_launch_laws();

}  // namespace lockstep::properties
