// The part of the probe that looks at what is no ordinary number: subnormal ones, overflow, signs
// of zero, NaN.
#pragma once

#include "harness/matrix_unit/probe_session.h"

namespace lockstep::matrix_unit {

class SpecialsProbe : public ProbeSession {
 public:
  using ProbeSession::ProbeSession;

 protected:
  void find_subnormal_factors();
  void find_subnormal_results();  // and of C; once the steps are known
  void find_specials();           // the rest, at the end

 private:
  void find_underflow();
  void find_nan();
  void find_overflow();
};

}  // namespace lockstep::matrix_unit
