// The result of linking several pieces of PTX (cuLinkComplete). As with machine code, it is one
// block of memory that contains its length, so a program can store it and load it again. The actual
// linking happens when it is loaded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "simulator/runtime/state/jit_options.h"

namespace lockstep::runtime {

std::string pack_linked(const std::vector<std::string>& texts, const CodeLimits& limits);
bool is_linked(const void* code);
// Unpacks code for which is_linked() is true. Returns false if its sizes are inconsistent.
bool unpack_linked(const void* code, std::vector<std::string>* texts, CodeLimits* limits);

}  // namespace lockstep::runtime
