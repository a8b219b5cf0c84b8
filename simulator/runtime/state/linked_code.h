// What the simulated GPU's linker makes of several pieces of PTX (cuLinkComplete): as machine code
// would be, one piece of memory that says how long it is and that a program can keep and load
// again. It is linked when it is loaded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "simulator/runtime/state/jit_options.h"

namespace lockstep::runtime {

std::string pack_linked(const std::vector<std::string>& texts, const CodeLimits& limits);
bool is_linked(const void* code);
// Of what is_linked(). False where its sizes do not fit.
bool unpack_linked(const void* code, std::vector<std::string>* texts, CodeLimits* limits);

}  // namespace lockstep::runtime
