#include "simulator/engine/ops/matrix/shared_matrix.h"

#include <cstring>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/proxies.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"

namespace lockstep::engine {
namespace {

constexpr int kChunk = kChunkBytes;
constexpr int kCore = 8;      // rows of a core matrix
constexpr int kWideCore = 4;  // lines of an atom whose units have 32 bytes

std::uint32_t field(std::uint64_t bits, int at) {
  return static_cast<std::uint32_t>(bits >> at & 0x3fff) * kChunk;
}

// Spreads the elements of a chunk over `out`, `step` apart.
void spread(const std::byte* chunk, int bits, std::uint64_t* out, std::size_t step) {
  const auto whole = [&](auto element) {
    for (std::size_t at = 0; at < kChunk; at += sizeof element, out += step) {
      std::memcpy(&element, chunk + at, sizeof element);
      *out = element;
    }
  };
  switch (bits) {
    case 8: return whole(std::uint8_t{});
    case 16: return whole(std::uint16_t{});
    case 32: return whole(std::uint32_t{});
    default:  // less than a byte
      for (int at = 0; at < 8 * kChunk; at += bits, out += step)
        *out = std::to_integer<std::uint64_t>(chunk[at / 8]) >> at % 8 & ((1u << bits) - 1);
  }
}

}  // namespace

std::uint32_t chunk_address(const Descriptor& d, int line, int chunk, bool across) {
  const int core = d.wide ? kWideCore : kCore;
  const auto group = static_cast<std::uint32_t>(line / core),
             in_group = static_cast<std::uint32_t>(line % core),
             c = static_cast<std::uint32_t>(chunk);
  if (d.swizzle == 0) {
    // With `across`, the strides swap roles: `leading` is the distance between groups of eight
    // lines, `stride` that between chunks.
    return across ? d.start + group * d.leading + in_group * kChunk + c * d.stride
                  : d.start + group * d.stride + in_group * kChunk + c * d.leading;
  }
  const auto row = static_cast<std::uint32_t>(d.swizzle), chunks = row / kChunk;
  std::uint32_t plain = d.start + group * d.stride + in_group * row;
  const std::uint32_t begun = d.absolute ? d.start / kChunk % chunks : 0;
  if (begun + c < chunks) {
    plain += c * kChunk;
  } else if (d.absolute) {
    plain += d.leading - d.start + (begun + c - chunks) * kChunk;
  } else {
    plain += c / chunks * d.leading + c % chunks * kChunk;
  }
  if (d.wide) return plain ^ (((plain >> 7) + d.base) & (kWideCore - 1)) << 5;
  const std::uint32_t pattern = ((plain >> 7) + d.base) & (chunks - 1);
  return plain ^ pattern << 4;
}

Descriptor descriptor_of(std::uint64_t bits) {
  constexpr int kSwizzles[] = {0, 128, 64, 32};
  return {.start = field(bits, 0),
          .leading = field(bits, 16),
          .stride = field(bits, 32),
          .base = static_cast<std::uint32_t>(bits >> 49 & 7),
          .swizzle = kSwizzles[bits >> 62]};
}

bool read_matrix(Warp& w, const Op& op, const Descriptor& d, int rows, int columns, int bits,
                 bool across, std::uint64_t* out, std::vector<MatrixBytes>& read, int issuer,
                 int held) {
  const int lines = across ? columns : rows, along = across ? rows : columns;
  const int chunks = along * bits / (8 * kChunk), per = 8 * kChunk / bits;
  Request r;
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = kChunk;
  r.reads = true;
  r.issuer = issuer;
  // Each lane of a request reads one chunk.
  const int total = lines * chunks;
  for (int first = 0; first < total; first += kWarpSize) {
    LaneMask lanes = 0;
    for (int l = 0; l < kWarpSize && first + l < total; ++l) {
      const int n = first + l;
      r.address[l] = chunk_address(d, n / chunks, n % chunks, across);
      lanes |= 1u << l;
    }
    r.unwritten = 0;
    if (!resolve(w, r, isa::Space::kShared, lanes)) return false;
    each(r.unwritten, [&](int l) {
      r.missing[l] &= (1u << held) - 1;
      if (r.missing[l] == 0) r.unwritten &= ~(1u << l);
    });
    if (r.unwritten != 0 && w.block->launch->check_initialisation) {
      check::Finding f =
          access_finding(w, r, isa::Space::kShared, r.unwritten, check::Kind::kUninitialised);
      f.where = "bytes of a matrix in shared memory that its descriptor names were never written";
      if (report_unless_suppressed(w, std::move(f))) return false;
    }
    bool fenced = true;
    each(lanes, [&](int l) {
      SharedPlace place;
      if (!fenced || !shared_place(w, isa::Space::kSharedCluster, r.address[l], place)) return;
      const int lane = r.lane_of(l);
      fenced = place.block == w.block
                   ? check_proxy_fence(w, w.pc - 1, lane, place.offset, kChunk)
                   : check_proxy_fence(w, w.pc - 1, lane, *place.block, place.offset, kChunk);
    });
    if (!fenced) return false;
    each(lanes, [&](int l) {
      const int line = (first + l) / chunks, chunk = (first + l) % chunks;
      MatrixBytes& m = read.emplace_back();
      m.offset = static_cast<std::uint32_t>(r.address[l]) & kOffsetMask;
      load_element<kChunk>(m.bytes, r.host[l]);
      const auto at = static_cast<std::size_t>(chunk * per), of = static_cast<std::size_t>(line),
                 row = static_cast<std::size_t>(columns);
      spread(m.bytes, bits, out + (across ? at * row + of : of * row + at), across ? row : 1);
    });
  }
  return true;
}

}  // namespace lockstep::engine
