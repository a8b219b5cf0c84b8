// Tensor copies of Blackwell, compared with a model that moves single bits (PTX ISA 5.5, 9.7.9.27,
// and cuda.h): gathered and scattered rows, im2col along one dimension, packed elements, swizzles
// with other atoms, pairs of blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/random.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/memory/tensor_map.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace tensor_modes_test {

using check::Kind;
using memory::TensorMap;
using memory::TensorMode;
using memory::TensorType;
using ::testing::HasSubstr;
using testing::Machine;
using testing::Random;
using testing::text;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kWindow = 40 << 10;  // bytes of shared memory
constexpr std::uint32_t kMargin = 4096, kTensor = 128 << 10;
constexpr std::int32_t kU4 = static_cast<std::int32_t>(TensorType::k16U4Align8),
                       kU4Padded = static_cast<std::int32_t>(TensorType::k16U4Align16),
                       kU6 = static_cast<std::int32_t>(TensorType::k16U6Align16);

struct Copy {
  TensorMap map;
  TensorMode mode = TensorMode::kTile;
  std::int32_t at[5] = {};
  std::uint16_t info[2] = {};  // im2col along one dimension: halo, offset
  std::uint32_t to = 0;
  bool writes = false;
  int sm = 100;

  bool wide() const { return mode == TensorMode::kIm2colW || mode == TensorMode::kIm2colW128; }
  bool padded() const { return map.type == kU4Padded || map.type == kU6; }
  std::int64_t bits() const {
    constexpr int kBits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
    return kBits[map.type];
  }
  std::int64_t width() const { return wide() ? map.channels : map.box[0]; }
  // Bits from one row in shared memory to the next.
  std::int64_t row_bits() const { return width() * (padded() ? 8 : bits()); }
  std::int64_t pitch_bits() const {
    constexpr std::int64_t kSpans[] = {0, 32, 64, 128, 96};
    return std::max(row_bits(), 8 * kSpans[map.swizzle]);
  }
};

// The swizzled place of a byte of shared memory, by the tables of PTX ISA 5.5.7: lines of 128 bytes
// with eight columns of 16.
std::int64_t swizzled(const TensorMap& m, std::int64_t byte) {
  const std::int64_t line = byte / 128, column = byte % 128 / 16;
  std::int64_t moved = column, within = byte % 16;
  if (m.swizzle == 1 || m.swizzle == 4) moved = column ^ line % 2;
  if (m.swizzle == 2) moved = column ^ line % 4;
  if (m.swizzle == 3) {
    if (m.atom == 0) moved = column ^ line % 8;
    if (m.atom == 1 || m.atom == 2) moved = (column / 2 ^ line % 4) * 2 + column % 2;
    if (m.atom == 3) moved = (column / 4 ^ line % 2) * 4 + column % 4;
    if (m.atom == 2 && line % 2 == 1) within = (within + 8) % 16;
  }
  return line * 128 + moved * 16 + within;
}

// The coordinates of each row, without the innermost.
struct Row {
  std::int64_t outer[4] = {};
};
std::vector<Row> rows_of(const Copy& c) {
  const TensorMap& m = c.map;
  std::vector<Row> rows;
  if (c.mode == TensorMode::kFourRows) {
    for (int i = 1; i < 5; ++i) rows.push_back({{c.at[i]}});
    return rows;
  }
  if (c.mode == TensorMode::kTile) {
    const auto end = [&](std::uint32_t d) { return d < m.rank ? m.box[d] : 1; };
    const auto step = [&](std::uint32_t d) { return d < m.rank ? m.steps[d] : 1; };
    for (std::uint32_t i2 = 0; i2 < end(2); i2 += step(2)) {
      for (std::uint32_t i1 = 0; i1 < end(1); i1 += step(1))
        rows.push_back({{c.at[1] + i1, c.at[2] + i2}});
    }
    return rows;
  }
  // Along W within the box, then the next image. wOffset moves the box and the first pixel.
  const std::int64_t offset = c.info[1], last = m.rank - 2;
  std::vector<Row> walk;
  Row now;
  for (std::uint32_t d = 1; d < m.rank; ++d) now.outer[d - 1] = c.at[d];
  now.outer[0] += offset;
  for (int i = 0; i < 1600; ++i) {
    walk.push_back(now);
    now.outer[0] += m.steps[1];
    if (now.outer[0] > static_cast<std::int64_t>(m.sizes[1]) - 1 + m.upper[0] + offset) {
      now.outer[0] = m.lower[0] + offset;
      now.outer[last] += m.steps[m.rank - 1];
    }
  }
  if (c.mode == TensorMode::kIm2colW) {
    walk.resize(m.pixels + c.info[0]);
    return walk;
  }
  rows.assign(walk.begin(), walk.begin() + 128);
  for (std::size_t h = 0; h < c.info[0]; ++h) {
    for (std::size_t group = 1; group <= 4; ++group) rows.push_back(walk[32 * group + h]);
  }
  return rows;
}

