// tcgen05.mma: D = A * B + D, with D in tensor memory (PTX ISA 9.7.16.10).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/tensor_order.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/matrix/shared_matrix.h"
#include "simulator/engine/ops/tensor/descriptors.h"
#include "simulator/engine/ops/tensor/queue.h"
#include "simulator/engine/ops/tensor/sparse.h"
#include "simulator/engine/ops/tensor/tensor.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/matrix/group_scaled.h"
#include "simulator/matrix/tensor_layout.h"

namespace lockstep::engine {
namespace {

using check::Kind;
using isa::Type;
using program::TensorOperation;

using matrix::AccumulatorPart;

std::vector<AccumulatorPart> parts_of(const TensorWork& work, const TensorProduct& p) {
  return matrix::accumulator_parts(p.operation.shape.m, p.operation.shape.n, work.of->paired,
                                   work.of->stationary, p.operation.sparse);
}

// A block of the pair, or the block itself if it works alone.
Block& block_of(Block& b, const TensorWork& work, int of_pair) {
  return !work.of->paired || static_cast<int>(b.cluster_rank & 1) == of_pair ? b : *partner_of(b);
}

TensorRegion region_of(std::uint32_t address, const AccumulatorPart& part, std::uint32_t columns) {
  return {tensor_lane(address) + static_cast<std::uint32_t>(part.lane),
          static_cast<std::uint32_t>(part.lanes()), tensor_column(address), columns, part.spread};
}

// Whether the address may start a matrix. All rows start in lane 0, or also in lane 16 if 64 rows
// occupy every second group of 16 lanes.
bool may_begin(std::uint32_t address, bool spread) {
  const std::uint32_t lane = tensor_lane(address);
  return lane == 0 || (spread && lane == kTensorGroup);
}

std::uint32_t word_of(std::uint32_t address, const AccumulatorPart& part, int row,
                      std::uint32_t column) {
  return TensorMemory::word(tensor_lane(address) + static_cast<std::uint32_t>(part.lane_of(row)),
                            tensor_column(address) + column);
}

std::uint32_t columns_of_a(const TensorProduct& p) {
  return static_cast<std::uint32_t>(p.stored_k() * p.stored_bits()) / 32;
}

bool is_disabled(const TensorWork& work, const AccumulatorPart& part, std::uint32_t word) {
  const std::uint32_t lane = word % kTensorLanes + static_cast<std::uint32_t>(part.block) * 128;
  return (work.disabled[lane / 32] >> lane % 32 & 1) != 0;
}

void negate(std::vector<std::uint64_t>& elements, Type type) {
  const int bits = type == Type::kTF32                          ? 32
                   : type == Type::kF16 || type == Type::kBF16  ? 16
                   : type == Type::kE2M1                        ? 4
                   : type == Type::kE2M3 || type == Type::kE3M2 ? 6
                                                                : 8;
  for (std::uint64_t& e : elements) e ^= std::uint64_t{1} << (bits - 1);
}

// Reads the present bytes of a matrix in shared memory. They were checked when the work was issued.
std::vector<std::uint64_t> read_shared(const Block& b, std::uint64_t bits, int rows, int columns,
                                       int width, bool across, Type type) {
  Descriptor d;
  understand(bits, d);
  std::vector<std::uint64_t> out(static_cast<std::size_t>(rows) *
                                 static_cast<std::size_t>(columns));
  each_chunk(d, rows, columns, width, across, [&](std::uint32_t address, int line, int first) {
    const int count = 128 / width;
    std::uint64_t chunk[32] = {};
    for (int e = 0; e < count; ++e) {
      std::memcpy(&chunk[e], b.shared.bytes.get() + address + e * width / 8,
                  static_cast<std::size_t>(std::max(width / 8, 1)));
      if (width == 4) chunk[e] = chunk[e] >> (e % 2 * 4) & 15;
    }
    if (width == 8) spread_narrow(chunk, static_cast<std::size_t>(count), type);
    for (int e = 0; e < count; ++e) {
      const int at = first + e;
      out[static_cast<std::size_t>(across ? at * columns + line : line * columns + at)] = chunk[e];
    }
  });
  return out;
}

std::vector<std::uint64_t> read_a_of_tensor_memory(const TensorMemory& t, const TensorWork& work,
                                                   const TensorProduct& p,
                                                   const AccumulatorPart& part) {
  const int k = p.stored_k(), width = p.stored_bits(), per = 32 / width;
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  std::vector<std::uint64_t> out;
  out.reserve(static_cast<std::size_t>(part.rows * k));
  for (int row = 0; row < part.rows; ++row) {
    const int from = work.of->shifts_a ? row_below(row) : row;
    for (int e = 0; e < k; ++e) {
      const std::uint32_t word =
          (*t.words)[word_of(work.a_tensor, part, from, static_cast<std::uint32_t>(e / per))];
      out.push_back(word >> (e % per * width) & mask);
    }
  }
  return out;
}

// The place of the scales of `count` rows or columns of D. They are in 32 lanes from `lane` on,
// repeated in each further 32 lanes. The scales of the next 32 rows are in the next column. Each
// has `per_line` bytes from `byte` of the word on. The manual shows only in figures where scales
// are that exceed a word. Here they continue in the word that is as many columns further as 128 (or
// 256) rows occupy, as in CUTLASS's fragments of scale factors.
struct ScalePlace {
  std::uint32_t address = 0, lane = 0;
  int count = 0, byte = 0, per_line = 0;

