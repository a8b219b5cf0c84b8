// elfutils' libdw, for source places. The library is loaded if the system has it: programs under
// test need nothing but the simulated runtime.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::runtime {

// A function of the program at one place. Inlined functions have their own entries.
struct DebugPlace {
  std::string function;  // mangled if it has a mangled name; empty: no symbol
  std::string file;      // empty without debug information
  int line = 0;
};

// The functions at an address of this process, innermost inlined function first. The last one is in
// the object's symbols. Empty if no object contains the address, or the system has no libdw.so.1.
// Not thread-safe.
std::vector<DebugPlace> debug_places(std::uint64_t address);

// How often objects have been loaded into or unloaded from this process. What was found at an
// address holds as long as this number stays.
std::uint64_t count_object_changes();

}  // namespace lockstep::runtime
