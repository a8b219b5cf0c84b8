#include "simulator/compile/lower_compute.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "simulator/compile/validity.h"
#include "simulator/isa/category.h"
#include "simulator/isa/forms.h"
#include "simulator/isa/names.h"
#include "simulator/program/video.h"

namespace lockstep::compile {

using isa::Opcode;
using isa::Type;

namespace {

int bytes_of(Type t) { return t == Type::kPred ? 0 : isa::size_of(t); }

// The bytes of operand `n` according to the PTX manual (0: predicate), for immediates and widths.
int operand_bytes(const Instruction& i, std::size_t n) {
  return bytes_of(i.rules == nullptr ? i.modifiers.type
                                     : isa::operand_type((*i.rules)[n], i.modifiers));
}

// Lowers a mov from a special register directly to its destination, without a scratch slot. False
// if `i` is no such mov.
bool lower_special_move(FunctionBuilder& b, const Instruction& i) {
  if (i.opcode != Opcode::k_mov || i.operands.size() != 2) return false;
  const Operand& from = i.operands[1];
  const int bytes = bytes_of(i.modifiers.type);
  if (i.operands[0].kind != Operand::Kind::kRegister || bytes < 2) return false;
  if (from.kind != Operand::Kind::kSpecialRegister) return false;
  Op op;
  op.dst = b.register_slot(i.operands[0]);
  op.width = static_cast<std::uint8_t>(b.register_bytes(i.operands[0]));
  b.set_action(op, Action::kSpecialRegister);
  op.kind = isa::reads_clock(from.special) ? OpKind::kControl : OpKind::kCompute;
  op.as<program::SpecialRegisterFields>().set_which(from.special);
  b.out().reserved_shared |= isa::is_reserved_shared(from.special);
  b.emit(i, op, ValidityTransfer::kFresh, {{op.dst, Role::kWrite}});
  return true;
}

using program::Video;

Video::Work work_of(Opcode o) {
  switch (o) {
    case Opcode::k_vadd:
    case Opcode::k_vadd2:
    case Opcode::k_vadd4: return Video::Work::kAdd;
    case Opcode::k_vsub:
    case Opcode::k_vsub2:
    case Opcode::k_vsub4: return Video::Work::kSub;
    case Opcode::k_vabsdiff:
    case Opcode::k_vabsdiff2:
    case Opcode::k_vabsdiff4: return Video::Work::kAbsoluteDifference;
    case Opcode::k_vmin:
    case Opcode::k_vmin2:
    case Opcode::k_vmin4: return Video::Work::kMin;
    case Opcode::k_vmax:
    case Opcode::k_vmax2:
    case Opcode::k_vmax4: return Video::Work::kMax;
    case Opcode::k_vshl: return Video::Work::kShiftLeft;
    case Opcode::k_vshr: return Video::Work::kShiftRight;
    case Opcode::k_vmad: return Video::Work::kMultiplyAdd;
    case Opcode::k_vavrg2:
    case Opcode::k_vavrg4: return Video::Work::kAverage;
    default: return Video::Work::kCompare;
  }
}

std::uint8_t part_of(const isa::Selector& s) {
  return static_cast<std::uint8_t>(s.count == 0 ? 0 : s.digit[0] + (s.halves ? 5 : 1));
}

// Three bits a lane; without a selector, the lanes from `first` on.
std::uint16_t lanes_of(const isa::Selector& s, int lanes, int first) {
  int all = 0;
  for (int i = 0; i < lanes; ++i) all |= (s.count != 0 ? s.digit[i] : first + i) << (3 * i);
  return static_cast<std::uint16_t>(all);
}

Video video_of(const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  const char last = isa::opcode_name(i.opcode).back();
  const int lanes = last == '2' ? 2 : last == '4' ? 4 : 0;
  const bool compares = m.compare != isa::Compare::kNone;
  const auto& operands = i.operands;
  Video v{};
  v.work = static_cast<std::uint8_t>(work_of(i.opcode)) & 15;
  const Video::Second second = m.atom == isa::AtomOp::kAdd   ? Video::Second::kAdd
                               : m.atom == isa::AtomOp::kMin ? Video::Second::kMin
                               : m.atom == isa::AtomOp::kMax ? Video::Second::kMax
                                                             : Video::Second::kNone;
  v.second = static_cast<std::uint8_t>(second) & 3;
  v.lanes = static_cast<std::uint8_t>(lanes / 2) & 3;
  // vset has no result type.
  const Type d = compares ? Type::kU32 : m.type, a = compares ? m.type : m.source_type,
             b = compares ? m.source_type : m.third_type;
  const auto flag = [&](bool on, std::uint8_t which) {
    v.flags = static_cast<std::uint8_t>(v.flags | (on ? which : 0));
  };
  flag(d == Type::kS32, Video::kSignedResult);
  flag(a == Type::kS32, Video::kSignedA);
  flag(b == Type::kS32, Video::kSignedB);
  flag(m.sat, Video::kSaturates);
  flag(m.variant == 1, Video::kPlusOne);
  flag(!m.clamp, Video::kWraps);
  flag(operands[1].minus != operands[2].minus, Video::kMinusProduct);
  flag(operands.size() > 3 && operands[3].minus, Video::kMinusC);
  v.compare = static_cast<std::uint8_t>(m.compare) & 15;
  v.shift = m.component & 15;
  if (lanes == 0) {
    v.to = part_of(operands[0].selector);
    v.a = part_of(operands[1].selector);
    v.b = part_of(operands[2].selector);
    return v;
  }
  const isa::Selector& mask = operands[0].selector;
  for (int n = 0; n < mask.count; ++n) v.to = static_cast<std::uint8_t>(v.to | 1 << mask.digit[n]);
  if (mask.count == 0) v.to = static_cast<std::uint8_t>((1 << lanes) - 1);
  v.a = lanes_of(operands[1].selector, lanes, 0);
  v.b = lanes_of(operands[2].selector, lanes, lanes);
  return v;
}

// `sources`: the number of operands that are read.
program::Meaning meaning_of(const Instruction& i, int sources, const program::AluKey& key) {
  const isa::Modifiers& m = i.modifiers;
  const bool scalar = std::all_of(i.operands.begin(), i.operands.end(), [](const Operand& o) {
    return o.kind != Operand::Kind::kVector && o.kind != Operand::Kind::kPair &&
           o.kind != Operand::Kind::kSink && !o.minus && o.selector.count == 0;
  });
  const bool modified = m.sat || m.carry_in || m.carry_out || m.relu || m.clamp || m.nan || m.abs ||
                        m.xorsign_abs || m.variant != 0 || m.third_type != Type::kNone;
  program::Meaning meaning{i.opcode,
                           m.type,
                           m.source_type,
                           m.compare,
                           m.bool_op,
                           m.half,
                           scalar && !modified && sources <= 4};
  const auto is_vector = [](const Operand& o) {
    return o.kind == Operand::Kind::kVector &&
           std::all_of(o.elements.begin(), o.elements.end(),
                       [](const Operand& e) { return e.kind != Operand::Kind::kSink; });
  };
  meaning.rounding = m.rounding;
  meaning.ftz = m.ftz;
  meaning.left = m.left;
  meaning.packs = i.opcode == Opcode::k_mov && i.operands.size() == 2 &&
                  (is_vector(i.operands[0]) || is_vector(i.operands[1]));
  meaning.common = !m.approx && !m.full && !m.shift_amount && !m.oob && !m.noftz &&
                   m.prmt == isa::PrmtMode::kNone && m.testp == isa::TestpOp::kNone;
  std::copy_n(key.register_bytes, std::size(meaning.bytes), meaning.bytes);
  return meaning;
}

}  // namespace

void lower_compute(FunctionBuilder& b, const Instruction& i) {
  if (lower_special_move(b, i)) return;
  program::AluKey key;
  key.opcode = i.opcode;
  key.modifiers = i.modifiers;
  Op op;
  std::vector<OperandUse> uses;
  const auto& operands = i.operands;
  const bool selects = i.opcode == Opcode::k_selp || i.opcode == Opcode::k_slct;
  int sources = 0;
  const auto put_source = [&](const Operand& o, int bytes) {
    if (sources == 4 && i.opcode != Opcode::k_lop3 && i.opcode != Opcode::k_cvt)
      b.refuse(i, "has more operands than the simulated GPU implements");
    Slot s = kNoSlot;
    if (bytes == 0) {
      if (b.predicate_source(i, o, s)) op.as<program::ComputeFields>().set_negates(sources);
    } else {
      s = b.source(i, o, bytes);
    }
    if (sources < 4) {
      op.src[sources] = s;
    } else {
      op.as<program::ComputeFields>().set_fifth_source(s);  // lop3's predicate, cvt's random bits
    }
    uses.push_back({s, selects && sources == 2 ? Role::kCondition : Role::kValue});
    ++sources;
    const bool is_register = o.kind == Operand::Kind::kRegister;
    key.register_bytes[key.operand_count++] =
        static_cast<std::uint8_t>(is_register && bytes != 0 ? b.register_bytes(o) : bytes);
  };
  if (operands.empty()) b.refuse(i, "is not implemented by the simulated GPU");
  if (operands.size() > 7) b.refuse(i, "is not implemented by the simulated GPU");

  const bool packs = i.opcode == Opcode::k_mov && operands.size() == 2 &&
                     operands[1].kind == Operand::Kind::kVector;
  const bool answers = i.opcode == Opcode::k_clusterlaunchcontrol_query_cancel,
             unpacks = (i.opcode == Opcode::k_mov || answers) &&
                       operands[0].kind == Operand::Kind::kVector;
  if (unpacks) {
    const auto& parts = operands[0].elements;
    const Type whole = answers ? i.modifiers.source_type : i.modifiers.type;
    const int bytes = bytes_of(whole) / static_cast<int>(parts.size());
    if (parts.size() != 2 && parts.size() != 4)
      b.refuse(i, "is not implemented by the simulated GPU");
    Slot* const places[4] = {&op.dst, &op.dst2, &op.src[1], &op.src[2]};
    for (std::size_t n = 0; n < parts.size(); ++n) {
      *places[n] = b.optional_destination(parts[n]);
      key.register_bytes[key.operand_count++] = static_cast<std::uint8_t>(
          parts[n].kind == Operand::Kind::kRegister ? b.register_bytes(parts[n]) : bytes);
      uses.push_back({*places[n], Role::kWrite});
    }
    put_source(operands[1], bytes_of(whole));
  } else {
    const Operand& d = operands[0];
    const int bytes = operand_bytes(i, 0);
    const Operand& first = d.kind == Operand::Kind::kPair ? d.elements[0] : d;
    if (bytes == 0 && first.kind == Operand::Kind::kSink) {
      op.dst = kNoSlot;
    } else {
      op.dst = b.destination(i, first, bytes);
    }
    key.register_bytes[key.operand_count++] = static_cast<std::uint8_t>(
        first.kind == Operand::Kind::kRegister ? b.register_bytes(first) : bytes);
    uses.push_back({op.dst, Role::kWrite});
    if (d.kind == Operand::Kind::kPair) {
      key.has_second_destination = true;
      op.dst2 = b.optional_destination(d.elements[1]);
      uses.push_back({op.dst2, Role::kWrite});
    }
    if (packs) {
      const auto& parts = operands[1].elements;
      for (const Operand& p : parts)
        put_source(p, bytes_of(i.modifiers.type) / static_cast<int>(parts.size()));
    } else {
      for (std::size_t n = 1; n < operands.size(); ++n) {
        const int width = operand_bytes(i, n);
        if (operands[n].kind != Operand::Kind::kVector) {
          put_source(operands[n], width);
        } else {
          for (const Operand& e : operands[n].elements) put_source(e, width);
        }
      }
    }
  }
  if (isa::category_of(i.opcode) == isa::Category::kVideo) {
    op.immediate = std::bit_cast<std::int64_t>(video_of(i));
    key.selects = std::any_of(operands.begin(), operands.end(),
                              [](const Operand& o) { return o.selector.count != 0; });
  }
  op.run = b.handlers().compute(key);
  if (op.run == nullptr) b.refuse(i, "is not implemented by the simulated GPU");
  const ValidityTransfer transfer = validity_transfer(i, op);
  b.emit(i, op, transfer, std::move(uses));
  b.program().meanings.back() = meaning_of(i, sources, key);
}

}  // namespace lockstep::compile
