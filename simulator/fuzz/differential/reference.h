// A slow and simple interpreter of random programs, written from the PTX manual. It uses the
// program's tree and no code of the simulated GPU.
//
// All threads of a block walk through the tree together, as the set of threads that execute a
// statement. So exchanges and barriers need no schedule.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/fuzz/differential/catalogue.h"
#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

// The result of a computing instruction for one thread. `sources`: in the order of the manual,
// predicates as 0 or 1, negated if the operand is. `carry` is read and written. Returns false if
// the instruction is not supported here.
struct Values {
  std::uint64_t first = 0, second = 0;  // second: of a pair or a vector
};
bool evaluate(const isa::Spelling& spelling, std::span<const std::uint64_t> sources, bool& carry,
              Values& to);
// The parts of evaluate(): one for integers, bits and comparisons, one for numbers.
bool evaluate_integer(const isa::Spelling& spelling, std::span<const std::uint64_t> sources,
                      bool& carry, Values& to);
bool evaluate_float(const isa::Spelling& spelling, std::span<const std::uint64_t> sources,
                    Values& to);
// Order of two values of a type: -1, 0, 1, or 2 when unordered.
int order_of(isa::Type type, bool ftz, std::uint64_t a, std::uint64_t b);

bool reference_knows(const isa::Example& example, Place place);

// The memory after the program (Layout).
std::vector<std::uint8_t> reference_result(const Program& program);

}  // namespace lockstep::fuzz::differential
