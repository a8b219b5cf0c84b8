#include <string>
#include <utility>

#include "simulator/isa/names.h"
#include "simulator/isa/opcode.h"
#include "simulator/mutation/edits.h"

namespace lockstep::mutation {
namespace {

using isa::Opcode;
using isa::Type;
using ptx::Operand;

constexpr std::int64_t kUnit = 16;  // bytes: the granularity of these copies
constexpr std::int64_t kTensorPlace =
    128;  // bytes: the alignment of a tensor copy's address in shared memory
constexpr std::int64_t kMbarrier = 8;  // bytes

bool is_of_a_tensor(Opcode op) {
  return op == Opcode::k_cp_async_bulk_tensor || op == Opcode::k_cp_reduce_async_bulk_tensor;
}
bool is_of_bytes(Opcode op) {
  return op == Opcode::k_cp_async_bulk || op == Opcode::k_cp_reduce_async_bulk;
}

// Adds an integer to the operand that `operand` finds, which is a constant or a register of that
// type.
template <class Find>
void add_increased(const Site& site, Operator op, const std::string& change, Type type,
                   std::int64_t by, std::vector<Edit>& edits, Find&& operand) {
  const ptx::Instruction& i = site.instruction();
  std::vector<Operand> operands = i.operands;
  Operand& o = operand(operands);
  const bool wide = isa::size_of(type) == 4;
  const std::uint64_t mask = wide ? 0xffffffff : 0xffff;
  const std::uint64_t addend = static_cast<std::uint64_t>(by) & mask;
  if (o.kind == Operand::Kind::kImmediate) {
    o.bits = (o.bits + addend) & mask;
    add(edits, op, change, with_opcode(site, i.text, std::move(operands)));
    return;
  }
  Sequence s(site, op, change);
  const Operand sum = s.fresh("%sum", type);
  s.emit(wide ? "add.s32" : "add.s16", {sum, std::exchange(o, sum), integer_operand(addend)});
  s.emit(i.text, std::move(operands));
  s.add_to(edits);
}

void add_byte_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const auto changed = [&](const std::string& change, std::size_t n, std::int64_t by) {
    add_increased(site, Operator::kBytesChanged, change, Type::kB32, by, edits,
                  [n](std::vector<Operand>& o) -> Operand& { return o[n]; });
  };
  if (is_of_bytes(i.opcode)) changed("16 bytes fewer are copied", 2, -kUnit);
  const bool arrives =
      (i.opcode == Opcode::k_mbarrier_arrive || i.opcode == Opcode::k_mbarrier_arrive_drop) &&
      i.modifiers.expect_tx;
  if (!arrives && i.opcode != Opcode::k_mbarrier_expect_tx) return;
  const std::size_t n = arrives ? 2 : 1;
  changed("16 bytes more are expected", n, kUnit);
  changed("16 bytes fewer are expected", n, -kUnit);
  if (is_integer(i, n)) return;  // a constant is changed to zero anyway
  const std::string none = "no bytes are expected";
  if (arrives) {
    add(edits, Operator::kBytesChanged, none,
        with_opcode(site, *replace_word(i.text, ".expect_tx", ""), {i.operands[0], i.operands[1]}));
  } else {
    add_removal(edits, Operator::kBytesChanged, none);
  }
}

// Changes the operands in brackets: addresses of data, a tensor with its coordinates, and finally
// the mbarrier, if any.
void add_place_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const bool tensor = is_of_a_tensor(i.opcode);
  if (!tensor && !is_of_bytes(i.opcode)) return;
  const std::size_t places = tensor ? 1 : 2;
  std::size_t seen = 0;
  for (std::size_t n = 0; n < i.operands.size(); ++n) {
    if (i.operands[n].kind != Operand::Kind::kAddress || !i.operands[n].elements.empty()) continue;
    const auto moved = [&](const std::string& change, std::int64_t by) {
      ptx::Instruction other = i;
      other.operands[n].offset += by;
      add(edits, Operator::kAddressShifted, change, std::move(other));
    };
    if (seen++ == places) {
      moved("the mbarrier is the next one", kMbarrier);
      break;
    }
    const std::int64_t by = tensor ? kTensorPlace : kUnit;
    const std::string what = tensor   ? "the place in shared memory is "
                             : n == 0 ? "the destination is "
                                      : "the source is ";
    moved(what + std::to_string(by) + " bytes further", by);
    moved(what + std::to_string(by) + " bytes before", -by);
  }
}

void add_coordinate_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (!is_of_a_tensor(i.opcode)) return;
  const auto of = [&](const std::string& name, Type type, auto list) {
    std::vector<Operand> operands = i.operands;
    std::vector<Operand>& numbers = list(operands);
    for (std::size_t d = 0; d < numbers.size(); ++d) {
      add_increased(site, Operator::kCoordinateChanged,
                    name + " " + std::to_string(d) + " is one more", type, 1, edits,
                    [&](std::vector<Operand>& o) -> Operand& { return list(o)[d]; });
    }
    if (numbers.size() < 2) return;
    std::swap(numbers[0], numbers[1]);
    add(edits, Operator::kCoordinateChanged, "the first two " + name + "s change places",
        with_opcode(site, i.text, std::move(operands)));
  };
  for (std::size_t n = 0; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    if (o.kind == Operand::Kind::kAddress && !o.elements.empty())
      of("coordinate", Type::kB32, [n](std::vector<Operand>& all) -> std::vector<Operand>& {
        return all[n].elements[0].elements;
      });
    if (o.kind == Operand::Kind::kVector)
      of("offset", Type::kB16,
         [n](std::vector<Operand>& all) -> std::vector<Operand>& { return all[n].elements; });
  }
}

// Clears the lowest bit of the mask of blocks.
void add_multicast_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (!has_word(i.text, ".multicast::cluster")) return;
  std::size_t n = 0;  // behind the mbarrier and the offsets of im2col
  for (std::size_t o = 0; o < i.operands.size(); ++o)
    if (i.operands[o].kind == Operand::Kind::kAddress ||
        i.operands[o].kind == Operand::Kind::kVector)
      n = o + 1;
  const std::string change = "one block fewer gets the copy";
  if (is_integer(i, n)) {
    add(edits, Operator::kMulticastNarrowed, change,
        with_integer(site, n, i.operands[n].bits & (i.operands[n].bits - 1)));
    return;
  }
  Sequence s(site, Operator::kMulticastNarrowed, change);
  const Operand less = s.fresh("%less", Type::kB16), fewer = s.fresh("%fewer", Type::kB16);
  std::vector<Operand> operands = i.operands;
  s.emit("add.s16", {less, operands[n], integer_operand(0xffff)});
  s.emit("and.b16", {fewer, operands[n], less});
  operands[n] = fewer;
  s.emit(i.text, std::move(operands));
  s.add_to(edits);
}

}  // namespace

void add_copy_edits(const Site& site, std::vector<Edit>& edits) {
  add_place_edits(site, edits);
  add_coordinate_edits(site, edits);
  add_byte_edits(site, edits);
  add_multicast_edits(site, edits);
}

}  // namespace lockstep::mutation
