// An access of a kernel to memory, while it is being judged: what is claimed of it, and its
// address.
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
