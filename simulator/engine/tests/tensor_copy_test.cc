// Copies through tensor maps, compared with a model that loops over coordinates, written from the
// manual (PTX ISA 5.5, 9.7.9.27). Also the findings for their misuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/random.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/memory/tensor_map.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace tensor_copy_test {

using check::Kind;
using memory::TensorMap;
using memory::TensorType;
using ::testing::HasSubstr;
using testing::Machine;
using testing::Random;
using testing::text;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kWindow = 16 << 10;  // bytes of shared memory
constexpr std::uint32_t kMargin = 4096, kTensor = 64 << 10;
constexpr std::uint8_t kBefore = 0xab;

struct Copy {
  TensorMap map;
  std::int32_t at[5] = {};
  std::uint16_t offsets[3] = {};
  std::uint32_t to = 0;
};

// A valid map, and coordinates near its borders. golden/tensor_maps compares interleaved tensors,
// and everything that PTX leaves open, with silicon.
Copy random_copy(Random& r, bool im2col, bool writes) {
  for (;;) {
    Copy c;
    TensorMap& m = c.map;
    m.im2col = im2col;
    m.type = static_cast<std::int32_t>(r.between(0, 10));
    m.rank = static_cast<std::uint32_t>(r.between(im2col ? 3 : 1, 5));
    m.swizzle = static_cast<std::int32_t>(r.between(0, 3));
    m.fill = m.type >= 6 ? static_cast<std::int32_t>(r.between(0, 1)) : 0;
    m.address = 16 * static_cast<std::uint64_t>(r.between(0, 7));
    const std::uint32_t bytes = m.element_bytes();
    const std::int64_t widest = m.swizzle == 0 ? 10 : 1 << m.swizzle;
    const auto inner = static_cast<std::uint32_t>(16 * r.between(1, widest)) / bytes;
    m.sizes[0] = static_cast<std::uint64_t>(r.between(1, 2 * inner + 3));
    std::uint64_t stride = (m.sizes[0] * bytes + 15) / 16 * 16;
    for (std::uint32_t d = 0; d < m.rank; ++d) {
      m.steps[d] = d > 0 && r.one_in(3) ? static_cast<std::uint32_t>(r.between(1, 8)) : 1;
      m.box[d] = d == 0 ? inner : static_cast<std::uint32_t>(r.between(1, 5)) * m.steps[d];
      if (d == 0) continue;
      stride += 16 * static_cast<std::uint64_t>(r.between(0, 3));
      m.strides[d - 1] = stride;
      m.sizes[d] = static_cast<std::uint64_t>(r.between(1, 6));
      stride *= m.sizes[d];
    }
    m.channels = inner;
    m.pixels = static_cast<std::uint32_t>(r.between(1, 40));
    for (std::uint32_t d = 0; im2col && d < m.rank - 2; ++d) {
      m.lower[d] = static_cast<std::int32_t>(writes ? 0 : r.between(-3, 3));
      m.upper[d] = static_cast<std::int32_t>(writes ? 0 : r.between(-3, 3));
      c.offsets[d] = writes ? std::uint16_t{0} : static_cast<std::uint16_t>(r.between(0, 9));
    }
    if (!memory::refusal(m).empty() || stride > kTensor - 256) continue;
    for (std::uint32_t d = 0; d < m.rank; ++d) {
      const auto size = static_cast<std::int64_t>(m.sizes[d]);
      std::int64_t at =
          r.between(writes ? 0 : -static_cast<std::int64_t>(d == 0 ? inner : m.box[d]), size + 1);
      if (im2col && d > 0 && d + 1 < m.rank)
        at = r.between(m.lower[d - 1], size - 1 + m.upper[d - 1]);
      if (d == 0) at -= at % (16 / bytes);
      c.at[d] = static_cast<std::int32_t>(at);
    }
    c.to = 128 * static_cast<std::uint32_t>(r.between(0, 15));
    if (m.covered_bytes() + c.to <= kWindow) return c;
  }
}