  std::uint32_t columns() const { return static_cast<std::uint32_t>(count + 31) / 32; }
  int words() const { return (byte + per_line + 3) / 4; }  // for each row
  std::uint32_t column(int word) const {
    return tensor_column(address) + static_cast<std::uint32_t>(word * ((count + 127) / 128) * 4);
  }
};

std::vector<std::uint8_t> scales_of(const TensorMemory& t, const ScalePlace& p) {
  std::vector<std::uint8_t> scales;
  for (int n = 0; n < p.count; ++n) {
    for (int i = p.byte; i < p.byte + p.per_line; ++i) {
      const std::uint32_t word =
          (*t.words)[TensorMemory::word(p.lane + static_cast<std::uint32_t>(n % 32),
                                        p.column(i / 4) + static_cast<std::uint32_t>(n / 32))];
      scales.push_back(static_cast<std::uint8_t>(word >> (8 * (i % 4))));
    }
  }
  return scales;
}

ScalePlace row_scales(const TensorWork& work, const TensorProduct& p, const AccumulatorPart& part) {
  return {work.row_scales, 0, part.rows, p.row_scale, p.scales};
}

// The scales of a part's columns are in its own lanes, as in CUTLASS.
ScalePlace column_scales(const TensorWork& work, const TensorProduct& p,
                         const AccumulatorPart& part) {
  return {work.column_scales, static_cast<std::uint32_t>(part.lane), part.columns, p.column_scale,
          p.scales};
}

// Converts scales of ue8m0 to exponents.
std::vector<std::int16_t> exponents_of(const std::vector<std::uint8_t>& scales) {
  constexpr int kBias = 127, kNaN = 255;
  std::vector<std::int16_t> exponents;
  for (const std::uint8_t v : scales)
    exponents.push_back(v == kNaN ? matrix::Operation::kNotANumber
                                  : static_cast<std::int16_t>(v - kBias));
  return exponents;
}

// Whether the scales are initialised: columns of `lanes` lanes that have been written.
bool access_scales(Warp& w, int lane, Block& owner, std::uint32_t number, const ScalePlace& p,
                   std::uint32_t lanes, const char* whose) {
  for (int word = 0; word < p.words(); ++word) {
    const TensorRegion region{p.lane, lanes, p.column(word), p.columns()};
    if (!access_tensor(w, lane, owner, number, region, false)) return false;
    for (std::uint32_t c = 0; c < region.columns; ++c) {
      for (std::uint32_t l = p.lane; l < p.lane + lanes; ++l) {
        if (owner.tensor->written[TensorMemory::word(l, region.column + c)]) continue;
        return refuse_tensor(w, lane, Kind::kUninitialised,
                             std::string("the scales of ") + whose +
                                 " were never written in column " +
                                 std::to_string(region.column + c) + ", lane " + std::to_string(l),
                             "tcgen05.cp.32x128b.warpx4 writes them to all four quarters.");
      }
    }
  }
  return true;
}

// The accumulator multiplied by 2^-scale.
std::uint64_t scaled(std::uint64_t bits, Type type, int scale) {
  if (scale == 0) return bits;
  if (type == Type::kF32) {
    const auto v = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return std::bit_cast<std::uint32_t>(std::ldexp(v, -scale));
  }
  // Subtracts from the exponent; subnormal results are rounded with ties to even.
  const auto sign = static_cast<std::uint32_t>(bits & 0x8000);
  int exponent = static_cast<int>(bits >> 10 & 31);
  std::uint32_t significand = static_cast<std::uint32_t>(bits & 0x3ff);
  if (exponent == 31) return bits;
  if (exponent != 0) significand |= 0x400;
  exponent = std::max(exponent, 1) - scale;
  if (exponent >= 1 && (significand & 0x400) != 0)
    return sign | static_cast<std::uint32_t>(exponent) << 10 | (significand & 0x3ff);
  const int down = 1 - exponent;
  if (down <= 0) return sign | significand;
  const std::uint32_t kept = down > 11 ? 0 : significand >> down,
                      rest = down > 11 ? 0 : significand & ((1u << down) - 1),
                      half = down > 11 ? 1 : 1u << (down - 1);
  return sign | (kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0));
}

// The issue of a product: records and checks what it accesses, in one block after the other.
class ProductIssue {
 public:
  ProductIssue(Warp& w, const Op& op, int lane) : w_(w), op_(op), lane_(lane) {}