// The position of each bit of a copy in shared memory and in the tensor; none outside of the
// tensor.
struct Bit {
  std::int64_t shared = 0, tensor = -1;
  std::int64_t in_element = 0;
};
std::vector<Bit> model(const Copy& c) {
  const TensorMap& m = c.map;
  std::vector<Bit> all;
  std::int64_t n = 0;
  for (const Row& row : rows_of(c)) {
    bool inside = true;
    std::int64_t start = 0;
    for (std::uint32_t d = 1; d < m.rank; ++d) {
      const std::int64_t x = row.outer[d - 1];
      inside = inside && x >= 0 && x < static_cast<std::int64_t>(m.sizes[d]);
      start += 8 * x * static_cast<std::int64_t>(m.strides[d - 1]);
    }
    for (std::int64_t e = 0; e < c.width(); ++e) {
      const std::int64_t x = c.at[0] + e;
      const bool there = inside && x >= 0 && x < static_cast<std::int64_t>(m.sizes[0]);
      // Sixteen padded elements have 16 bytes. A store of six-bit elements takes six bits from each
      // byte.
      const std::int64_t in_row = !c.padded()                 ? e * c.bits()
                                  : c.writes && m.type == kU6 ? 8 * e
                                                              : e / 16 * 128 + e % 16 * c.bits();
      for (std::int64_t b = 0; b < c.bits(); ++b) {
        const std::int64_t at = 8 * c.to + n * c.pitch_bits() + in_row + b;
        all.push_back({8 * swizzled(m, at / 8) + at % 8,
                       there ? start + x * c.bits() + b : std::int64_t{-1}, b});
      }
    }
    ++n;
  }
  return all;
}
std::uint32_t counted(const Copy& c) { return static_cast<std::uint32_t>(model(c).size() / 8); }

bool bit(const Bytes& bytes, std::int64_t at) {
  return bytes[static_cast<std::size_t>(at / 8)] >> at % 8 & 1;
}
void set_bit(Bytes& bytes, std::int64_t at, bool value) {
  std::uint8_t& b = bytes[static_cast<std::size_t>(at / 8)];
  b = static_cast<std::uint8_t>((b & ~(1 << at % 8)) | value << at % 8);
}

// A valid map, and coordinates near its borders.
Copy random_copy(Random& r, TensorMode mode, bool writes, std::int32_t type, int sm = 100) {
  for (;;) {
    Copy c;
    c.mode = mode;
    c.writes = writes;
    c.sm = sm;
    TensorMap& m = c.map;
    m.im2col = c.wide();
    m.wide = mode == TensorMode::kIm2colW ? 1 : mode == TensorMode::kIm2colW128 ? 2 : 0;
    m.type = type;
    m.rank = static_cast<std::uint32_t>(mode == TensorMode::kFourRows ? 2
                                        : c.wide()                    ? r.between(3, 5)
                                                                      : r.between(1, 3));
    m.swizzle = static_cast<std::int32_t>(r.between(0, sm == 103 ? 4 : 3));
    m.atom = m.swizzle == 3 ? static_cast<std::int32_t>(r.between(0, 3)) : 0;
    if (writes && m.atom == 2) continue;
    if (!writes && type == kU6 && m.atom == 3) continue;
    if (!writes && type == kU6 && m.swizzle == 2) continue;
    m.fill = type >= 6 && type < kU4 ? static_cast<std::int32_t>(r.between(0, 1)) : 0;
    m.address = 32 * static_cast<std::uint64_t>(r.between(0, 7));
    constexpr std::int64_t kSpans[] = {160, 32, 64, 128, 96};
    const std::int64_t inner =
        c.padded() ? 128 : 128 * r.between(1, kSpans[m.swizzle] / 16) / c.bits();
    if (inner > 256) continue;
    m.sizes[0] = static_cast<std::uint64_t>(c.padded() ? 128 * r.between(1, 2)
                                            : writes   ? 128 / c.bits() *
                                                           r.between(1, 2 * inner * c.bits() / 128)
                                                     : r.between(1, 2 * inner + 3));
    std::uint64_t stride = (m.sizes[0] * static_cast<std::uint64_t>(c.bits()) / 8 + 31) / 32 * 32;
    for (std::uint32_t d = 0; d < m.rank; ++d) {
      m.steps[d] = d > 0 && r.one_in(3) ? static_cast<std::uint32_t>(r.between(1, 3)) : 1;
      m.box[d] = d == 0                          ? static_cast<std::uint32_t>(inner)
                 : mode == TensorMode::kFourRows ? 1
                                                 : static_cast<std::uint32_t>(r.between(1, 5));
      if (d == 0) continue;
      m.strides[d - 1] = stride;
      m.sizes[d] = static_cast<std::uint64_t>(r.between(1, c.wide() ? 8 : 6));
      stride *= m.sizes[d];
    }
    m.channels = static_cast<std::uint32_t>(inner);
    m.pixels = static_cast<std::uint32_t>(r.between(1, 40));
    if (c.wide()) {
      m.lower[0] = static_cast<std::int32_t>(r.between(-3, 3));
      m.upper[0] = static_cast<std::int32_t>(r.between(-3, 3));
      c.info[0] = static_cast<std::uint16_t>(r.between(0, 5));
      c.info[1] = static_cast<std::uint16_t>(r.between(0, 4));
    }
    if (!memory::refusal(m, sm).empty() || stride > kTensor - 512) continue;
    for (std::uint32_t d = 0; d < 5; ++d) {
      const bool row = mode == TensorMode::kFourRows && d > 0;
      if (!row && d >= m.rank) break;
      const auto size = static_cast<std::int64_t>(m.sizes[row ? 1 : d]);
      std::int64_t at = r.between(writes ? 0 : d == 0 ? -inner : -2, size + 1);
      if (c.wide() && d == 1) at = r.between(m.lower[0] - 2, size - 1 + m.upper[0]);
      const std::int64_t grain = c.padded() ? 128 : 128 / c.bits();
      if (d == 0) at -= at % grain;
      c.at[d] = static_cast<std::int32_t>(at);
    }
    c.to = 1024 * static_cast<std::uint32_t>(r.between(0, 3)) +
           128 * static_cast<std::uint32_t>(r.between(0, 7));
    const auto rows = static_cast<std::int64_t>(rows_of(c).size());
    if (c.to + (rows + 1) * c.pitch_bits() / 8 + 128 <= kWindow) return c;
  }
}

