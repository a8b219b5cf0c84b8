// Where an operation's operands lie.
#pragma once

#include "simulator/program/operation.h"

namespace lockstep::translate {

// A register that an operation names; a predicate has 0 bytes.
struct Place {
  program::Slot slot = program::kNoSlot;
  int bytes = 0;
  bool written = false;
};

}  // namespace lockstep::translate
