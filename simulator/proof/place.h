// A memory access of a kernel during the proof: the claims about it, and its address.
#pragma once

#include <optional>
#include <span>

#include "simulator/proof/form.h"
#include "simulator/proof/prove.h"

namespace lockstep::proof {

struct Place {
  Access access;
  std::optional<Form> address;  // nullopt: it depends on data
};

}  // namespace lockstep::proof