std::string list(const std::string& prefix, std::uint32_t n) {
  std::string s = "{";
  for (std::uint32_t i = 0; i < n; ++i) s += (i ? ", " : "") + prefix + std::to_string(i);
  return s + "}";
}

// A kernel with the map at d0, an mbarrier at b, and shared memory `window` at w, copied from
// `image` and to `after`. Coordinates are in r0 and following registers; halo and offset in h0 and
// h1.
std::string kernel(const Copy& c, const std::string& body, bool looks) {
  const std::string turns = std::to_string(kWindow / 512);
  std::string s = R"(
.visible .entry k(.param .u64 map, .param .u64 image, .param .u64 after)
{
.reg .pred p<8>; .reg .b16 h<16>; .reg .b32 r<16>; .reg .b32 t<8>; .reg .b32 b; .reg .b32 w;
    .reg .b64 d<24>; .reg .b32 x<8>; .reg .b32 peer;
.shared .align 1024 .b8 window[)" +
                  std::to_string(kWindow) + R"(];
.shared .align 8 .b64 bar;
ld.param.u64 d0, [map]; ld.param.u64 d1, [image]; ld.param.u64 d2, [after];
mov.u32 t0, %tid.x; mov.u32 w, window; mov.u32 b, bar; setp.eq.u32 p0, t0, 0;
)";
  for (std::uint32_t d = 0; d < 5; ++d)
    s += "mov.b32 r" + std::to_string(d) + ", " + std::to_string(c.at[d]) + ";\n";
  for (std::uint32_t d = 0; d < 2; ++d)
    s += "mov.b16 h" + std::to_string(d) + ", " + std::to_string(c.info[d]) + ";\n";
  s += R"(
@p0 mbarrier.init.shared.b64 [b], 1;
shl.b32 t1, t0, 4; mul.wide.u32 d3, t0, 16; add.u64 d1, d1, d3; add.u64 d2, d2, d3;
    add.u32 t2, w, t1; mov.u32 t3, 0;
$in:
ld.global.v4.b32 {x0, x1, x2, x3}, [d1]; st.shared.v4.b32 [t2], {x0, x1, x2, x3};
add.u64 d1, d1, 512; add.u32 t2, t2, 512; add.u32 t3, t3, 1; setp.lt.u32 p1, t3, )" +
       turns + R"(; @p1 bra $in;
fence.proxy.async;
bar.sync 0;
add.u32 t4, w, )" +
       std::to_string(c.to) + ";\n" + body;
  if (looks) {
    s += R"(
bar.sync 0;
add.u32 t2, w, t1; mov.u32 t3, 0;
$out:
ld.shared.v4.b32 {x0, x1, x2, x3}, [t2]; st.global.v4.b32 [d2], {x0, x1, x2, x3};
add.u64 d2, d2, 512; add.u32 t2, t2, 512; add.u32 t3, t3, 1; setp.lt.u32 p1, t3, )" +
         turns + "; @p1 bra $out;\n";
  }
  return s + "ret;\n}\n";
}

std::string waits(std::uint32_t bytes) {
  return "@p0 mbarrier.arrive.expect_tx.shared.b64 d9, [b], " + std::to_string(bytes) +
         ";\n$wait: mbarrier.try_wait.parity.shared.b64 p2, [b], 0; @!p2 bra $wait;\n";
}
std::string mode_word(const Copy& c) {
  switch (c.mode) {
    case TensorMode::kFourRows: return c.writes ? ".tile::scatter4" : ".tile::gather4";
    case TensorMode::kIm2colW: return ".im2col::w";
    case TensorMode::kIm2colW128: return ".im2col::w::128";
    default: return ".tile";
  }
}
std::string tensor_operand(const Copy& c) {
  return "[d0, " + list("r", c.mode == TensorMode::kFourRows ? 5 : c.map.rank) + "]";
}
// `end`: the words after the completion mechanism.
std::string load_text(const Copy& c, const std::string& to, const std::string& end = {},
                      const std::string& mask = {}) {
  return "@p0 cp.async.bulk.tensor." + std::to_string(c.map.rank) + "d.shared::" + to + ".global" +
         mode_word(c) + ".mbarrier::complete_tx::bytes" + end + " [t4], " + tensor_operand(c) +
         ", [b]" + (c.wide() ? ", {h0, h1}" : "") + mask + ";\n";
}
std::string store_text(const Copy& c, const std::string& reduction = {}) {
  return "@p0 cp." + std::string(reduction.empty() ? "" : "reduce.") + "async.bulk.tensor." +
         std::to_string(c.map.rank) + "d.global.shared::cta" +
         (reduction.empty() ? "" : "." + reduction) + mode_word(c) + ".bulk_group " +
         tensor_operand(c) +
         ", [t4];\n@p0 cp.async.bulk.commit_group;\n@p0 cp.async.bulk.wait_group 0;\n";
}

