// The compiler's interface to an engine: whether the engine has a handler for an operation, and
// which.
#pragma once

#include <cstdint>

#include "simulator/program/action.h"
#include "simulator/program/alu_key.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

// The handlers of an engine. Each function returns the handler that fits the operation best.
class Handlers {
 public:
  virtual ~Handlers() = default;
  virtual Handler of(Action action) const = 0;
  // All fields of `op` must be set, except `run`.
  virtual Handler load(const Op& op) const = 0;
  virtual Handler store(const Op& op) const = 0;
  // nullptr if this form is not implemented.
  virtual Handler compute(const AluKey& key) const = 0;
};

}  // namespace lockstep::program