// The position of each element of a copy in shared memory and in the tensor; none outside of the
// tensor.
struct Element {
  std::uint32_t shared = 0;
  std::int64_t tensor = -1;  // offset from the tensor's address
};
std::uint32_t swizzled(std::uint32_t address, std::int32_t mode) {
  const std::uint32_t line = address / 128, chunk = address % 128 / 16, byte = address % 16;
  const std::uint32_t moved = mode == 3   ? chunk ^ line % 8
                              : mode == 2 ? chunk ^ line % 4
                              : mode == 1 ? chunk ^ line % 2
                                          : chunk;
  return line * 128 + moved * 16 + byte;
}
std::vector<Element> model(const Copy& c) {
  const TensorMap& m = c.map;
  std::vector<Element> all;
  const std::int64_t bytes = m.element_bytes();
  const std::int64_t width = m.im2col ? m.channels : m.box[0];
  const std::int64_t spans[] = {0, 32, 64, 128};
  const std::int64_t pitch = std::max(width * bytes, spans[m.swizzle]);
  std::int64_t row = 0;
  const auto add_row = [&](std::int64_t c1, std::int64_t c2, std::int64_t c3, std::int64_t c4) {
    const std::int64_t outer[] = {c1, c2, c3, c4};
    for (std::int64_t e = 0; e < width; ++e) {
      const std::int64_t x = c.at[0] + e;
      bool inside = x >= 0 && x < static_cast<std::int64_t>(m.sizes[0]);
      std::int64_t place = x * bytes;
      for (std::uint32_t d = 1; d < m.rank; ++d) {
        inside =
            inside && outer[d - 1] >= 0 && outer[d - 1] < static_cast<std::int64_t>(m.sizes[d]);
        place += outer[d - 1] * static_cast<std::int64_t>(m.strides[d - 1]);
      }
      all.push_back(
          {swizzled(c.to + static_cast<std::uint32_t>(row * pitch + e * bytes), m.swizzle),
           inside ? place : -1});
    }
    ++row;
  };
  if (!m.im2col) {
    const auto end = [&](std::uint32_t d) { return d < m.rank ? m.box[d] : 1; };
    const auto step = [&](std::uint32_t d) { return d < m.rank ? m.steps[d] : 1; };
    for (std::uint32_t i4 = 0; i4 < end(4); i4 += step(4)) {
      for (std::uint32_t i3 = 0; i3 < end(3); i3 += step(3)) {
        for (std::uint32_t i2 = 0; i2 < end(2); i2 += step(2)) {
          for (std::uint32_t i1 = 0; i1 < end(1); i1 += step(1))
            add_row(c.at[1] + i1, c.at[2] + i2, c.at[3] + i3, c.at[4] + i4);
        }
      }
    }
    return all;
  }
  // Consecutive pixels: along W, then H, then D, each within its box, then the next image.
  std::int64_t pixel[4] = {c.at[1], c.at[2], c.at[3], c.at[4]};
  const std::uint32_t spatial = m.rank - 2;
  for (std::uint32_t p = 0; p < m.pixels; ++p) {
    std::int64_t now[4] = {pixel[0], pixel[1], pixel[2], pixel[3]};
    for (std::uint32_t s = 0; s < spatial; ++s) now[s] += c.offsets[s];
    add_row(now[0], now[1], now[2], now[3]);
    std::uint32_t s = 0;
    for (; s < spatial; ++s) {
      pixel[s] += m.steps[s + 1];
      if (pixel[s] <= static_cast<std::int64_t>(m.sizes[s + 1]) - 1 + m.upper[s]) break;
      pixel[s] = m.lower[s];
    }
    if (s == spatial) pixel[spatial] += m.steps[spatial + 1];
  }
  return all;
}

std::string list(const std::string& prefix, std::uint32_t n) {
  std::string s = "{";
  for (std::uint32_t i = 0; i < n; ++i) s += (i ? ", " : "") + prefix + std::to_string(i);
  return s + "}";
}

// A kernel with the map at d0, shared memory `window` at w (16 KiB, copied from `image` and to
// `after`), coordinates in r0 .., offsets in h0 .., an mbarrier at b.
std::string kernel(const Copy& c, const std::string& body, bool looks) {
  std::string s = R"(
.visible .entry k(.param .u64 map, .param .u64 image, .param .u64 after)
{
.reg .pred p<8>; .reg .b16 h<16>; .reg .b32 r<16>; .reg .b32 t<8>; .reg .b32 b; .reg .b32 w;
    .reg .b64 d<24>; .reg .b32 x<8>;
.shared .align 1024 .b8 window[16384];
.shared .align 8 .b64 bar;
ld.param.u64 d0, [map]; ld.param.u64 d1, [image]; ld.param.u64 d2, [after];
mov.u32 t0, %tid.x; mov.u32 w, window; mov.u32 b, bar; setp.eq.u32 p0, t0, 0;
)";
  for (std::uint32_t d = 0; d < 5; ++d)
    s += "mov.b32 r" + std::to_string(d) + ", " + std::to_string(c.at[d]) + ";\n";
  for (std::uint32_t d = 0; d < 3; ++d)
    s += "mov.b16 h" + std::to_string(d) + ", " + std::to_string(c.offsets[d]) + ";\n";
  s += R"(
@p0 mbarrier.init.shared.b64 [b], 1;
shl.b32 t1, t0, 4; mul.wide.u32 d3, t0, 16; add.u64 d1, d1, d3; add.u64 d2, d2, d3;
    add.u32 t2, w, t1; mov.u32 t3, 0;
$in:
ld.global.v4.b32 {x0, x1, x2, x3}, [d1]; st.shared.v4.b32 [t2], {x0, x1, x2, x3};
add.u64 d1, d1, 512; add.u32 t2, t2, 512; add.u32 t3, t3, 1; setp.lt.u32 p1, t3, 32; @p1 bra $in;
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
add.u64 d2, d2, 512; add.u32 t2, t2, 512; add.u32 t3, t3, 1; setp.lt.u32 p1, t3, 32; @p1 bra $out;
)";
  }
  return s + "ret;\n}\n";
}

std::string waits(std::uint32_t bytes) {
  return "@p0 mbarrier.arrive.expect_tx.shared.b64 d9, [b], " + std::to_string(bytes) +
         ";\n$wait: mbarrier.try_wait.parity.shared.b64 p2, [b], 0; @!p2 bra $wait;\n";
}
std::string load_text(const Copy& c, const std::string& to = "cluster", bool tile_word = true) {
  const std::string dims = std::to_string(c.map.rank);
  return "@p0 cp.async.bulk.tensor." + dims + "d.shared::" + to + ".global" +
         (c.map.im2col ? ".im2col"
          : tile_word  ? ".tile"
                       : "") +
         ".mbarrier::complete_tx::bytes [t4], [d0, " + list("r", c.map.rank) + "], [b]" +
         (c.map.im2col ? ", " + list("h", c.map.rank - 2) : "") + ";\n";
}
std::string store_text(const Copy& c, const std::string& reduction = {}, bool tile_word = true) {
  return "@p0 cp." + std::string(reduction.empty() ? "" : "reduce.") + "async.bulk.tensor." +
         std::to_string(c.map.rank) + "d.global.shared::cta" +
         (reduction.empty() ? "" : "." + reduction) +
         (c.map.im2col ? ".im2col_no_offs"
          : tile_word  ? ".tile"
                       : "") +
         ".bulk_group [d0, " + list("r", c.map.rank) +
         "], [t4];\n@p0 cp.async.bulk.commit_group;\n@p0 cp.async.bulk.wait_group 0;\n";
}

