#include "simulator/compile/lower_matrix.h"

#include <utility>

#include "simulator/isa/forms.h"
#include "simulator/matrix/fragments.h"
#include "simulator/program/matrix.h"
#include "simulator/program/synchronisation.h"

namespace lockstep::compile {
namespace {

using isa::Opcode;
using isa::Type;
using matrix::Family;
using matrix::Fragment;
using matrix::Which;
using program::Matrix;
using program::MatrixRegisters;

// Builds an operation of a whole warp.
struct WholeWarp {
  FunctionBuilder& b;
  const Instruction& i;
  Op op;
  Matrix matrix{};
  std::vector<OperandUse> uses;

  WholeWarp(FunctionBuilder& builder, const Instruction& instruction, Action action)
      : b(builder), i(instruction) {
    b.set_action(op, action);
    op.kind = OpKind::kControl;
    op.as<program::SyncFields>().set_kind(program::SyncKind::kWholeWarp);
    op.register_bytes = 4;
    op.src[3] = b.source(i, all_lanes(), 4);
  }

  // Appends the registers of a vector, or one register, to Program::slots. Returns the index of the
  // first.
  std::uint32_t registers(const Operand& o, int bytes, Role role) {
    const auto first = static_cast<std::uint32_t>(b.program().slots.size());
    const auto add = [&](const Operand& e) {
      const Slot s = role == Role::kWrite ? b.optional_destination(e) : b.source(i, e, bytes);
      b.program().slots.push_back(s);
      uses.push_back({s, role});
    };
    if (o.kind == Operand::Kind::kVector) {
      for (const Operand& e : o.elements) add(e);
    } else {
      add(o);
    }
    return first;
  }

  MatrixRegisters fragment(const Fragment& f, const Operand& o, Role role) {
    MatrixRegisters m;
    m.first = registers(o, f.bits() == 64 ? 8 : 4, role);
    m.registers = f.registers();
    m.bits = f.bits();
    m.rows = f.rows();
    m.columns = f.columns();
    for (int lane = 0; lane < program::kWarpSize; ++lane) {
      for (int n = 0; n < f.elements(); ++n) {
        const matrix::Element e = element_of(f, lane, n);
        m.places.push_back(static_cast<std::uint16_t>(
            f.which == Which::kB ? e.column * m.rows + e.row : e.row * m.columns + e.column));
      }
    }
    return m;
  }

  void address(const Operand& o) {
    const isa::Space space =
        i.modifiers.space == isa::Space::kNone ? isa::Space::kGeneric : i.modifiers.space;
    matrix.address = b.further_address(i, o, space);
    uses.push_back({matrix.address.slot, Role::kAddress});
    op.space = static_cast<std::uint8_t>(space);
  }

  Slot descriptor(const Operand& o) {
    const Slot s = b.source(i, o, 8);
    uses.push_back({s, Role::kAddress});
    return s;
  }

  program::Matrix::Scales scales(const Operand& data, const Operand& chosen) {
    program::Matrix::Scales s;
    s.data = b.source(i, data, 4);
    s.byte = b.source(i, chosen.elements[0], 2);
    s.thread = b.source(i, chosen.elements[1], 2);
    for (const Slot slot : {s.data, s.byte, s.thread}) uses.push_back({slot, Role::kFactor});
    return s;
  }

  // The metadata of a sparse A.
  void metadata(const Operand& bits, const Operand& chosen) {
    const auto selectors = static_cast<std::uint64_t>(isa::sparsity_selectors(i.modifiers));
    if (chosen.bits >= selectors) {
      b.refuse(i, "has a sparsity selector of " + std::to_string(chosen.bits) +
                      ", and this form has " + std::to_string(selectors) + " of them");
    }
    matrix.metadata = b.source(i, bits, 4);
    uses.push_back({matrix.metadata, Role::kFactor});
    const matrix::Sparsity sparsity{matrix.packed ? Type::kS4 : matrix.operation.a,
                                    matrix.operation.shape};
    for (int row = 0; row < matrix.operation.shape.m; ++row) {
      for (int group = 0; group < sparsity.groups(); ++group) {
        const auto place = sparsity.place(row, group, static_cast<int>(chosen.bits));
        matrix.metadata_places.push_back(
            {static_cast<std::uint8_t>(place.lane), static_cast<std::uint8_t>(place.shift)});
      }
    }
  }

