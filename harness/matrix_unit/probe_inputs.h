// Dot products with chosen terms, for the probe.
#pragma once

#include "harness/matrix_unit/probe.h"

namespace lockstep::matrix_unit {

class Inputs {
 public:
  explicit Inputs(const Formats& formats) : f_(formats) {}

  // Whether factors may be subnormal if a product is too small for normal ones.
  void allow_subnormal_factors(bool allowed) { subnormal_ = allowed; }

  Dot zeros() const;
  // Sets the product at position k, or C, to exactly this value. False if no two factors have this
  // product.
  bool product(Dot& dot, int k, double value) const;
  bool factors(Dot& dot, int k, double x, double y, bool allow_subnormal) const;
  bool c(Dot& dot, double value) const;

  // The exponents of the least and the largest product that is a power of two.
  int least_product() const;
  int greatest_product() const;

 private:
  bool split(Dot& dot, int k, double value, bool allow_subnormal) const;

  const Formats& f_;
  bool subnormal_ = false;
};

}  // namespace lockstep::matrix_unit
