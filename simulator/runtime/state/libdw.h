// elfutils' libdw, as far as places in the source need it. The library is loaded if the system has
// it: programs under test need nothing but the simulated runtime.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::runtime {

// A function of the program at one place. Inlined functions have places of their own.
struct DebugPlace {
  std::string function;  // mangled, where it has such a name; empty: no symbol
  std::string file;      // empty without debug information
  int line = 0;
};

// The functions at an address of this process, those that were inlined first; the last one is in
// the object's symbols. Empty where no object holds the address, or the system has no libdw.so.1.
// To be called by one thread at a time.
std::vector<DebugPlace> debug_places(std::uint64_t address);

}  // namespace lockstep::runtime
