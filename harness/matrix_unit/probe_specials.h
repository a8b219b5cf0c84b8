// The part of the probe for special numbers: subnormal numbers, overflow, signs of zero, NaN.
#pragma once

#include "harness/matrix_unit/probe_session.h"

namespace lockstep::matrix_unit {

class SpecialsProbe : public ProbeSession {
 public:
  using ProbeSession::ProbeSession;

 protected:
  void find_subnormal_factors();
  void find_subnormal_results();  // and subnormal C; call after the steps are known
  void find_specials();           // the rest; call last

 private:
  void find_underflow();
  void find_nan();
  void find_overflow();
};

}  // namespace lockstep::matrix_unit