class TensorCopy : public ::testing::Test {
 protected:
  TensorCopy() {
    std::uint64_t state = 99;
    for (Bytes* b : {&tensor_bytes, &image_bytes}) {
      b->resize(b == &tensor_bytes ? kMargin + kTensor : kWindow);
      for (std::uint8_t& x : *b) x = static_cast<std::uint8_t>(next_mixed(state));
    }
    tensor = gpu.buffer(tensor_bytes, "tensor");
    image = gpu.buffer(image_bytes, "image");
    after = gpu.buffer(Bytes(kWindow), "after");
    map = gpu.buffer(Bytes(TensorMap::kBytes), "map");
  }
  void put(memory::Address a, const void* bytes, std::size_t n) {
    std::memcpy(gpu.memory.host(*gpu.memory.find(a), a), bytes, n);
  }
  void put_map(TensorMap m) {
    m.address += tensor + kMargin;
    std::byte bytes[TensorMap::kBytes];
    memory::encode(m, bytes);
    put(map, bytes, sizeof bytes);
  }
  void start(const Copy& c, const std::string& body, bool looks) {
    put_map(c.map);
    put(tensor, tensor_bytes.data(), tensor_bytes.size());
    // .shared::cta needs PTX 8.6; tensormap.replace needs sm_90a.
    gpu.load_text(".version 8.6\n.target sm_90a\n.address_size 64\n" + kernel(c, body, looks));
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
    const std::uint32_t bytes = c.map.element_bytes();
    for (const Element& e : model(c)) {
      for (std::uint32_t i = 0; i < bytes; ++i) {
        const std::uint8_t fill = c.map.fill == 0 ? 0 : i % 2 ? 0x7f : 0xf7;
        w[e.shared + i] =
            e.tensor < 0
                ? fill
                : tensor_bytes[kMargin + c.map.address + static_cast<std::uint64_t>(e.tensor) + i];
      }
    }
    return w;
  }

  Machine gpu;
  Bytes tensor_bytes, image_bytes;
  memory::Address tensor = 0, image = 0, after = 0, map = 0;
};

std::uint32_t count(const Copy& c) {
  return static_cast<std::uint32_t>(model(c).size()) * c.map.element_bytes();
}

JUDGES(TensorCopy, LoadsOfTilesAreAsTheModelSays,
       "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
       "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes");
TEST_F(TensorCopy, LoadsOfTilesAreAsTheModelSays) {
  Random r(1);
  for (int i = 0; i < 250; ++i) {
    const Copy c = random_copy(r, false, false);
    const Outcome o =
        run(c, load_text(c, i % 2 ? "cta" : "cluster", i % 3 != 0) + waits(count(c)), true);
    ASSERT_TRUE(o.findings.empty()) << i << " " << text(o);
    ASSERT_EQ(gpu.fetch<std::uint8_t>(after, kWindow), loaded(c)) << i;
  }
}

JUDGES(TensorCopy, LoadsWithIm2colAreAsTheModelSays,
       "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
       "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes");
TEST_F(TensorCopy, LoadsWithIm2colAreAsTheModelSays) {
  Random r(2);
  for (int i = 0; i < 200; ++i) {
    const Copy c = random_copy(r, true, false);
    const Outcome o = run(c, load_text(c, i % 2 ? "cta" : "cluster") + waits(count(c)), true);
    ASSERT_TRUE(o.findings.empty()) << i << " " << text(o);
    ASSERT_EQ(gpu.fetch<std::uint8_t>(after, kWindow), loaded(c)) << i;
  }
}

// A store writes 16 bytes as a whole if their first element is inside the innermost dimension.
std::map<std::int64_t, std::uint32_t> written(const Copy& c) {
  std::map<std::int64_t, std::uint32_t> bytes;  // source of each byte of the tensor
  const TensorMap& m = c.map;
  Copy wide = c;
  const std::uint64_t grain = 16 / m.element_bytes();
  wide.map.sizes[0] = (m.sizes[0] + grain - 1) / grain * grain;
  for (const Element& e : model(wide)) {
    for (std::uint32_t i = 0; e.tensor >= 0 && i < m.element_bytes(); ++i)
      bytes[e.tensor + i] = e.shared + i;
  }
  return bytes;
}

JUDGES(TensorCopy, StoresAreAsTheModelSays,
       "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group",
       "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group");
TEST_F(TensorCopy, StoresAreAsTheModelSays) {
  Random r(3);
  for (int i = 0; i < 300; ++i) {
    const Copy c = random_copy(r, i % 3 == 0, true);
    const Outcome o = run(c, store_text(c, {}, i % 2 != 0), false);
    ASSERT_TRUE(o.findings.empty()) << i << " " << text(o);
    Bytes expected = tensor_bytes;
    for (const auto& [to, from] : written(c))
      expected[kMargin + c.map.address + static_cast<std::uint64_t>(to)] = image_bytes[from];
    ASSERT_EQ(gpu.fetch<std::uint8_t>(tensor, expected.size()), expected) << i;
  }
}