  bool run() {
    const TensorOperation& o = listed_operation_of(w_, op_);
    if (!find_partner(w_, lane_, o.paired, true, partner_) || !read_operands(o)) return false;
    work_.access = begin_tensor_access(w_, lane_, TensorAccess::What::kMultiply);
    if (partner_ != nullptr)
      work_.partner_access =
          begin_tensor_access(w_, lane_, TensorAccess::What::kMultiply, *partner_);
    parts_ = parts_of(work_, product_);
    for (const AccumulatorPart& part : parts_) {
      if (!access_a(part) || !access_metadata(part) || !access_scales_of(part)) return false;
    }
    if (!access_b()) return false;
    for (const AccumulatorPart& part : parts_) {
      if (!access_accumulator(part)) return false;
    }
    enqueue(w_, work_, std::move(read_[0]), std::move(read_[1]));
    return true;
  }

 private:
  bool refuse(std::string where, const char* detail) {
    refuse_tensor(w_, lane_, Kind::kInvalidInstruction, std::move(where), detail);
    w_.event = Event::kAbort;
    return false;
  }

  bool read_operands(const TensorOperation& o) {
    work_.of = &o;
    work_.warp = w_.index;
    work_.lane = static_cast<std::uint32_t>(lane_);
    work_.pc = w_.pc - 1;
    work_.d = static_cast<std::uint32_t>(address_of(w_, o.address, lane_));
    work_.b = source<std::uint64_t>(w_, o.b)[lane_];
    work_.instruction = source<std::uint32_t>(w_, o.instruction)[lane_];
    work_.accumulates = ((predicate(w_, o.accumulates) >> lane_ & 1) != 0) != o.accumulates_negated;
    for (int n = 0; n < 8; ++n) {
      if (o.disabled[n] != kNoSlot)
        work_.disabled[n] = source<std::uint32_t>(w_, o.disabled[n])[lane_];
    }
    const int capability = w_.block->launch->config->compute_capability;
    if (const std::string why = understand(work_.instruction, o, capability, product_);
        !why.empty())
      return refuse("its instruction descriptor " + why,
                    "PTX ISA 9.7.16.4.2 has the fields of the descriptor.");
    const int m = product_.operation.shape.m;
    const bool spread = !o.stationary && (o.paired ? o.sparse && m == 128 : m == 64);
    const char* const begins = "Rows begin in lane 0; 64 rows of one block in lane 0 or 16.";
    if (!may_begin(work_.d, spread))
      return refuse("the accumulator begins in lane " + std::to_string(tensor_lane(work_.d)),
                    begins);
    if (o.sparse) {
      work_.metadata = static_cast<std::uint32_t>(address_of(w_, o.metadata, lane_));
      if (tensor_lane(work_.metadata) != tensor_lane(work_.d))
        return refuse("the metadata begin in lane " + std::to_string(tensor_lane(work_.metadata)),
                      "They begin in the lane in which the accumulator does.");
      work_.metadata += static_cast<std::uint32_t>(product_.metadata_column);
    }
    if (o.zero_columns != kNoSlot) {
      work_.zero_columns = source<std::uint64_t>(w_, o.zero_columns)[lane_];
      if (const std::string why =
              understand_zero_columns(work_.zero_columns, m, product_.farthest_column);
          !why.empty())
        return refuse("the mask of columns of B " + why,
                      "PTX ISA 9.7.16.4.3 has the fields of the mask.");
    }
    Descriptor unused;
    if (const std::string why = understand(work_.b, product_.b_across, capability, unused);
        !why.empty())
      return refuse("the descriptor of B " + why, "PTX ISA 9.7.16.4.1 has the fields.");
    if (o.row_scales.slot != kNoSlot) {
      work_.row_scales = static_cast<std::uint32_t>(address_of(w_, o.row_scales, lane_));
      work_.column_scales = static_cast<std::uint32_t>(address_of(w_, o.column_scales, lane_));
    }
    if (o.a != kNoSlot) {
      work_.a = source<std::uint64_t>(w_, o.a)[lane_];
      const std::string why = understand(work_.a, product_.a_across, capability, unused);
      return why.empty() ||
             refuse("the descriptor of A " + why, "PTX ISA 9.7.16.4.1 has the fields.");
    }
    work_.a_tensor = static_cast<std::uint32_t>(address_of(w_, o.a_address, lane_));
    if (!may_begin(work_.a_tensor, spread))
      return refuse("A begins in lane " + std::to_string(tensor_lane(work_.a_tensor)), begins);
    return !product_.a_across ||
           refuse("its instruction descriptor transposes an A in tensor memory",
                  "There a row lies in a lane.");
  }