  void emit(ValidityTransfer transfer) {
    const auto index = static_cast<std::uint32_t>(b.program().matrices.size());
    op.immediate = index;
    b.program().matrices.push_back(std::move(matrix));
    b.emit(i, op, transfer, std::move(uses));
  }

 private:
  static Operand all_lanes() {
    Operand o;
    o.kind = Operand::Kind::kImmediate;
    o.bits = 0xffffffff;
    return o;
  }
};

// For kind::f8f6f4 and mxf8f6f4: the position of an element in its byte (PTX ISA 9.7.14.5.8).
program::Matrix::Narrow narrow_of(Type type) {
  switch (type) {
    case Type::kE2M1: return {2, 0xf};
    case Type::kE2M3:
    case Type::kE3M2: return {0, 0x3f};
    default: return {};
  }
}

// mma, mma.sp and wmma.mma.
void lower_multiply(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  const bool wmma = i.opcode == Opcode::k_wmma_mma, sparse = i.opcode == Opcode::k_mma_sp;
  const Family family = wmma ? Family::kWmma : sparse ? Family::kMmaSparse : Family::kMma;
  WholeWarp w(b, i, Action::kMultiply);
  matrix::Operation& o = w.matrix.operation;
  // wmma.mma of f16 names only the types of D and C.
  const bool halves = wmma && m.third_type == Type::kNone;
  o.d = m.type;
  o.a = halves ? Type::kF16 : m.source_type;
  o.b = halves ? Type::kF16 : m.third_type;
  o.c = halves ? m.source_type : m.fourth_type;
  o.shape = m.shape;
  o.bits = m.bool_op;
  o.rounding = m.rounding;
  o.saturates = m.sat;
  o.sparse = sparse;
  // wmma.m16n16k8 is two steps of mma.m16n8k4, as with ptxas.
  if (wmma && o.a == Type::kTF32) o.products = 4;
  const auto& operands = i.operands;
  const bool has_kind = m.tensor_kind != isa::TensorKind::kNone;
  w.matrix.packed = has_kind && m.tensor_kind != isa::TensorKind::kF8F6F4 &&
                    m.tensor_kind != isa::TensorKind::kMxF8F6F4;
  if (has_kind && !w.matrix.packed) {
    w.matrix.narrow_a = narrow_of(o.a);
    w.matrix.narrow_b = narrow_of(o.b);
  }
  // Packed elements have the layout of 4-bit integers.
  const Fragment a{family, Which::kA, w.matrix.packed ? Type::kS4 : o.a, m.shape, m.a_by_columns},
      rhs{family, Which::kB, w.matrix.packed ? Type::kS4 : o.b, m.shape, m.b_by_columns};
  const Fragment c{family, Which::kC, o.c, m.shape, false},
      d{family, Which::kC, o.d, m.shape, false};
  w.matrix.a = w.fragment(a, operands[1], Role::kValue);
  w.matrix.b = w.fragment(rhs, operands[2], Role::kValue);
  w.matrix.c = w.fragment(c, operands[3], Role::kValue);
  if (is_quad(a)) w.matrix.multiplications = 4;
  if (sparse) w.metadata(operands[4], operands[5]);
  if (m.scale_vector != 0) {
    const std::size_t first = sparse ? 6 : 4;
    w.matrix.scales_per_line = w.matrix.packed ? 64 / m.scale_vector : 1;
    w.matrix.fine_scales = m.fine_scales;
    w.matrix.row_scales = w.scales(operands[first], operands[first + 1]);
    w.matrix.column_scales = w.scales(operands[first + 2], operands[first + 3]);
  }
  w.matrix.d = w.fragment(d, operands[0], Role::kWrite);
  w.emit(ValidityTransfer::kExchange);
}

// wgmma.mma_async. The shape has 64 rows, 16 for each of the four warps.
void lower_warpgroup_multiply(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  const bool sparse = i.opcode == Opcode::k_wgmma_mma_async_sp, in_registers = m.variant == 1;
  WholeWarp w(b, i, Action::kWarpgroupMultiply);
  matrix::Operation& o = w.matrix.operation;
  o.d = o.c = m.type;
  o.a = m.source_type;
  o.b = m.third_type;
  o.shape = {16, m.shape.n, m.shape.k};
  o.bits = m.bool_op;
  o.saturates = m.sat;
  o.sparse = sparse;
  o.warpgroup = true;
  const Family family = sparse ? Family::kWarpgroupSparse : Family::kWarpgroup;
  const auto& operands = i.operands;
  auto& d = w.matrix.descriptors;
  if (in_registers) {
    w.matrix.a = w.fragment({family, Which::kA, o.a, o.shape, false}, operands[1], Role::kValue);
  } else {
    d.a = w.descriptor(operands[1]);
  }
  d.b = w.descriptor(operands[2]);
  std::size_t next = 3;
  if (sparse) {
    w.metadata(operands[3], operands[4]);
    next = 5;
  }
  if (b.predicate_source(i, operands[next], d.accumulates))
    b.refuse(i, "has a negated predicate, which is not implemented by the simulated GPU");
  w.uses.push_back({d.accumulates, Role::kCondition});
  ++next;
  const auto negates = [&](const char* factor) {
    const auto v = static_cast<std::int64_t>(operands[next++].bits);
    if (v != 1 && v != -1)
      b.refuse(
          i, std::string("scales ") + factor + " by " + std::to_string(v) + ": 1 or -1 is wanted");
    return v == -1;
  };
  const auto is_set = [&] { return next < operands.size() && operands[next++].bits != 0; };
  if (next < operands.size()) {
    d.a_negated = negates("A");
    d.b_negated = negates("B");
  }
  if (!in_registers) d.a_across = is_set();
  d.b_across = is_set();
  const Fragment result{family, Which::kC, o.d, o.shape, false};
  w.matrix.c = w.fragment(result, operands[0], Role::kValue);
  w.matrix.d = w.fragment(result, operands[0], Role::kWrite);
  w.emit(ValidityTransfer::kExchange);
}

void lower_warpgroup_order(FunctionBuilder& b, const Instruction& i) {
  const Action action = i.opcode == Opcode::k_wgmma_fence          ? Action::kWarpgroupFence
                        : i.opcode == Opcode::k_wgmma_commit_group ? Action::kWarpgroupCommit
                        : i.opcode == Opcode::k_wgmma_wait_group   ? Action::kWarpgroupWait
                                                                   : Action::kWarpgroupRegisters;
  WholeWarp w(b, i, action);
  if (!i.operands.empty()) w.op.src[0] = b.source(i, i.operands[0], 4);
  w.emit(ValidityTransfer::kControl);
}

// wmma.load and wmma.store: a matrix and its stride.
void lower_fragment(FunctionBuilder& b, const Instruction& i) {
  const isa::Modifiers& m = i.modifiers;
  const bool loads = i.opcode == Opcode::k_wmma_load;
  WholeWarp w(b, i, loads ? Action::kLoadFragment : Action::kStoreFragment);
  const Which which = m.variant == 1 ? Which::kA : m.variant == 2 ? Which::kB : Which::kC;
  const Fragment f{Family::kWmma, which, m.type, m.shape, false};
  w.address(i.operands[loads ? 1 : 0]);
  if (i.operands.size() == 3) {
    w.op.src[1] = b.source(i, i.operands[2], 4);
    w.uses.push_back({w.op.src[1], Role::kAddress});
  }
  w.matrix.d = w.fragment(f, i.operands[loads ? 0 : 1], loads ? Role::kWrite : Role::kValue);
  w.matrix.by_columns = m.a_by_columns;
  w.matrix.d_by_columns = which == Which::kB;
  for (const int place : w.matrix.d.places) {
    // Elements of B are numbered column by column.
    const int across = w.matrix.d_by_columns ? w.matrix.d.rows : w.matrix.d.columns;
    const bool in_order = w.matrix.d_by_columns == w.matrix.by_columns;
    w.matrix.lines.push_back(static_cast<std::uint8_t>(in_order ? place / across : place % across));
    w.matrix.places_in_line.push_back(
        static_cast<std::uint8_t>(in_order ? place % across : place / across));
  }
  w.matrix.natural_stride = static_cast<std::uint32_t>(m.a_by_columns ? f.rows() : f.columns());
  w.matrix.operation.d = m.type;
  w.op.width = static_cast<std::uint8_t>(f.bits() < 8 ? 4 : f.bits() / 8);
  w.emit(loads ? ValidityTransfer::kLoad : ValidityTransfer::kStore);
}

// ldmatrix and stmatrix: up to four matrices of 8 by 8.
void lower_rows(FunctionBuilder& b, const Instruction& i) {
  const bool loads = i.opcode == Opcode::k_ldmatrix;
  WholeWarp w(b, i, loads ? Action::kLoadMatrix : Action::kStoreMatrix);
  w.address(i.operands[loads ? 1 : 0]);
  w.op.width = 16;
  using Kind = program::MatrixRowsFields::Kind;
  const isa::Shape shape = i.modifiers.shape;
  w.op.as<program::MatrixRowsFields>().set(shape.m == 16 && shape.n == 16 ? Kind::kBytesAcross16
                                           : shape.m == 16                ? Kind::kBytesAcross8
                                           : i.modifiers.transposed       ? Kind::kHalvesAcross
                                                                          : Kind::kHalves,
                                           i.modifiers.narrow_bits);
  const std::uint32_t first =
      w.registers(i.operands[loads ? 0 : 1], 4, loads ? Role::kWrite : Role::kValue);
  w.op.as<program::ListedFields>().set_first(first);
  w.op.elements = static_cast<std::uint8_t>(b.program().slots.size() - first);
  w.emit(loads ? ValidityTransfer::kLoad : ValidityTransfer::kStore);
}

}  // namespace

void lower_matrix(FunctionBuilder& b, const Instruction& i) {
  switch (i.opcode) {
    case Opcode::k_ldmatrix:
    case Opcode::k_stmatrix: return lower_rows(b, i);
    case Opcode::k_wmma_load:
    case Opcode::k_wmma_store: return lower_fragment(b, i);
    case Opcode::k_movmatrix: {
      WholeWarp w(b, i, Action::kMoveMatrix);
      w.op.dst = b.destination(i, i.operands[0], 4);
      w.op.src[1] = b.source(i, i.operands[1], 4);
      w.uses.push_back({w.op.src[1], Role::kValue});
      w.uses.push_back({w.op.dst, Role::kWrite});
      return w.emit(ValidityTransfer::kExchange);
    }
    case Opcode::k_wgmma_mma_async:
    case Opcode::k_wgmma_mma_async_sp: return lower_warpgroup_multiply(b, i);
    case Opcode::k_wgmma_fence:
    case Opcode::k_wgmma_commit_group:
    case Opcode::k_wgmma_wait_group:
    case Opcode::k_setmaxnreg: return lower_warpgroup_order(b, i);
    default: return lower_multiply(b, i);
  }
}

}  // namespace lockstep::compile