template <class T>
T element(const Bytes& bytes, std::size_t at) {
  T t;
  std::memcpy(&t, &bytes[at], sizeof t);
  return t;
}
template <class T>
T reduced(const std::string& op, T old, T b) {
  if (op == "add") return static_cast<T>(old + b);
  if (op == "min") return std::min(old, b);
  if (op == "max") return std::max(old, b);
  if (op == "inc") return old >= b ? T{0} : static_cast<T>(old + 1);
  if (op == "dec") return old == 0 || old > b ? b : static_cast<T>(old - 1);
  if (op == "and") return static_cast<T>(old & b);
  return op == "or" ? static_cast<T>(old | b) : static_cast<T>(old ^ b);
}

JUDGES(TensorCopy, ReductionsAreAsTheModelSays,
       "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group",
       "cp.reduce.async.bulk.tensor.3d.global.shared::cta.max.im2col_no_offs.bulk_group");
TEST_F(TensorCopy, ReductionsAreAsTheModelSays) {
  Random r(4);
  const char* const operations[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (int i = 0; i < 240; ++i) {
    Copy c = random_copy(r, i % 3 == 0, true);
    const std::string op = operations[i % 8];
    const bool narrow = op == "inc" || op == "dec" || r.one_in(2);
    c.map.type = static_cast<std::int32_t>(narrow        ? TensorType::kU32
                                           : r.one_in(2) ? TensorType::kS32
                                                         : TensorType::kU64);
    if (!memory::refusal(c.map).empty() ||
        c.at[0] * static_cast<int>(c.map.element_bytes()) % 16 != 0 ||
        c.map.covered_bytes() + c.to > kWindow)
      continue;
    if (c.map.sizes[0] * c.map.element_bytes() > c.map.strides[0]) continue;
    const Outcome o = run(c, store_text(c, op), false);
    ASSERT_TRUE(o.findings.empty()) << i << " " << text(o);
    Bytes expected = tensor_bytes;
    const std::uint32_t bytes = c.map.element_bytes();
    for (const auto& [to, from] : written(c)) {
      if (to % bytes != 0) continue;
      const std::size_t at = kMargin + c.map.address + static_cast<std::uint64_t>(to);
      const auto put_one = [&](auto old) {
        const auto now = reduced(op, old, element<decltype(old)>(image_bytes, from));
        std::memcpy(&expected[at], &now, sizeof now);
      };
      if (c.map.type == static_cast<std::int32_t>(TensorType::kU32))
        put_one(element<std::uint32_t>(tensor_bytes, at));
      if (c.map.type == static_cast<std::int32_t>(TensorType::kS32))
        put_one(element<std::int32_t>(tensor_bytes, at));
      if (c.map.type == static_cast<std::int32_t>(TensorType::kU64))
        put_one(element<std::uint64_t>(tensor_bytes, at));
    }
    ASSERT_EQ(gpu.fetch<std::uint8_t>(tensor, expected.size()), expected) << i << " " << op;
  }
}

// Eight rows of 64 bytes from the tensor's origin.
Copy plain_copy() {
  Copy c;
  c.map.type = static_cast<std::int32_t>(TensorType::kU32);
  c.map.rank = 2;
  c.map.sizes[0] = 16;
  c.map.sizes[1] = 8;
  c.map.strides[0] = 64;
  c.map.box[0] = 16;
  c.map.box[1] = 8;
  c.map.steps[0] = c.map.steps[1] = 1;
  return c;
}
constexpr std::uint32_t kPlainBytes = 512;

JUDGES(TensorCopy, MulticastsReachTheBlocksOfTheMask,
       "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast:"
       ":cluster",
       "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes."
       "multicast::cluster");
TEST_F(TensorCopy, MulticastsReachTheBlocksOfTheMask) {
  for (const bool im2col : {false, true}) {
    for (const int mask : {1, 2, 3}) {
      Copy c = plain_copy();
      if (im2col) {
        c.map.im2col = true;
        c.map.rank = 3;
        c.map.sizes[2] = 2;
        c.map.strides[1] = 512;
        c.map.steps[2] = 1;
        c.map.channels = 16;
        c.map.pixels = 8;
      }
      // The block of rank 0 copies. Each block waits if the mask names it, and writes its window to
      // its own part of the output.
      const std::string multicast = "cp.async.bulk.tensor." + std::to_string(c.map.rank) +
                                    "d.shared::cluster.global" + (im2col ? ".im2col" : ".tile") +
                                    ".mbarrier::complete_tx::bytes.multicast::cluster [t4], [d0, " +
                                    list("r", c.map.rank) + "], [b]" + (im2col ? ", {h0}" : "") +
                                    ", h4;\n";
      const std::string body =
          "mov.u32 t5, %cluster_ctarank; mov.b16 h4, " + std::to_string(mask) + "; mov.u32 t6, " +
          std::to_string(mask) +
          ";\n"
          "mul.wide.u32 d5, t5, 16384; add.u64 d2, d2, d5; shr.u32 t6, t6, t5; and.b32 t6, t6, 1; "
          "setp.eq.u32 p3, t6, 1; and.pred p4, p0, p3;\n"
          "@p4 mbarrier.arrive.expect_tx.shared.b64 d9, [b], 512;\n"
          "fence.mbarrier_init.release.cluster; barrier.cluster.arrive.aligned; "
          "barrier.cluster.wait.aligned;\n"
          "setp.eq.u32 p5, t5, 0; and.pred p5, p5, p0;\n@p5 " +
          multicast +
          "@!p3 bra $done;\n$wait: mbarrier.try_wait.parity.shared.b64 p2, [b], 0; @!p2 bra "
          "$wait;\n$done:\n"
          "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
      start(c, body, true);
      const memory::Address both = gpu.buffer(Bytes(2 * kWindow), "both");
      gpu.config.cluster = {2, 1, 1};
      const Outcome o = gpu.launch("k", 2, 32, map, image, both);
      gpu.config.cluster = {1, 1, 1};
      ASSERT_TRUE(o.findings.empty()) << text(o);
      const Bytes out = gpu.fetch<std::uint8_t>(both, 2 * kWindow);
      for (int rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(Bytes(out.begin() + rank * kWindow, out.begin() + (rank + 1) * kWindow),
                  mask >> rank & 1 ? loaded(c) : image_bytes)
            << mask << " " << rank;
      }
    }
  }
}

JUDGES_HINTS(TensorCopy, PrefetchesChangeNothing, "cp.async.bulk.prefetch.tensor.2d.L2.global.tile",
             "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col", "prefetch.tensormap");
TEST_F(TensorCopy, PrefetchesChangeNothing) {
  Copy c = plain_copy();
  Outcome o = run(c,
                  "@p0 prefetch.tensormap [d0];\n@p0 "
                  "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [d0, {r0, r1}];\n",
                  true);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  EXPECT_EQ(gpu.fetch<std::uint8_t>(after, kWindow), image_bytes);
  c.map.im2col = true;
  c.map.rank = 3;
  c.map.sizes[2] = c.map.steps[2] = 1;
  c.map.channels = 16;
  c.map.pixels = 4;
  o = run(c, "@p0 cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [d0, {r0, r1, r2}], {h0};\n",
          true);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  EXPECT_EQ(gpu.fetch<std::uint8_t>(after, kWindow), image_bytes);
}

// The initial contents of a map in shared memory.
enum class From { kOther, kZeros, kNothing };

// A kernel that builds a map in shared memory field by field, copies it to `after` and loads
// through it into the window.
std::string replace_body(const Copy& c, memory::Address address, bool fenced,
                         From from = From::kOther) {
  const TensorMap& m = c.map;
  const std::string in = ".shared::cta.b1024";
  std::string s =
      "mov.u32 t5, %tid.x; shl.b32 t5, t5, 2; cvt.u64.u32 d5, t5; add.u64 d6, d0, d5; "
      "ld.global.b32 x0, [d6]; add.u32 t6, w, 8192; add.u32 t7, t6, t5;\n";
  if (from == From::kZeros) s += "mov.b32 x0, 0;\n";
  if (from == From::kNothing) {
    s += "mov.u32 t6, empty;\n";
  } else {
    s += "st.shared.b32 [t7], x0; bar.warp.sync 0xffffffff;\n";
  }
  const auto put = [&](const std::string& field, const std::string& type, const std::string& rest) {
    s += "@p0 tensormap.replace.tile." + field + in + "." + type + " [t6], " + rest + ";\n";
  };
  s += "mov.b64 d7, " + std::to_string(address) + ";\n";
  put("global_address", "b64", "d7");
  put("rank", "b32", std::to_string(m.rank - 1));
  for (std::uint32_t d = 0; d < m.rank; ++d) {
    const std::string n = std::to_string(d) + ", ";
    put("box_dim", "b32", n + std::to_string(m.box[d]));
    put("global_dim", "b32", n + std::to_string(m.sizes[d]));
    put("element_stride", "b32", n + std::to_string(m.steps[d]));
    if (d > 0)
      put("global_stride", "b64", std::to_string(d - 1) + ", " + std::to_string(m.strides[d - 1]));
  }
  constexpr int kTypes[] = {
      0, 1, 2,  3, 4,  5, 6,
      7, 9, 10, 8, 11, 12};  // PTX ISA, tensormap.replace: not the driver's order
  put("elemtype", "b32", std::to_string(kTypes[m.type]));
  put("interleave_layout", "b32", "0");
  put("swizzle_mode", "b32", std::to_string(m.swizzle));
  put("fill_mode", "b32", std::to_string(m.fill));
  s += "bar.warp.sync "
       "0xffffffff;\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu."
       "sync.aligned [d2], [t6], 128;\n"
       "ld.param.u64 d0, [after];\n";
  if (fenced) s += "fence.proxy.tensormap::generic.acquire.gpu [d0], 128;\n";
  return s;
}

JUDGES(TensorCopy, MapsAreMadeFieldByField,
       "tensormap.replace.tile.global_address.shared::cta.b1024.b64",
       "tensormap.replace.tile.rank.shared::cta.b1024.b32",
       "tensormap.replace.tile.box_dim.shared::cta.b1024.b32",
       "tensormap.replace.tile.global_dim.shared::cta.b1024.b32",
       "tensormap.replace.tile.global_stride.shared::cta.b1024.b64",
       "tensormap.replace.tile.element_stride.shared::cta.b1024.b32",
       "tensormap.replace.tile.elemtype.shared::cta.b1024.b32",
       "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32",
       "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32",
       "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32",
       "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned");
TEST_F(TensorCopy, MapsAreMadeFieldByField) {
  Random r(5);
  for (int i = 0; i < 60; ++i) {
    const Copy c = random_copy(r, false, false);
    const From from = i % 2 == 0 ? From::kOther : From::kZeros;
    Copy other = plain_copy();
    start(other, "", false);
    gpu.load_text(".version 8.6\n.target sm_90a\n.address_size 64\n" +
                  // The copy may overwrite the place where the map was built.
                  kernel(c,
                         replace_body(c, tensor + kMargin + c.map.address, true, from) +
                             "fence.proxy.async.shared::cta;\n" + load_text(c) + waits(count(c)) +
                             "mov.b64 d2, d1; sub.u64 d2, d2, 16384;\n",
                         true));
    put(image, image_bytes.data(), image_bytes.size());
    const Outcome o = gpu.launch("k", 1, 32, map, image, after);
    ASSERT_TRUE(o.findings.empty()) << i << " " << text(o);
    // The window is copied to `image`. The map is 8 KiB into it, unless the load overwrote it.
    Bytes expected = loaded(c), seen = gpu.fetch<std::uint8_t>(image, kWindow);
    for (std::size_t b = 8192; b < 8192 + 128; ++b) {
      if (expected[b] == image_bytes[b]) seen[b] = expected[b];
    }
    ASSERT_EQ(seen, expected) << i;
    std::byte made[TensorMap::kBytes];
    std::memcpy(made, gpu.fetch<std::uint8_t>(after, TensorMap::kBytes).data(), sizeof made);
    TensorMap whole = c.map;
    whole.address += tensor + kMargin;
    const auto decoded = memory::decode(made);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(decoded->sizes[0], whole.sizes[0]);
    EXPECT_EQ(decoded->address, whole.address);
    put(image, image_bytes.data(), image_bytes.size());
  }
}

// As on an H100: a zeroed map has the smallest value in each field that tensormap.replace has not
// set.
TEST_F(TensorCopy, ZerosAreAMapOfOneByteForReplaceAlone) {
  const Bytes zeros(TensorMap::kBytes);
  const auto* bytes = reinterpret_cast<const std::byte*>(zeros.data());
  EXPECT_FALSE(memory::decode(bytes).has_value());
  const auto blank = memory::decode_or_blank(bytes);
  ASSERT_TRUE(blank.has_value());
  const TensorMap one = {
      .rank = 1, .sizes = {1, 1, 1, 1, 1}, .steps = {1, 1, 1, 1, 1}, .box = {1, 1, 1, 1, 1}};
  EXPECT_EQ(*blank, one);
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    Bytes other = zeros;
    other[i] = 1;
    EXPECT_FALSE(
        memory::decode_or_blank(reinterpret_cast<const std::byte*>(other.data())).has_value())
        << i;
  }
}