class TensorModes : public ::testing::Test {
 protected:
  TensorModes() {
    std::uint64_t state = 99;
    for (Bytes* b : {&tensor_bytes, &image_bytes}) {
      b->resize(b == &tensor_bytes ? kMargin + kTensor : kWindow);
      for (std::uint8_t& x : *b) x = static_cast<std::uint8_t>(next_mixed(state));
    }
    tensor = gpu.buffer(tensor_bytes, "tensor");
    image = gpu.buffer(image_bytes, "image");
    after = gpu.buffer(Bytes(2 * kWindow), "after");
    map = gpu.buffer(Bytes(TensorMap::kBytes), "map");
  }
  void put(memory::Address a, const void* bytes, std::size_t n) {
    std::memcpy(gpu.memory.host(*gpu.memory.find(a), a), bytes, n);
  }
  void start(const Copy& c, const std::string& body, bool looks) {
    TensorMap m = c.map;
    m.address += tensor + kMargin;
    std::byte bytes[TensorMap::kBytes];
    memory::encode(m, bytes);
    put(map, bytes, sizeof bytes);
    put(tensor, tensor_bytes.data(), tensor_bytes.size());
    gpu.config.compute_capability = c.sm;
    gpu.load_text(".version 9.0\n.target sm_" + std::to_string(c.sm) + "a\n.address_size 64\n" +
                  kernel(c, body, looks));
  }
  Outcome run(const Copy& c, const std::string& body, bool looks) {
    start(c, body, looks);
    return gpu.launch("k", 1, 32, map, image, after);
  }
  void expect_finding(const Outcome& o, Kind kind, const std::string& words) {
    ASSERT_EQ(o.findings.size(), 1u) << text(o);
    EXPECT_EQ(o.findings[0].kind, kind) << text(o);
    EXPECT_THAT(o.findings[0].to_string(), HasSubstr(words));
  }

  // The contents of the window after a load, by the model.
  Bytes loaded(const Copy& c) const {
    Bytes w = image_bytes;
    for (const Bit& b : model(c)) {
      const int fill = b.in_element / 8 % 2 ? 0x7f : 0xf7;
      set_bit(w, b.shared,
              b.tensor >= 0
                  ? bit(tensor_bytes,
                        8 * (kMargin + static_cast<std::int64_t>(c.map.address)) + b.tensor)
                  : c.map.fill != 0 && (fill >> b.in_element % 8 & 1));
    }
    return w;
  }
  // The bytes in the gaps are unspecified.
  void clear_gaps(const Copy& c, Bytes& w) const {
    if (!c.padded()) return;
    const auto rows = static_cast<std::int64_t>(rows_of(c).size());
    for (std::int64_t n = 0; n < rows; ++n) {
      for (std::int64_t at = 0; at < c.row_bits() / 8; ++at) {
        if (at % 16 >= 16 * c.bits() / 8)
          w[static_cast<std::size_t>(swizzled(c.map, c.to + n * c.pitch_bits() / 8 + at))] = 0;
      }
    }
  }
  void expect_loaded(const Copy& c, const Outcome& o, int i) {
    ASSERT_TRUE(o.findings.empty()) << i << " " << text(o);
    Bytes seen = gpu.fetch<std::uint8_t>(after, kWindow), expected = loaded(c);
    clear_gaps(c, seen);
    clear_gaps(c, expected);
    ASSERT_EQ(seen, expected) << i;
  }
  void expect_stored(const Copy& c, const Outcome& o, int i) {
    ASSERT_TRUE(o.findings.empty()) << i << " " << text(o);
    Bytes expected = tensor_bytes;
    for (const Bit& b : model(c)) {
      if (b.tensor >= 0) {
        set_bit(expected, 8 * (kMargin + static_cast<std::int64_t>(c.map.address)) + b.tensor,
                bit(image_bytes, b.shared));
      }
    }
    ASSERT_EQ(gpu.fetch<std::uint8_t>(tensor, expected.size()), expected) << i;
  }

  Machine gpu;
  Bytes tensor_bytes, image_bytes;
  memory::Address tensor = 0, image = 0, after = 0, map = 0;
};

// Types that are loaded unchanged: not tf32.
std::int32_t any_type(int i) {
  constexpr std::int32_t kTypes[] = {0, kU4, 1, kU4Padded, 2, kU6, 4,
                                     6, kU4, 7, kU6,       8, 9,   kU4Padded};
  return kTypes[static_cast<std::size_t>(i) % std::size(kTypes)];
}
std::int32_t stored_type(int i) {
  const std::int32_t type = any_type(i);
  return type == kU4Padded ? kU6 : type;
}

TEST_F(TensorModes, LoadsOfTilesOfEveryTypeAndSwizzleAreAsTheModelSays) {
  Random r(1);
  for (int i = 0; i < 280; ++i) {
    const Copy c = random_copy(r, TensorMode::kTile, false, any_type(i), i % 4 == 3 ? 103 : 100);
    expect_loaded(c, run(c, load_text(c, i % 2 ? "cta" : "cluster") + waits(counted(c)), true), i);
  }
}