  Block& owner(int block) { return block_of(*w_.block, work_, block); }
  bool is_own(const Block& b) const { return &b == w_.block; }
  std::uint32_t number(const Block& b) const {
    return is_own(b) ? work_.access : work_.partner_access;
  }

  // Reads `rows` lines of a factor in the shared memory of a block of the pair.
  bool read(Block& b, std::uint64_t descriptor, int rows, int k, bool across, Type type) {
    Descriptor d;
    understand(descriptor, d);
    if (!is_own(b)) {
      d.start = named(b.cluster_rank, d.start);
      if (d.absolute) d.leading = named(b.cluster_rank, d.leading);
    }
    std::vector<std::uint64_t> whole(static_cast<std::size_t>(rows * k));
    return read_matrix(w_, op_, d, rows, k, product_.stored_bits(), across, whole.data(),
                       read_[is_own(b) ? 0 : 1], lane_, held_bytes(type));
  }
  // The bytes used of 16 bytes with 16 elements. Narrower elements leave a gap, unless they are
  // packed.
  int held_bytes(Type type) const {
    if (product_.stored_bits() != 8) return kChunkBytes;
    return type == Type::kE2M1 ? 8 : type == Type::kE2M3 || type == Type::kE3M2 ? 12 : kChunkBytes;
  }

  bool access_a(const AccumulatorPart& part) {
    Block& b = owner(part.block);
    if (work_.of->a != kNoSlot)
      return part.column != 0 || read(b, work_.a, part.rows, product_.stored_k(), product_.a_across,
                                      product_.operation.a);
    return access_rows(b, part, work_.a_tensor, columns_of_a(product_), "A in tensor memory was");
  }