// CuTe clears one bit of the maps of small tensors; another program might set it.
TEST_F(TensorCopy, TheBitThatProgramsClearIsNoPartOfAMap) {
  Random r(6);
  for (int i = 0; i < 40; ++i) {
    const Copy c = random_copy(r, i % 2 == 0, false);
    start(c, load_text(c) + waits(count(c)), true);
    Bytes bytes = gpu.fetch<std::uint8_t>(map, TensorMap::kBytes);
    const auto made = memory::decode(reinterpret_cast<const std::byte*>(bytes.data()));
    std::uint64_t words[TensorMap::kBytes / 8];
    std::memcpy(words, bytes.data(), sizeof words);
    for (const bool set : {false, true}) {
      words[1] = set ? words[1] | 1ull << 21 : words[1] & ~(1ull << 21);
      const auto decoded = memory::decode(reinterpret_cast<const std::byte*>(words));
      ASSERT_TRUE(decoded.has_value()) << i;
      EXPECT_EQ(*decoded, *made) << i;
      put(map, words, sizeof words);
      const Outcome o = gpu.launch("k", 1, 32, map, image, after);
      ASSERT_TRUE(o.findings.empty()) << i << " " << text(o);
      ASSERT_EQ(gpu.fetch<std::uint8_t>(after, kWindow), loaded(c)) << i;
    }
  }
}

