// Runs handlers on operands of a test's choosing and compares every lane with a reference that
// works on one lane's bits.
//
// A form is named by its PTX text, read through the table of instruction forms, so that what is
// tested is what the decoder asks for. Each check runs with full and partial masks, with the
// destination in a source's own register, and with sources from the file of constants; inactive
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
// One lane's sources, in order; a predicate is 0 or 1. `in[n]`, past the last source, is the lane's
// carry.
using Reference = std::function<Bits(const Bits* in)>;
// Says what is wrong with a result, or "" when it is acceptable.
using Judge = std::function<std::string(const Bits* in, Bits got)>;

// A form and the registers behind its operands.
struct Form {
  std::string text;        // "add.rn.ftz.f32"
  std::vector<int> bytes;  // destination first; 0: a predicate
  bool pair = false;       // a second destination, of a predicate's kind
};
// Ends the test when the table has no such form.
AluKey key_of(const Form& form);

struct Options {
  int random = 20000;                  // random operand tuples beside the special ones
  Reference second;                    // second destination (predicate)
  Reference carry_out;                 // CC.CF afterwards; in[n] has it before
  bool keeps_carry = true;             // without carry_out: CC.CF must not change
  std::uint8_t flags = 0;              // Op::flags: negated predicate sources
  std::vector<int> same_in_all_lanes;  // sources that are one immediate a warp
};

// Checks `form` on: all pairs of special values of each two sources, and random ones; a lone source
// of at most 16 bits exhaustively. `specials[i]` are those of source i.
void check(const Form& form, const std::vector<std::vector<Bits>>& specials,
           const Reference& reference, const Options& options = {});
void check_judged(const Form& form, const std::vector<std::vector<Bits>>& specials,
                  const Judge& judge, const Options& options = {});

// True when there is no handler.
bool refused(const Form& form);
bool refused(const AluKey& key);

// Special values, at least 98 of each float format; integers: every boundary of every narrower
// type, single bits, alternations.
const std::vector<Bits>& special_f16();
const std::vector<Bits>& special_bf16();
const std::vector<Bits>& special_f32();
const std::vector<Bits>& special_f64();
const std::vector<Bits>& special_int(int bytes);
const std::vector<Bits>& both_predicates();

}  // namespace lockstep::engine::alu_test