  bool access_metadata(const AccumulatorPart& part) {
    return !work_.of->sparse ||
           access_rows(owner(part.block), part, work_.metadata, columns_of_metadata(product_),
                       "the metadata of A were");
  }

  // Accesses the operands in tensor memory, one row in each lane.
  bool access_rows(Block& b, const AccumulatorPart& part, std::uint32_t address,
                   std::uint32_t columns, const char* what) {
    const TensorRegion region = region_of(address, part, columns);
    if (!access_tensor(w_, lane_, b, number(b), region, false)) return false;
    for (int row = 0; row < part.rows; ++row) {
      for (std::uint32_t c = 0; c < region.columns; ++c) {
        if (b.tensor->written[word_of(address, part, row, c)]) continue;
        return refuse_tensor(w_, lane_, Kind::kUninitialised,
                             what +
                                 (" never written in column " + std::to_string(region.column + c)) +
                                 ", lane " + std::to_string(part.lane_of(row)),
                             "tcgen05.st or tcgen05.cp must write it first.");
      }
    }
    return true;
  }

  bool access_scales_of(const AccumulatorPart& part) {
    if (work_.of->row_scales.slot == kNoSlot) return true;
    Block& b = owner(part.block);
    const bool whole = part.columns == product_.operation.shape.n;
    return (part.column != 0 ||
            access_scales(w_, lane_, b, number(b), row_scales(work_, product_, part), kTensorLanes,
                          "A")) &&
           access_scales(w_, lane_, b, number(b), column_scales(work_, product_, part),
                         whole ? kTensorLanes : static_cast<std::uint32_t>(part.rows), "B");
  }

  // In a pair each block holds half of B's columns.
  bool access_b() {
    const int n = product_.operation.shape.n, k = product_.operation.shape.k;
    if (partner_ == nullptr)
      return read(*w_.block, work_.b, n + first_column(work_.zero_columns), k, product_.b_across,
                  product_.operation.b);
    return read(owner(0), work_.b, n / 2, k, product_.b_across, product_.operation.b) &&
           read(owner(1), work_.b, n / 2, k, product_.b_across, product_.operation.b);
  }

  bool access_accumulator(const AccumulatorPart& part) {
    Block& b = owner(part.block);
    TensorMemory& t = tensor_of(b);
    const TensorRegion region = region_of(work_.d, part, static_cast<std::uint32_t>(part.columns));
    if (!access_tensor(w_, lane_, b, number(b), region, true)) return false;
    bool reported = false;
    for (int row = 0; row < part.rows; ++row) {
      for (std::uint32_t c = 0; c < region.columns; ++c) {
        const std::uint32_t at = word_of(work_.d, part, row, c);
        if (is_disabled(work_, part, at)) continue;
        if (work_.accumulates && !t.written[at] && !reported) {
          reported = true;
          if (!refuse_tensor(w_, lane_, Kind::kUninitialised,
                             "the accumulator was never written in column " +
                                 std::to_string(region.column + c) + ", lane " +
                                 std::to_string(at % kTensorLanes),
                             "The first product of a sum must not add to the accumulator: "
                             "enable-input-d is false there."))
            return false;
        }
        t.written[at] = true;
      }
    }
    return true;
  }