TEST_F(TensorCopy, AMapWithoutThatBitIsMadeAnotherFieldByField) {
  const Copy c = plain_copy();
  start(c, "", false);
  Bytes bytes = gpu.fetch<std::uint8_t>(map, TensorMap::kBytes);
  bytes[8 + 21 / 8] &= static_cast<std::uint8_t>(~(1u << 21 % 8));
  put(map, bytes.data(), bytes.size());
  gpu.load_text(".version 8.6\n.target sm_90a\n.address_size 64\n" +
                kernel(c,
                       replace_body(c, tensor + kMargin + c.map.address, true) + load_text(c) +
                           waits(kPlainBytes),
                       true));
  const Outcome o = gpu.launch("k", 1, 32, map, image, after);
  EXPECT_TRUE(o.findings.empty()) << text(o);
}

// ---- What is found
// -------------------------------------------------------------------------------------------------

TEST_F(TensorCopy, ReadingBeforeTheWaitIsFound) {
  const Copy c = plain_copy();
  expect_finding(run(c,
                     load_text(c) + "@p0 ld.shared.b32 x0, [t4];\n@p0 st.global.b32 [d2], x0;\n" +
                         waits(kPlainBytes),
                     false),
                 Kind::kRace, "an asynchronous copy is on its way");
}

TEST_F(TensorCopy, BytesThatNeverComeAreADeadlock) {
  const Copy c = plain_copy();
  expect_finding(run(c, load_text(c) + waits(kPlainBytes + 16), false), Kind::kDeadlock,
                 "16 bytes that never come");
}

