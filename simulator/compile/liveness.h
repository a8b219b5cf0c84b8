// Liveness of a function's virtual registers: which values are still needed, and which registers
// are read before they are written.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "simulator/ptx/effects.h"
#include "simulator/ptx/ir.h"

namespace lockstep::compile {

// A set of a function's registers, by index.
class RegisterSet {
 public:
  explicit RegisterSet(std::size_t registers = 0, bool all = false)
      : words_(registers / 64 + 1, all ? ~0ull : 0) {}
  bool has(std::uint32_t i) const { return words_[i >> 6] >> (i & 63) & 1; }
  void add(std::uint32_t i) { words_[i >> 6] |= std::uint64_t{1} << (i & 63); }
  // Each function returns whether the set has changed.
  bool add_all(const RegisterSet& other);
  bool keep_only(const RegisterSet& other);
  void remove_all(const RegisterSet& other);
  template <class Do>
  void each(Do&& one) const {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      for (std::uint64_t rest = words_[k]; rest != 0; rest &= rest - 1)
        one(static_cast<std::uint32_t>(k * 64) +
            static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

// Instructions [begin, end) of Function::body that are entered only at the first and left only at
// the last.
struct BasicBlock {
  std::uint32_t begin = 0, end = 0;
  std::vector<std::uint32_t> successors;  // into Liveness::blocks
  RegisterSet in, out;                    // registers live there
};

// The first and last instruction, in textual order, at which a register is live or used.
struct LiveRange {
  std::uint32_t first = ~0u, last = 0;
  bool empty() const { return first == ~0u; }
  void touch(std::uint32_t i) {
    first = std::min(first, i);
    last = std::max(last, i);
  }
};

struct Liveness {
  std::vector<BasicBlock> blocks;
  // Registers that some path reads before it writes them. Guarded writes count as writes here,
  // because nvcc guards a definition and its uses with the same predicate.
  std::vector<std::uint32_t> undefined;
  // By register. The range of an undefined register begins with the function, so that it never
  // shows another register's value.
  std::vector<LiveRange> ranges;
};

// The table of instruction forms defines what an instruction reads and writes, and its successors
// (ptx/effects.h).
Liveness find_liveness(const ptx::Function& f);

}  // namespace lockstep::compile
