// An access of a kernel to memory during the proof: the claims about it, and its address.
#pragma once

#include <optional>
#include <span>

#include "simulator/proof/form.h"
#include "simulator/proof/prove.h"

namespace lockstep::proof {

struct Place {
  Access access;
  std::optional<Form> address;  // nullopt: depends on data
};

}  // namespace lockstep::proof