TEST_F(TensorCopy, WhatIsNoMapIsFound) {
  const Copy c = plain_copy();
  start(c, load_text(c) + waits(kPlainBytes), false);
  const Bytes garbage(TensorMap::kBytes, 7);
  put(map, garbage.data(), garbage.size());
  expect_finding(gpu.launch("k", 1, 32, map, image, after), Kind::kInvalidInstruction,
                 "are no tensor map");
}

TEST_F(TensorCopy, AMapMadeInMemoryThatNobodyClearedIsFound) {
  const Copy c = plain_copy();
  const std::string empty = ".shared .align 128 .b8 empty[128];\n";
  const Outcome o = run(c,
                        empty + replace_body(c, tensor + kMargin, true, From::kNothing) +
                            load_text(c) + waits(kPlainBytes),
                        false);
  expect_finding(o, Kind::kUninitialised, "the memory it changes was never written");
}

TEST_F(TensorCopy, AMapWithAByteChangedIsNone) {
  const Copy c = plain_copy();
  start(c, load_text(c) + waits(kPlainBytes), false);
  Bytes bytes = gpu.fetch<std::uint8_t>(map, TensorMap::kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 1;
    EXPECT_FALSE(memory::decode(reinterpret_cast<const std::byte*>(bytes.data())).has_value()) << i;
    bytes[i] ^= 1;
  }
}

TEST_F(TensorCopy, AMapOfAnotherAlignmentIsFound) {
  const Copy c = plain_copy();
  expect_finding(run(c, "add.u64 d0, d0, 32;\n" + load_text(c) + waits(kPlainBytes), false),
                 Kind::kMisaligned, "no multiple of 64");
}

TEST_F(TensorCopy, AMapInSharedMemoryIsFound) {
  const Copy c = plain_copy();
  expect_finding(
      run(c, "cvt.u64.u32 d0, w; cvta.shared.u64 d0, d0;\n" + load_text(c) + waits(kPlainBytes),
          false),
      Kind::kInvalidInstruction, "the tensor map lies in shared");
}

TEST_F(TensorCopy, AMapOfAnotherRankOrModeIsFound) {
  Copy c = plain_copy();
  const std::string two = load_text(c);
  c.map.rank = 3;
  c.map.sizes[2] = c.map.box[2] = c.map.steps[2] = 1;
  expect_finding(run(c, two + waits(kPlainBytes), false), Kind::kInvalidInstruction,
                 "a copy of 2 dimensions through the map of a tensor of 3");
  const std::string three = load_text(c);
  c.map.im2col = true;
  c.map.channels = 16;
  c.map.pixels = 8;
  expect_finding(run(c, three + waits(kPlainBytes), false), Kind::kInvalidInstruction,
                 "a copy of a tile through a map that is for im2col");
}

TEST_F(TensorCopy, SharedMemoryThatIsNotAlignedIsFound) {
  Copy c = plain_copy();
  c.to = 64;
  expect_finding(run(c, load_text(c) + waits(kPlainBytes), false), Kind::kMisaligned,
                 "no multiple of 128");
  expect_finding(run(c, store_text(c), false), Kind::kMisaligned, "no multiple of 128");
}

TEST_F(TensorCopy, ABoxThatLeavesSharedMemoryIsFound) {
  Copy c = plain_copy();
  c.to = kWindow - 256;
  expect_finding(run(c, load_text(c) + waits(kPlainBytes), false), Kind::kOutOfBounds,
                 "past the end of 'window'");
  expect_finding(run(c, store_text(c), false), Kind::kOutOfBounds, "past the end of 'window'");
}

TEST_F(TensorCopy, ATensorThatLeavesItsMemoryIsFound) {
  Copy c = plain_copy();
  c.map.sizes[1] = 100'000;
  c.at[1] = static_cast<std::int32_t>(kTensor / 64 - 4);
  expect_finding(run(c, load_text(c) + waits(kPlainBytes), false), Kind::kOutOfBounds,
                 "past the end of 'tensor'");
}

TEST_F(TensorCopy, CoordinatesThatNoGpuTakesAreFound) {
  Copy c = plain_copy();
  c.at[0] = 2;
  expect_finding(run(c, load_text(c) + waits(kPlainBytes), false), Kind::kInvalidInstruction,
                 "8 bytes into the dimension: no multiple of 16");
  c.at[0] = 0;
  c.at[1] = -1;
  expect_finding(run(c, store_text(c), false), Kind::kInvalidInstruction,
                 "must not begin before the tensor");
  c = plain_copy();
  c.map.im2col = true;
  c.map.rank = 3;
  c.map.sizes[2] = c.map.steps[2] = 1;
  c.map.strides[1] = 512;
  c.map.channels = 16;
  c.map.pixels = 8;
  c.at[1] = 8;
  expect_finding(run(c, load_text(c) + waits(kPlainBytes), false), Kind::kInvalidInstruction,
                 "outside of the pixels' box, which goes from 0 to 7");
  c.at[1] = 0;
  c.map.lower[0] = -1;
  expect_finding(run(c, store_text(c), false), Kind::kInvalidInstruction, "goes beyond the tensor");
}

TEST_F(TensorCopy, ReductionsThatThereAreNotAreFound) {
  Copy c = plain_copy();
  c.map.type = static_cast<std::int32_t>(TensorType::kF32);
  expect_finding(run(c, store_text(c, "min"), false), Kind::kInvalidInstruction,
                 "a reduction that there is not");
}