TEST_F(TensorModes, StoresOfTilesOfEveryTypeAndSwizzleAreAsTheModelSays) {
  Random r(2);
  for (int i = 0; i < 200; ++i) {
    const Copy c = random_copy(r, TensorMode::kTile, true, stored_type(i), i % 4 == 3 ? 103 : 100);
    expect_stored(c, run(c, store_text(c), false), i);
  }
}

JUDGES(TensorModes, FourRowsAreGatheredAsTheModelSays,
       "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes",
       "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes",
       "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes.cta_"
       "group::1");
TEST_F(TensorModes, FourRowsAreGatheredAsTheModelSays) {
  Random r(3);
  for (int i = 0; i < 200; ++i) {
    const Copy c = random_copy(r, TensorMode::kFourRows, false, any_type(i));
    const std::string end = i % 3 == 2 ? ".cta_group::1" : "";
    expect_loaded(c, run(c, load_text(c, i % 2 ? "cta" : "cluster", end) + waits(counted(c)), true),
                  i);
  }
}

JUDGES(TensorModes, FourRowsAreScatteredAsTheModelSays,
       "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group");
TEST_F(TensorModes, FourRowsAreScatteredAsTheModelSays) {
  Random r(4);
  for (int i = 0; i < 200; ++i) {
    Copy c = random_copy(r, TensorMode::kFourRows, true, stored_type(i));
    // Two stores to one place may complete in either order.
    for (int row = 2; row < 5; ++row) {
      for (int other = 1; other < row; ++other) {
        if (c.at[row] == c.at[other]) c.at[row] = static_cast<std::int32_t>(c.map.sizes[1]);
      }
    }
    expect_stored(c, run(c, store_text(c), false), i);
  }
}

JUDGES(TensorModes, FourRowsAreAddedAsTheModelSays,
       "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group");
TEST_F(TensorModes, FourRowsAreAddedAsTheModelSays) {
  Random r(5);
  for (int i = 0; i < 60; ++i) {
    const Copy c =
        random_copy(r, TensorMode::kFourRows, true, static_cast<std::int32_t>(TensorType::kU32));
    const Outcome o = run(c, store_text(c, "add"), false);
    ASSERT_TRUE(o.findings.empty()) << i << " " << text(o);
    Bytes expected = tensor_bytes;
    const std::vector<Bit> bits = model(c);
    for (std::size_t e = 0; e < bits.size(); e += 32) {  // element by element
      if (bits[e].tensor < 0) continue;
      const std::size_t to = kMargin + c.map.address + static_cast<std::size_t>(bits[e].tensor / 8);
      std::uint32_t sum, value = 0;
      std::memcpy(&sum, &expected[to], 4);
      for (std::size_t b = 0; b < 32; ++b)
        value |= std::uint32_t{bit(image_bytes, bits[e + b].shared)} << b;
      sum += value;
      std::memcpy(&expected[to], &sum, 4);
    }
    ASSERT_EQ(gpu.fetch<std::uint8_t>(tensor, expected.size()), expected) << i;
  }
}

JUDGES(TensorModes, Im2colAlongOneDimensionIsAsTheModelSays,
       "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes",
       "cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes",
       "cp.async.bulk.tensor.5d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes",
       "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes.cta_"
       "group::1");
TEST_F(TensorModes, Im2colAlongOneDimensionIsAsTheModelSays) {
  Random r(6);
  for (int i = 0; i < 120; ++i) {
    const Copy c = random_copy(r, i % 2 ? TensorMode::kIm2colW : TensorMode::kIm2colW128, false,
                               any_type(i / 2));
    const std::string end = i % 3 == 2 ? ".cta_group::1" : "";
    expect_loaded(
        c, run(c, load_text(c, i / 2 % 2 ? "cta" : "cluster", end) + waits(counted(c)), true), i);
  }
}

JUDGES_HINTS(TensorModes, PrefetchesChangeNothing,
             "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4",
             "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col::w");
TEST_F(TensorModes, PrefetchesChangeNothing) {
  Random r(7);
  for (const TensorMode mode :
       {TensorMode::kFourRows, TensorMode::kIm2colW, TensorMode::kIm2colW128}) {
    Copy c = random_copy(r, mode, false, 0);
    while (c.wide() && c.map.rank != 3) c = random_copy(r, mode, false, 0);
    const Outcome o =
        run(c,
            "@p0 cp.async.bulk.prefetch.tensor." + std::to_string(c.map.rank) + "d.L2.global" +
                mode_word(c) + " " + tensor_operand(c) + (c.wide() ? ", {h0, h1}" : "") + ";\n",
            true);
    EXPECT_TRUE(o.findings.empty()) << text(o);
    EXPECT_EQ(gpu.fetch<std::uint8_t>(after, kWindow), image_bytes);
  }
}

// ---- Pairs of blocks
// -------------------------------------------------------------------------------------------------

