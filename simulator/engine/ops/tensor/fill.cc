// tcgen05.cp: from shared memory into tensor memory (PTX ISA 9.7.16.9).
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/tensor_order.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/matrix/shared_matrix.h"
#include "simulator/engine/ops/tensor/descriptors.h"
#include "simulator/engine/ops/tensor/queue.h"
#include "simulator/engine/ops/tensor/tensor.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/shared_place.h"

namespace lockstep::engine {
namespace {

using check::Kind;
using isa::TensorMulticast;
using isa::TensorShape;
using program::TensorOperation;

struct FillShape {
  int rows, words;  // of shared memory; a row's words of 32 bits
};

FillShape shape_of(TensorShape shape) {
  switch (shape) {
    case TensorShape::k128x256b: return {128, 8};
    case TensorShape::k4x256b: return {4, 8};
    case TensorShape::k64x128b: return {64, 4};
    case TensorShape::k32x128b: return {32, 4};
    default: return {128, 4};  // k128x128b
  }
}

// The lanes to which row `row` is copied, relative to the address: one, two or four.
template <class Visit>
void each_lane(const TensorOperation& o, int row, Visit visit) {
  const auto r = static_cast<std::uint32_t>(row);
  switch (o.multicast) {
    case TensorMulticast::kAllFour:
      for (std::uint32_t quarter = 0; quarter < 4; ++quarter) visit(32 * quarter + r);
      return;
    case TensorMulticast::kPairs02And13: visit(r), visit(64 + r); return;
    case TensorMulticast::kPairs01And23:
      visit(r / 32 * 64 + r % 32), visit(r / 32 * 64 + 32 + r % 32);
      return;
    case TensorMulticast::kNone: visit(o.shape == TensorShape::k4x256b ? 32 * r : r); return;
  }
}

// The part of a copy in one block: reads its shared memory and writes its tensor memory.
bool access_block(Warp& w, const Op& op, int lane, Block& b, const TensorWork& work,
                  std::uint32_t number, std::vector<MatrixBytes>& read) {
  const TensorOperation& o = *work.of;
  const FillShape shape = shape_of(o.shape);
  const bool few = o.shape == TensorShape::k4x256b;
  const std::uint32_t first = tensor_lane(work.d);
  TensorMemory& t = tensor_of(b);
  Descriptor d;
  understand(work.a, d);
  if (&b != w.block) d.start = named(b.cluster_rank, d.start);
  std::vector<std::uint64_t> whole(static_cast<std::size_t>(shape.rows * shape.words));
  const int held = o.narrow_bits == 0 ? kChunkBytes : 2 * o.narrow_bits;
  if (!read_matrix(w, op, d, shape.rows, shape.words, 32, false, whole.data(), read, lane, held))
    return false;
  // Four lanes count as the four groups that contain them.
  const TensorRegion region{few ? first / kTensorGroup * kTensorGroup : 0,
                            few ? kTensorLanes - kTensorGroup : kTensorLanes, tensor_column(work.d),
                            static_cast<std::uint32_t>(shape.words), few};
  if (!access_tensor(w, lane, b, number, region, true)) return false;
  for (int row = 0; row < shape.rows; ++row) {
    for (int c = 0; c < shape.words; ++c) {
      each_lane(o, row, [&](std::uint32_t l) {
        t.written[TensorMemory::word(first + l, region.column + static_cast<std::uint32_t>(c))] =
            true;
      });
    }
  }
  return true;
}

bool issue_fill(Warp& w, const Op& op, int lane) {
  const TensorOperation& o = listed_operation_of(w, op);
  Block* partner = nullptr;
  if (!find_partner(w, lane, o.paired, true, partner)) return false;
  TensorWork work;
  work.of = &o;
  work.warp = w.index;
  work.lane = static_cast<std::uint32_t>(lane);
  work.pc = w.pc - 1;
  work.d = static_cast<std::uint32_t>(address_of(w, o.address, lane));
  work.a = source<std::uint64_t>(w, o.a)[lane];
  const bool few = o.shape == TensorShape::k4x256b;
  const std::uint32_t first = tensor_lane(work.d);
  const auto refuse = [&](std::string where, const char* detail) {
    refuse_tensor(w, lane, Kind::kInvalidInstruction, std::move(where), detail);
    w.event = Event::kAbort;
    return false;
  };
  if (few ? first >= 32 : first != 0)
    return refuse("the copy begins in lane " + std::to_string(first),
                  "A copy to all lanes begins in lane 0.");
  Descriptor d;
  const int capability = w.block->launch->config->compute_capability;
  if (const std::string why = understand(work.a, false, capability, d); !why.empty())
    return refuse("the descriptor of what is copied " + why, "PTX ISA 9.7.16.4.1 has the fields.");
  std::vector<MatrixBytes> read, of_partner;
  work.access = begin_tensor_access(w, lane, TensorAccess::What::kFill);
  if (!access_block(w, op, lane, *w.block, work, work.access, read)) return false;
  if (partner != nullptr) {
    work.partner_access = begin_tensor_access(w, lane, TensorAccess::What::kFill, *partner);
    if (!access_block(w, op, lane, *partner, work, work.partner_access, of_partner)) return false;
  }
  enqueue(w, work, std::move(read), std::move(of_partner));
  return true;
}

// Expands 16 bytes that start with 16 elements of `bits` bits to 16 bytes with one element each.
void spread_elements(std::byte* chunk, int bits) {
  if (bits == 0) return;
  std::byte narrow[17] = {};
  std::memcpy(narrow, chunk, 16);
  for (int e = 0; e < 16; ++e) {
    const int bit = e * bits;
    const int two =
        std::to_integer<int>(narrow[bit / 8]) | std::to_integer<int>(narrow[bit / 8 + 1]) << 8;
    chunk[e] = static_cast<std::byte>(two >> (bit % 8) & ((1 << bits) - 1));
  }
}

void fill_block(Block& b, const TensorWork& work) {
  std::vector<std::uint32_t>& words = on_write(*b.worker, tensor_of(b).words);
  const FillShape shape = shape_of(work.of->shape);
  Descriptor d;
  understand(work.a, d);
  each_chunk(d, shape.rows, shape.words, 32, false, [&](std::uint32_t address, int row, int first) {
    std::byte chunk[kChunkBytes];
    std::memcpy(chunk, b.shared.bytes.get() + address, sizeof chunk);
    spread_elements(chunk, work.of->narrow_bits);
    for (int e = 0; e < 4; ++e) {
      std::uint32_t v;
      std::memcpy(&v, chunk + 4 * e, 4);
      const std::uint32_t column = tensor_column(work.d) + static_cast<std::uint32_t>(first + e);
      each_lane(*work.of, row, [&](std::uint32_t l) {
        words[TensorMemory::word(tensor_lane(work.d) + l, column)] = v;
      });
    }
  });
}

}  // namespace

void do_fill(Block& b, const TensorWork& work) {
  fill_block(b, work);
  if (work.of->paired) fill_block(*partner_of(b), work);
}

void run_tensor_fill(Warp& w, const Op& op, LaneMask mask) {
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1) {
    if (!issue_fill(w, op, std::countr_zero(todo))) return;
  }
}

}  // namespace lockstep::engine
