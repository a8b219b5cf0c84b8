// A slow and simple interpreter of random programs, written from the PTX manual. It uses the
// program's tree and no part of the simulated GPU.
//
// All threads of a block execute the tree together, as the set of threads that execute a statement.
// So exchanges and barriers need no schedule.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/fuzz/differential/catalogue.h"
#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

// The result of a computing instruction for one thread. `sources` are in the manual's order;
// predicates are 0 or 1, after negation. `carry` is read and written. Returns false if the
// instruction is not supported.
struct Values {
  std::uint64_t first = 0, second = 0;  // of a pair or a vector
};
bool evaluate(const isa::Spelling& spelling, std::span<const std::uint64_t> sources, bool& carry,
              Values& to);
// Parts of evaluate(): integers, bits and comparisons; floating point.
bool evaluate_integer(const isa::Spelling& spelling, std::span<const std::uint64_t> sources,
                      bool& carry, Values& to);
bool evaluate_float(const isa::Spelling& spelling, std::span<const std::uint64_t> sources,
                    Values& to);
// Compares two values of a type: -1, 0, 1, or 2 if they are unordered.
int order_of(isa::Type type, bool ftz, std::uint64_t a, std::uint64_t b);

bool reference_knows(const isa::Example& example, Place place);

// The program's memory after its execution (Layout).
std::vector<std::uint8_t> reference_result(const Program& program);

}  // namespace lockstep::fuzz::differential