// Both blocks of a cluster load into their own windows. The copies complete on the first block's
// mbarrier: bit 24 of its address is cleared, as in CUTLASS. `armed`: the bytes that it expects.
std::string pair_body(const std::string& load, std::uint32_t armed, const std::string& early = {}) {
  return "mov.u32 t5, %cluster_ctarank; mul.wide.u32 d5, t5, " + std::to_string(kWindow) +
         "; add.u64 d2, d2, d5; setp.eq.u32 p3, t5, 0; and.pred p4, p0, p3;\n"
         "@p4 mbarrier.arrive.expect_tx.shared.b64 d9, [b], " +
         std::to_string(armed) +
         ";\n"
         "fence.mbarrier_init.release.cluster; barrier.cluster.arrive.aligned; "
         "barrier.cluster.wait.aligned;\n"
         "mov.b32 peer, b; and.b32 b, b, 0xfeffffff;\n" +
         load + early +
         "@!p3 bra $done;\n$wait: mbarrier.try_wait.parity.shared.b64 p2, [peer], 0; @!p2 bra "
         "$wait;\n$done:\n"
         "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
}

class TensorPairs : public TensorModes {
 protected:
  TensorPairs() { gpu.config.cluster = {2, 1, 1}; }
  Outcome run_pair(const Copy& c, const std::string& body) {
    start(c, body, true);
    return gpu.launch("k", 2, 32, map, image, after);
  }
  void expect_both(const Copy& c, const Outcome& o, int i) {
    ASSERT_TRUE(o.findings.empty()) << i << " " << text(o);
    const Bytes out = gpu.fetch<std::uint8_t>(after, 2 * kWindow), expected = loaded(c);
    EXPECT_EQ(Bytes(out.begin(), out.begin() + kWindow), expected) << i;
    EXPECT_EQ(Bytes(out.begin() + kWindow, out.end()), expected) << i;
  }
};

JUDGES(TensorPairs, ACopyCompletesOnTheMbarrierOfThePairsFirstBlock,
       "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.cta_group::2",
       "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes.cta_"
       "group::2",
       "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes.cta_"
       "group::2");
TEST_F(TensorPairs, ACopyCompletesOnTheMbarrierOfThePairsFirstBlock) {
  Random r(8);
  constexpr TensorMode kModes[] = {TensorMode::kTile, TensorMode::kFourRows, TensorMode::kIm2colW,
                                   TensorMode::kIm2colW128};
  for (int i = 0; i < 48; ++i) {
    const Copy c = random_copy(r, kModes[i % 4], false, 1);
    expect_both(c,
                run_pair(c, pair_body(load_text(c, i / 4 % 2 ? "cta" : "cluster", ".cta_group::2"),
                                      2 * counted(c))),
                i);
  }
}

JUDGES(TensorPairs, AMulticastCompletesOnTheMbarrierOfTheSideThatIsNamed,
       "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
       "multicast::cluster.cta_group::2",
       "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes."
       "multicast::cluster.cta_group::2",
       "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes."
       "multicast::cluster.cta_group::2");
TEST_F(TensorPairs, AMulticastCompletesOnTheMbarrierOfTheSideThatIsNamed) {
  Random r(9);
  constexpr TensorMode kModes[] = {TensorMode::kTile, TensorMode::kFourRows, TensorMode::kIm2colW,
                                   TensorMode::kIm2colW128};
  for (int i = 0; i < 32; ++i) {
    const Copy c = random_copy(r, kModes[i % 4], false, 1);
    // Only the second block copies, to both blocks.
    std::string load = load_text(c, "cluster", ".multicast::cluster.cta_group::2", ", h4");
    load = "mov.b16 h4, 3; setp.eq.u32 p5, t5, 1; and.pred p5, p5, p0;\n@p5" + load.substr(3);
    expect_both(c, run_pair(c, pair_body(load, 2 * counted(c))), i);
  }
}

JUDGES(TensorPairs, Im2colCompletesOnTheMbarrierOfThePairsFirstBlock,
       "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes.cta_group::"
       "2",
       "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes."
       "multicast::cluster.cta_group::2");
TEST_F(TensorPairs, Im2colCompletesOnTheMbarrierOfThePairsFirstBlock) {
  // With one dimension of pixels, im2col equals im2col along that dimension without a halo.
  Random r(10);
  for (int i = 0; i < 16; ++i) {
    Copy c;
    do {
      c = random_copy(r, TensorMode::kIm2colW, false, 1);
      c.info[0] = 0;
    } while (c.map.rank != 3 || c.at[1] < c.map.lower[0]);
    // There the offset moves the pixels but not the box.
    c.info[1] = 0;
    Copy plain = c;
    plain.map.wide = 0;
    const std::string load =
        i % 2 ? "@p0 cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes"
                ".cta_group::2 [t4], [d0, {r0, r1, r2}], [b], {h1};\n"
              : "mov.b16 h4, 3; setp.eq.u32 p5, t5, 1; and.pred p5, p5, p0;\n"
                "@p5 cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::"
                "bytes.multicast::cluster.cta_group::2 [t4], [d0, {r0, r1, r2}], [b], {h1}, h4;\n";
    const Outcome o = run_pair(plain, pair_body(load, 2 * counted(c)));
    expect_both(c, o, i);
  }
}

TEST_F(TensorPairs, BytesOfOneBlockAreNotThoseOfBoth) {
  Random r(11);
  const Copy c = random_copy(r, TensorMode::kTile, false, 1);
  expect_finding(run_pair(c, pair_body(load_text(c, "cta", ".cta_group::2"), 3 * counted(c))),
                 Kind::kDeadlock, std::to_string(counted(c)) + " bytes that never come");
}

