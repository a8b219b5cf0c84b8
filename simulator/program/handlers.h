// What the compiler knows of the engine: that it has a handler for each of these, and who has them.
#pragma once

#include <cstdint>

#include "simulator/program/action.h"
#include "simulator/program/alu_key.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

// The handlers of an engine. One for each kind of operation; of those that have many, the one that
// fits the operation best.
class Handlers {
 public:
  virtual ~Handlers() = default;
  virtual Handler of(Action action) const = 0;
  // Operations whose fields are set but for `run`.
  virtual Handler load(const Op& op) const = 0;
  virtual Handler store(const Op& op) const = 0;
  // nullptr: this form is not implemented.
  virtual Handler compute(const AluKey& key) const = 0;
};

}  // namespace lockstep::program
