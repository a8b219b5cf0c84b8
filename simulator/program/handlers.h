// The compiler's interface to the engine: the handlers for operations.
#pragma once

#include <cstdint>

#include "simulator/program/action.h"
#include "simulator/program/alu_key.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

// The handlers of an engine: one for each kind of operation or, if a kind has several, the one that
// fits the operation best.
class Handlers {
 public:
  virtual ~Handlers() = default;
  virtual Handler of(Action action) const = 0;
  // `op`: all fields are set except `run`.
  virtual Handler load(const Op& op) const = 0;
  virtual Handler store(const Op& op) const = 0;
  // nullptr: this form is not implemented.
  virtual Handler compute(const AluKey& key) const = 0;
};

}  // namespace lockstep::program