TEST_F(TensorPairs, TheSecondBlockReadsWhatTheFirstHasNotWaitedFor) {
  Random r(12);
  Copy c = random_copy(r, TensorMode::kTile, false, 1);
  const std::string early =
      "@p3 bra $first;\n@p0 ld.shared.b32 x0, [t4];\n@p0 st.global.b32 [d2], x0;\n$first:\n";
  c.map.swizzle = c.map.atom = 0;
  expect_finding(
      run_pair(c, pair_body(load_text(c, "cta", ".cta_group::2"), 2 * counted(c), early)),
      Kind::kRace, "an asynchronous copy is on its way");
}

TEST_F(TensorPairs, WithoutTheGroupTheMbarrierIsOfTheDestinationsBlock) {
  Random r(13);
  const Copy c = random_copy(r, TensorMode::kTile, false, 1);
  for (const char* end : {"", ".cta_group::1"}) {
    const std::string load = "mapa.shared::cluster.u32 b, peer, 0;\n" + load_text(c, "cta", end);
    expect_finding(run_pair(c, pair_body(load, 2 * counted(c))), Kind::kMbarrierMisuse,
                   "of another block than the destination");
  }
}

// ---- What is found
// -------------------------------------------------------------------------------------------------

Copy plain_copy(TensorMode mode, std::int32_t type = 1) {
  Random r(20);
  for (;;) {
    Copy c = random_copy(r, mode, false, type);
    if (c.map.swizzle == 3 && c.map.atom == 0 && c.map.rank > 1) return c;
  }
}

TEST_F(TensorModes, AMapOfAnotherModeIsFound) {
  Copy c = plain_copy(TensorMode::kIm2colW);
  c.map.wide = 2;
  expect_finding(run(c, load_text(c, "cta") + waits(16), false), Kind::kInvalidInstruction,
                 "of another mode than that of the map, which is for im2col::w::128");
  c = plain_copy(TensorMode::kIm2colW128);
  c.map.wide = 0;
  expect_finding(run(c, load_text(c, "cta") + waits(16), false), Kind::kInvalidInstruction,
                 "of another mode than that of the map, which is for im2col");
  c = plain_copy(TensorMode::kFourRows);
  c.map.box[1] = 2;
  expect_finding(run(c, load_text(c, "cta") + waits(16), false), Kind::kInvalidInstruction,
                 "through a map whose box has 2 rows");
}

TEST_F(TensorModes, HalosAndOffsetsBeyondTheManualsAreFound) {
  Copy c = plain_copy(TensorMode::kIm2colW);
  c.info[0] = 512;
  expect_finding(run(c, load_text(c, "cta") + waits(16), false), Kind::kInvalidInstruction,
                 "a halo of 512 pixels: 511 are the most");
  c = plain_copy(TensorMode::kIm2colW128);
  c.info[0] = 32;
  expect_finding(run(c, load_text(c, "cta") + waits(16), false), Kind::kInvalidInstruction,
                 "a halo of 32 pixels: 31 are the most");
  c.info[0] = 0;
  c.info[1] = 32;
  expect_finding(run(c, load_text(c, "cta") + waits(16), false), Kind::kInvalidInstruction,
                 "an offset of 32 pixels: 31 are the most");
}

TEST_F(TensorModes, AGapThatIsUsedIsFound) {
  const Copy c = plain_copy(TensorMode::kTile, kU6);
  const auto gap = static_cast<std::uint32_t>(swizzled(c.map, c.to + 12));
  const std::string uses = "add.u32 t6, w, " + std::to_string(gap) +
                           ";\n@p0 ld.shared.b32 x0, [t6];\nsetp.eq.u32 p5, x0, 3;\n@p5 bra $end;\n"
                           "$end:\n";
  expect_finding(run(c, load_text(c, "cta") + waits(counted(c)) + uses, false),
                 Kind::kUninitialised, "never written");
  const auto held = static_cast<std::uint32_t>(swizzled(c.map, c.to + 8));
  const std::string fine = "add.u32 t6, w, " + std::to_string(held) +
                           ";\n@p0 ld.shared.b32 x0, [t6];\nsetp.eq.u32 p5, x0, 3;\n@p5 bra $end;\n"
                           "$end:\n";
  const Outcome o = run(c, load_text(c, "cta") + waits(counted(c)) + fine, false);
  EXPECT_TRUE(o.findings.empty()) << text(o);
}

TEST_F(TensorModes, GapsDoNotCountOnTheMbarrier) {
  const Copy c = plain_copy(TensorMode::kTile, kU4Padded);
  const std::uint32_t with_gaps =
      static_cast<std::uint32_t>(rows_of(c).size()) * static_cast<std::uint32_t>(c.row_bits() / 8);
  ASSERT_EQ(with_gaps, 2 * counted(c));
  expect_finding(run(c, load_text(c, "cta") + waits(with_gaps), false), Kind::kDeadlock,
                 "bytes that never come");
}

