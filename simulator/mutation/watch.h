// Mutants that are computed beside the unchanged instructions. One launch then shows which of them
// would have had another value in some thread. All others leave the launch as it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/mutation/mutant.h"
#include "simulator/ptx/ir.h"

namespace lockstep::mutation {

// A function that computes what it did before, and each watched mutant's value besides.
struct Watched {
  static constexpr std::uint32_t kNone = ~0u;

  ptx::Function function;
  // By instruction of the original: its index in `function`.
  std::vector<std::uint32_t> now;
  // By mutant: the index in `function` of an instruction that only threads execute in which the
  // mutant has another value or another condition. kNone: the mutant is not watched. Only
  // computations with one result and guards are.
  std::vector<std::uint32_t> signals;
};

// `places` are edits of the function.
Watched watch(const ptx::Module& module, std::uint32_t function, std::span<const Place> places);

// Whether a mutant that has the same values also has the same uninitialised bits. Without this, the
// check of initialisation may report the mutant all the same.
bool keeps_initialisation(const ptx::Module& module, const Place& place);

}  // namespace lockstep::mutation
