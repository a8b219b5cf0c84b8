// Mutants that are computed beside the unchanged instructions. One launch then shows which of them
// would have had another value in some thread. All others leave the launch as it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/mutation/mutant.h"
#include "simulator/ptx/ir.h"

namespace lockstep::mutation {

// A function that computes what it did before, and the values of watched mutants besides.
struct Watched {
  ptx::Function function;
  // By instruction of the original: its index in `function`.
  std::vector<std::uint32_t> now;
  // By mutant: the indices in `function` of instructions that only threads execute in which the
  // mutant differs: in the value of its instruction or, if `keeps_initialisation`, in what follows
  // from the value: a condition, an address, a stored value. Empty: the mutant is not watched. Only
  // computations with one result and guards are.
  struct Mutant {
    std::vector<std::uint32_t> signals;
    // Whether a mutant without a signal has the same uninitialised bits too. Otherwise the check of
    // initialisation may report it all the same.
    bool keeps_initialisation = false;
  };
  std::vector<Mutant> mutants;
};

// `places` are edits of the function.
Watched watch(const ptx::Module& module, std::uint32_t function, std::span<const Place> places);

}  // namespace lockstep::mutation