  Warp& w_;
  const Op& op_;
  const int lane_;
  Block* partner_ = nullptr;
  TensorWork work_;
  TensorProduct product_;
  std::vector<AccumulatorPart> parts_;
  std::vector<MatrixBytes> read_[2];  // in the own block, in the partner
};

// The data shared by all parts of a product.
struct Whole {
  TensorProduct product;
  std::vector<std::uint64_t> b;
};

// Computes one part of D. `a`: the part's rows of A.
void do_part(Block& b, const TensorWork& work, const Whole& whole, const AccumulatorPart& part,
             std::vector<std::uint64_t> a) {
  const TensorProduct& p = whole.product;
  TensorMemory& t = tensor_of(b);
  matrix::Operation o = p.operation;
  o.compute_capability = b.launch->config->compute_capability;
  o.warpgroup = true;
  o.shape.m = static_cast<std::uint16_t>(part.rows);
  o.shape.n = static_cast<std::uint16_t>(part.columns);
  const std::size_t k = o.shape.k, n = o.shape.n, stored = static_cast<std::size_t>(p.stored_k());
  if (p.a_negated) negate(a, o.a);
  const std::uint64_t* const rhs = whole.b.data() + static_cast<std::size_t>(part.column) * k;
  std::vector<std::uint64_t> c(o.shape.m * n), d(c.size());
  const std::uint64_t mask = o.d == Type::kF16 ? 0xffff : 0xffffffff;
  for (int row = 0; work.accumulates && row < part.rows; ++row) {
    for (std::size_t at = 0; at < n; ++at)
      c[static_cast<std::size_t>(row) * n + at] =
          scaled((*t.words)[word_of(work.d, part, row, static_cast<std::uint32_t>(at))] & mask, o.d,
                 work.of->scale);
  }
  const std::vector<std::uint8_t> kept =
      o.sparse ? columns_kept(t, work.metadata, p, part) : std::vector<std::uint8_t>();
  std::vector<std::uint8_t> rows, columns;
  if (work.of->row_scales.slot != kNoSlot) {
    rows = scales_of(t, row_scales(work, p, part));
    columns = scales_of(t, column_scales(work, p, part));
  }
  if (p.packed) {
    matrix::multiply_group_scaled(o.shape, a.data(), rhs, c.data(),
                                  o.sparse ? kept.data() : nullptr,
                                  {rows.data(), columns.data(), p.scales, p.ue4m3}, d.data());
  } else {
    const std::vector<std::int16_t> of_rows = exponents_of(rows),
                                    of_columns = exponents_of(columns);
    if (!of_columns.empty()) o.column_scales = of_columns.data();
    constexpr int kRows = 16;
    o.shape.m = kRows;
    for (int row = 0; row < part.rows; row += kRows) {
      const auto at = static_cast<std::size_t>(row);
      if (!of_rows.empty()) o.row_scales = of_rows.data() + at;
      matrix::multiply(o, a.data() + at * stored, rhs, c.data() + at * n,
                       o.sparse ? kept.data() + at * stored : nullptr, d.data() + at * n);
    }
  }
  std::vector<std::uint32_t>& words = on_write(*b.worker, t.words);
  for (int row = 0; row < part.rows; ++row) {
    for (std::size_t at = 0; at < n; ++at) {
      const std::uint32_t word = word_of(work.d, part, row, static_cast<std::uint32_t>(at));
      if (!is_disabled(work, part, word))
        words[word] = static_cast<std::uint32_t>(d[static_cast<std::size_t>(row) * n + at]);
    }
  }
}

}  // namespace

void do_multiply(Block& b, const TensorWork& work) {
  Whole whole;
  TensorProduct& p = whole.product;
  understand(work.instruction, *work.of, b.launch->config->compute_capability, p);
  const isa::Shape s = p.operation.shape;
  const int width = p.stored_bits(), blocks = work.of->paired ? 2 : 1;
  for (int block = 0; block < blocks; ++block) {
    const auto half = read_shared(block_of(b, work, block), work.b,
                                  s.n / blocks + first_column(work.zero_columns), s.k, width,
                                  p.b_across, p.operation.b);
    whole.b.insert(whole.b.end(), half.begin(), half.end());
  }
  if (work.of->zero_columns != kNoSlot) take_columns(whole.b, work.zero_columns, s);
  if (p.b_negated) negate(whole.b, p.operation.b);
  for (const AccumulatorPart& part : parts_of(work, p)) {
    Block& owner = block_of(b, work, part.block);
    do_part(owner, work, whole, part,
            work.of->a == kNoSlot ? read_a_of_tensor_memory(tensor_of(owner), work, p, part)
                                  : read_shared(owner, work.a, part.rows, p.stored_k(), width,
                                                p.a_across, p.operation.a));
  }
}

void run_tensor_multiply(Warp& w, const Op& op, LaneMask mask) {
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1) {
    if (!ProductIssue(w, op, std::countr_zero(todo)).run()) return;
  }
}

}  // namespace lockstep::engine
