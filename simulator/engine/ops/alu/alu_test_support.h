// Runs handlers on operands that a test chooses, and compares every lane with a reference for one
// lane's bits.
//
// A form is given by its PTX text and looked up in the table of instruction forms, so that the test
// uses the same key as the decoder. Each check runs with full and partial masks, with the
// destination in a source's own register, and with sources from the file of constants. Inactive
// lanes must keep their values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/engine/ops/alu/alu.h"
#include "simulator/engine/state/warp.h"

namespace lockstep::engine::alu_test {

using Bits = std::uint64_t;
// Computes the result from one lane's sources, in order. A predicate is 0 or 1. `in[n]`, after the
// last source, is the lane's carry.
using Reference = std::function<Bits(const Bits* in)>;
// Returns what is wrong with a result, or "" if it is acceptable.
using Judge = std::function<std::string(const Bits* in, Bits got)>;

// A form and the registers behind its operands.
struct Form {
  std::string text;        // "add.rn.ftz.f32"
  std::vector<int> bytes;  // destination first; 0: a predicate
  bool pair = false;       // a second destination, of a predicate's kind
};
// Ends the test if the table has no such form.
AluKey key_of(const Form& form);

struct Options {
  int random = 20000;                  // random operand tuples, in addition to the special ones;
                                       // a quarter of them without --config=nightly
  Reference second;                    // second destination (predicate)
  Reference carry_out;                 // CC.CF afterwards; in[n] has it before
  bool keeps_carry = true;             // without carry_out: CC.CF must not change
  std::uint8_t flags = 0;              // bit i: source i is a predicate that is negated
  std::vector<int> same_in_all_lanes;  // sources that are one immediate for the warp
};

// Checks `form` on all pairs of special values of every two sources, and on random ones. A single
// source of at most 16 bits is checked exhaustively, without random ones. `specials[i]`: the
// special values of source i.
void check(const Form& form, const std::vector<std::vector<Bits>>& specials,
           const Reference& reference, const Options& options = {});
void check_judged(const Form& form, const std::vector<std::vector<Bits>>& specials,
                  const Judge& judge, const Options& options = {});

// Whether there is no handler.
bool refused(const Form& form);
bool refused(const AluKey& key);

// Special values. Floats: at least 98 of each format. Integers: the bounds of every narrower type,
// single bits, alternating bits.
const std::vector<Bits>& special_f16();
const std::vector<Bits>& special_bf16();
const std::vector<Bits>& special_f32();
const std::vector<Bits>& special_f64();
const std::vector<Bits>& special_int(int bytes);
const std::vector<Bits>& both_predicates();

}  // namespace lockstep::engine::alu_test