TEST_F(TensorModes, DirectionsThatATypeOrASwizzleHasNotAreFound) {
  Copy c = plain_copy(TensorMode::kTile, kU4Padded);
  c.writes = true;
  for (std::int32_t& x : c.at) x = 0;
  expect_finding(run(c, store_text(c), false), Kind::kInvalidInstruction,
                 "a store of elements of 4 bits with gaps");
  c = plain_copy(TensorMode::kTile, 1);
  c.writes = true;
  c.map.atom = 2;
  expect_finding(run(c, store_text(c), false), Kind::kInvalidInstruction,
                 "whose swizzle turns halves of 16 bytes");
  c = plain_copy(TensorMode::kTile, kU6);
  c.map.atom = 3;
  expect_finding(run(c, load_text(c, "cta") + waits(16), false), Kind::kInvalidInstruction,
                 "in atoms of 64 bytes, which stores alone have");
  c = plain_copy(TensorMode::kTile, kU6);
  c.at[0] = 64;
  expect_finding(run(c, load_text(c, "cta") + waits(16), false), Kind::kInvalidInstruction,
                 "padded elements come by 128");
  c = plain_copy(TensorMode::kTile, kU4);
  c.sm = 120;
  expect_finding(run(c, load_text(c, "cluster") + waits(16), false), Kind::kInvalidInstruction,
                 "to .shared::cluster");
  EXPECT_TRUE(run(c, load_text(c, "cta") + waits(counted(c)), false).findings.empty());
}

TEST_F(TensorModes, WhatTheDriverRefuses) {
  const auto why = [](TensorMap m, int sm = 100) { return memory::refusal(m, sm); };
  const TensorMap u6 = plain_copy(TensorMode::kTile, kU6).map,
                  u4 = plain_copy(TensorMode::kTile, kU4).map,
                  wide = plain_copy(TensorMode::kIm2colW).map,
                  tile = plain_copy(TensorMode::kTile, 1).map;
  EXPECT_EQ(why(u6), "");
  EXPECT_THAT(why(u6, 90), HasSubstr("need compute capability 10.0"));
  const auto with = [&](TensorMap m, auto change) {
    change(m);
    return why(m);
  };
  EXPECT_THAT(with(u6, [](TensorMap& m) { m.box[0] = 64; }), HasSubstr("padded ones come by 128"));
  EXPECT_THAT(with(u6, [](TensorMap& m) { m.address += 16; }), HasSubstr("no multiple of 32"));
  EXPECT_THAT(with(u6, [](TensorMap& m) { m.strides[0] += 16; }), HasSubstr("no multiple of 32"));
  EXPECT_THAT(with(u6, [](TensorMap& m) { m.swizzle = 1; }), HasSubstr("swizzled in another way"));
  EXPECT_THAT(with(u6, [](TensorMap& m) { m.atom = 2; }), HasSubstr("swizzled in another way"));
  EXPECT_THAT(with(u6, [](TensorMap& m) { m.fill = 1; }), HasSubstr("filled with NaN"));
  EXPECT_THAT(with(u6, [](TensorMap& m) { m.sizes[0] += 64; }), HasSubstr("by 128"));
  EXPECT_THAT(with(u4, [](TensorMap& m) { m.sizes[0] |= 1; }), HasSubstr("an odd number"));
  EXPECT_THAT(with(wide, [](TensorMap& m) { m.swizzle = 0; }), HasSubstr("wants a swizzle"));
  EXPECT_THAT(with(wide, [](TensorMap& m) { m.atom = 3; }), HasSubstr("wants a swizzle"));
  EXPECT_EQ(with(wide, [](TensorMap& m) { m.lower[0] = -32768; }), "");
  EXPECT_THAT(with(tile, [](TensorMap& m) { m.swizzle = 2, m.atom = 1; }),
              HasSubstr("only swizzles of 128 bytes"));
  EXPECT_THAT(with(tile, [](TensorMap& m) { m.swizzle = 4; }),
              HasSubstr("needs compute capability 10.3"));
}

JUDGES(TensorModes, TheAtomOfASwizzleIsReplaced,
       "tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32");
TEST_F(TensorModes, TheAtomOfASwizzleIsReplaced) {
  const Copy c = plain_copy(TensorMode::kTile);
  for (int atom = 0; atom < 4; ++atom) {
    const std::string body =
        "mov.u32 t5, %tid.x; shl.b32 t5, t5, 2; cvt.u64.u32 d5, t5; add.u64 d6, d0, d5;\n"
        "ld.global.b32 x0, [d6]; add.u32 t6, w, 8192; add.u32 t7, t6, t5;\n"
        "st.shared.b32 [t7], x0; bar.warp.sync 0xffffffff;\n"
        "@p0 tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [t6], " +
        std::to_string(atom) +
        ";\nbar.warp.sync 0xffffffff;\n"
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[d0], [t6], 128;\n"
        "fence.proxy.tensormap::generic.acquire.gpu [d0], 128;\n"
        "fence.proxy.async;\n";
    Copy changed = c;
    changed.map.atom = atom;
    const Outcome o = run(c, body + load_text(c, "cta") + waits(counted(c)), true);
    ASSERT_TRUE(o.findings.empty()) << text(o);
    Bytes seen = gpu.fetch<std::uint8_t>(after, kWindow), expected = loaded(changed);
    // The map was built 8 KiB into the window.
    std::copy_n(expected.begin() + 8192, 128, seen.begin() + 8192);
    EXPECT_EQ(seen, expected) << atom;
  }
}

}  // namespace tensor_modes_test
}  // namespace lockstep::engine