TEST_F(TensorCopy, ASourceThatChangesTooEarlyIsFound) {
  const Copy c = plain_copy();
  const std::string store = store_text(c);
  const std::size_t commit = store.find("@p0 cp.async.bulk.commit_group");
  expect_finding(
      run(c, store.substr(0, commit) + "@p0 st.shared.b32 [t4], 77;\n" + store.substr(commit),
          false),
      Kind::kRace, "overwritten before the copy");
}

TEST_F(TensorCopy, AFieldThatTheDriverWouldRefuseIsFound) {
  const Copy c = plain_copy();
  const std::string body =
      replace_body(c, tensor + kMargin + 8, true) + load_text(c) + waits(kPlainBytes);
  expect_finding(run(c, body, false), Kind::kInvalidInstruction,
                 "the tensor map is not valid: the address is no multiple of 16");
}

TEST_F(TensorCopy, AMapChangedWithoutItsFenceIsFound) {
  const Copy c = plain_copy();
  const Outcome o =
      run(c, replace_body(c, tensor + kMargin, false) + load_text(c) + waits(kPlainBytes), false);
  expect_finding(o, Kind::kMissingProxyFence, "no fence.proxy.tensormap has acquired it");
  ASSERT_TRUE(o.findings.size() == 1 && o.findings[0].other.has_value());
  EXPECT_THAT(o.findings[0].other->site.instruction, HasSubstr("tensormap.cp_fenceproxy"));
}

// ---- fence.proxy.async
// ----------------------------------------------------------------------------------------------

constexpr char kNoFence[] = "bar.sync 0;\n@p0 st.shared.b32 [t4], 77;\n";

TEST_F(TensorCopy, StoresWithoutAProxyFenceAreFound) {
  const Copy c = plain_copy();
  const Outcome o = run(c, kNoFence + store_text(c), false);
  expect_finding(o, Kind::kMissingProxyFence, "no fence.proxy.async stands between");
  ASSERT_TRUE(o.findings.size() == 1 && o.findings[0].other.has_value());
  EXPECT_EQ(o.findings[0].other->site.instruction, "st.shared.b32");
  // A fence for global memory, or a fence that is no proxy fence, is not enough.
  for (const char* fence :
       {"fence.proxy.async.global;\n", "fence.acq_rel.cta;\n", "membar.gl;\n"}) {
    expect_finding(run(c, std::string(kNoFence) + fence + store_text(c), false),
                   Kind::kMissingProxyFence, "no fence.proxy.async stands between");
  }
}

TEST_F(TensorCopy, AProxyFenceOnEitherSideOfTheBarrierWillDo) {
  const Copy c = plain_copy();
  const std::string other =
      "bar.sync 0;\nsetp.eq.u32 p6, t0, 40;\n@p6 st.shared.b32 [t4], 77;\n";  // a thread of another
                                                                              // warp
  // The first warp fills the window, as ever.
  const auto findings = [&](const std::string& between) {
    std::string k = kernel(c, other + between + store_text(c), false);
    const std::string fills = "$in:\n";
    k.replace(k.find(fills), fills.size(), "setp.ge.u32 p7, t0, 32; @p7 bra $filled;\n$in:\n");
    const std::string fenced = "fence.proxy.async;\nbar.sync 0;\n";
    k.replace(k.find(fenced), fenced.size(), "$filled:\nfence.proxy.async;\nbar.sync 0;\n");
    put_map(c.map);
    gpu.load_text(".version 8.6\n.target sm_90a\n.address_size 64\n" + k);
    return gpu.launch("k", 1, 64, map, image, after);
  };
  EXPECT_TRUE(findings("fence.proxy.async.shared::cta;\nbar.sync 0;\n").findings.empty());
  EXPECT_TRUE(findings("bar.sync 0;\n@p0 fence.proxy.async;\n").findings.empty());
  expect_finding(findings("bar.sync 0;\n"), Kind::kMissingProxyFence, "no fence.proxy.async");
  // A fence before the barrier, by a warp that has not synchronised with the store.
  expect_finding(findings("@p0 fence.proxy.async;\nbar.sync 0;\n"), Kind::kMissingProxyFence,
                 "no fence.proxy.async");
}

TEST_F(TensorCopy, TheNextTurnNeedsItsOwnProxyFence) {
  const Copy c = plain_copy();
  const std::string turn = "@p0 st.shared.b32 [t4], 77;\n";
  const std::string first =
      turn + "fence.proxy.async;\nbar.sync 0;\n" + store_text(c) + "bar.sync 0;\n";
  EXPECT_TRUE(run(c, first + first, false).findings.empty());
  expect_finding(run(c, first + turn + "bar.sync 0;\n" + store_text(c), false),
                 Kind::kMissingProxyFence, "no fence.proxy.async");
}

TEST_F(TensorCopy, WhatACopyBroughtNeedsNoFence) {
  const Copy c = plain_copy();
  const Outcome o = run(c, load_text(c) + waits(kPlainBytes) + store_text(c), false);
  EXPECT_TRUE(o.findings.empty()) << text(o);
}

TEST_F(TensorCopy, PlainBulkCopiesNeedTheFenceToo) {
  const Copy c = plain_copy();
  const std::string store =
      "@p0 cp.async.bulk.global.shared::cta.bulk_group [d2], [t4], 64;\n@p0 "
      "cp.async.bulk.commit_group;\n@p0 cp.async.bulk.wait_group 0;\n";
  EXPECT_TRUE(run(c, store, false).findings.empty());
  expect_finding(run(c, kNoFence + store, false), Kind::kMissingProxyFence,
                 "no fence.proxy.async stands between");
}

}  // namespace tensor_copy_test
}  // namespace lockstep::engine
