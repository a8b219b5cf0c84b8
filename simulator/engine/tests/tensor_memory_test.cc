// Tensor Memory: the cell of each register for every shape, number and packing of tcgen05.ld, st
// and cp. In the model a row of Tensor Memory is one string of bits. The manual's figures define
// the bits of each thread, in order (PTX ISA 9.7.16.2.3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "simulator/engine/tests/tensor_kernels.h"

namespace lockstep::engine {
namespace tensor_memory_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::tensor_kernel;
using testing::text;

constexpr std::uint32_t kLanes = 128, kColumns = 512;

std::uint32_t pattern(std::uint32_t lane, std::uint32_t column) {
  return (lane * kColumns + column + 1) * 0x9e3779b1u;
}

struct Shape {
  const char* name;
  int rows, bits;  // of one matrix of the shape
  int registers;   // of a thread for one matrix
  int most;        // the largest .num
};
constexpr Shape kShapes[] = {{"32x32b", 32, 32, 1, 128},
                             {"16x64b", 16, 64, 1, 128},
                             {"16x128b", 16, 128, 2, 64},
                             {"16x256b", 16, 256, 4, 32},
                             {"16x32bx2", 16, 32, 1, 128}};

// The row, and the bit in the row, of bit 0 of a thread's register, by the manual's figures.
struct Bit {
  int row, bit;
};
Bit first_bit(const Shape& s, int thread, int reg) {
  const std::string name = s.name;
  if (name == "32x32b") return {thread, 32 * reg};
  if (name == "16x32bx2") return {thread & 15, 32 * reg};
  const int matrix = reg / s.registers, within = reg % s.registers;
  // Threads cover the upper eight rows, with four threads for a row if their words fit.
  switch (s.bits) {
    case 64: {
      // Two threads share a row's 64 bits; of four neighbours, the even threads have the upper
      // rows.
      const int pair = thread % 4;
      return {thread / 4 + (pair % 2 == 0 ? 0 : 8), 64 * matrix + (pair / 2) * 32};
    }
    case 128: return {thread / 4 + (within == 0 ? 0 : 8), 128 * matrix + thread % 4 * 32};
    default:
      return {thread / 4 + (within < 2 ? 0 : 8), 256 * matrix + thread % 4 * 64 + within % 2 * 32};
  }
}

std::string registers(int count) {
  std::string s = "{";
  for (int i = 0; i < count; ++i) s += (i ? ", r" : "r") + std::to_string(i);
  return s + "}";
}

// Every thread stores a pattern of lane and column to its row of all 512 columns.
std::string fill_all() {
  std::string s = "mul.lo.u32 x0, tid, 512;\nadd.u32 x0, x0, 1;\nmul.lo.u32 x0, x0, 0x9e3779b1;\n";
  for (int block = 0; block < 4; ++block) {
    for (int c = 0; c < 128; ++c)
      s += "add.u32 r" + std::to_string(c) + ", x0, " +
           std::to_string(static_cast<std::uint32_t>(128 * block + c) * 0x9e3779b1u) + ";\n";
    s += "add.u32 x1, tm, " + std::to_string(128 * block) + ";\n";
    s += "tcgen05.st.sync.aligned.32x32b.x128.b32 [x1], " + registers(128) + ";\n";
  }
  return s + "tcgen05.wait::st.sync.aligned;\n";
}

// Every thread copies `columns` columns of its row, from `first` on, to its part of `out`.
std::string dump(int first, int columns) {
  std::string s;
  for (int c = 0; c < columns; ++c) {
    s += "add.u32 x1, tm, " + std::to_string(first + c) + ";\n";
    s += "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [x1];\ntcgen05.wait::ld.sync.aligned;\n";
    s += "st.global.b32 [mine+" + std::to_string(4 * c) + "], r0;\n";
  }
  return s;
}

std::string form(const char* what, const Shape& s, int number, bool packed) {
  return std::string("tcgen05.") + what + ".sync.aligned." + s.name + ".x" +
         std::to_string(number) +
         (!packed                     ? ""
          : std::string(what) == "ld" ? ".pack::16b"
                                      : ".unpack::16b") +
         ".b32 ";
}

class TensorMemory : public ::testing::Test {
 protected:
  Outcome run(const std::string& body) {
    gpu.load_text(tensor_kernel(body));
    out = gpu.buffer(std::vector<std::uint32_t>(kLanes * kColumns), "out");
    gpu.config.compute_capability = 100;
    return gpu.launch("k", 1, kLanes, out, out);
  }
  std::vector<std::uint32_t> result() { return gpu.fetch<std::uint32_t>(out, kLanes * kColumns); }

  Machine gpu;
  memory::Address out = 0;
};

std::vector<int> numbers(const Shape& s) {
  std::vector<int> all;
  for (int n = 1; n <= s.most; n *= 2) all.push_back(n);
  return all;
}

// Bit `bit` of row `lane` as tcgen05 addresses it: with packing, only the low halves of columns
// count.
std::uint32_t cell_half(int lane, int bit, bool packed, std::uint32_t& column) {
  column = static_cast<std::uint32_t>(packed ? bit / 16 : bit / 32);
  const std::uint32_t word = pattern(static_cast<std::uint32_t>(lane), column);
  return packed ? word & 0xffff : word >> (bit % 32) & 0xffff;
}

JUDGES(TensorMemory, LoadsHaveTheCellsOfTheFigures, "tcgen05.ld.sync.aligned.32x32b.x1.b32",
       "tcgen05.ld.sync.aligned.16x128b.x1.b32", "tcgen05.ld.sync.aligned.16x256b.x1.b32",
       "tcgen05.ld.sync.aligned.16x32bx2.x1.b32", "tcgen05.wait::ld.sync.aligned");
TEST_F(TensorMemory, LoadsHaveTheCellsOfTheFigures) {
  std::size_t compared = 0;
  for (const Shape& s : kShapes) {
    for (const int number : numbers(s)) {
      for (const bool packed : {false, true}) {
        const int count = number * s.registers, columns = number * s.bits / 32 * (packed ? 2 : 1);
        const bool halves = std::string(s.name) == "16x32bx2";
        const int apart = halves ? columns : 0, first = 37;
        if (columns + apart + first > static_cast<int>(kColumns)) continue;
        for (int low = 0; low < (s.rows == 32 ? 1 : 2); ++low) {
          std::string body = fill_all();
          body += "add.u32 x1, tm, " + std::to_string(low * 16 << 16 | first) + ";\n";
          body += form("ld", s, number, packed) + registers(count) + ", [x1]" +
                  (halves ? ", " + std::to_string(apart) : "") + ";\n";
          body += "tcgen05.wait::ld.sync.aligned;\n";
          for (int r = 0; r < count; ++r)
            body +=
                "st.global.b32 [mine+" + std::to_string(4 * r) + "], r" + std::to_string(r) + ";\n";
          const Outcome o = run(body);
          ASSERT_TRUE(o.findings.empty()) << s.name << number << text(o);
          const auto got = result();
          for (int thread = 0; thread < static_cast<int>(kLanes); ++thread) {
            const int quarter = thread / 32 * 32 + low * 16;
            for (int r = 0; r < count; ++r) {
              Bit b = first_bit(s, thread % 32, r);
              std::uint32_t want = 0;
              for (int half = 0; half < 2; ++half) {
                std::uint32_t column;
                const int shift = 32 * first + (halves && thread % 32 >= 16 ? 32 * apart : 0);
                const int bit = packed ? shift / 2 + b.bit + 16 * half : shift + b.bit + 16 * half;
                want |= cell_half(quarter + b.row, bit, packed, column) << (16 * half);
              }
              ASSERT_EQ(
                  got[static_cast<std::size_t>(thread) * kColumns + static_cast<std::size_t>(r)],
                  want)
                  << form("ld", s, number, packed) << "thread " << thread << " register " << r;
              ++compared;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 300'000u);
}

JUDGES(TensorMemory, StoresHaveTheCellsOfTheFigures, "tcgen05.st.sync.aligned.32x32b.x1.b32",
       "tcgen05.st.sync.aligned.16x128b.x1.b32", "tcgen05.st.sync.aligned.16x256b.x1.b32",
       "tcgen05.st.sync.aligned.16x32bx2.x1.b32", "tcgen05.wait::st.sync.aligned");
TEST_F(TensorMemory, StoresHaveTheCellsOfTheFigures) {
  for (const Shape& s : kShapes) {
    for (const int number : numbers(s)) {
      if (number > 16) continue;
      for (const bool packed : {false, true}) {
        const int count = number * s.registers, columns = number * s.bits / 32 * (packed ? 2 : 1);
        const bool halves = std::string(s.name) == "16x32bx2";
        const int apart = halves ? columns : 0, low = s.rows == 32 ? 0 : number % 2;
        std::string body = fill_all();
        body += "add.u32 x1, tm, " + std::to_string(low * 16 << 16) + ";\n";
        body += "mul.lo.u32 x0, tid, 1024;\n";
        for (int r = 0; r < count; ++r)
          body += "add.u32 r" + std::to_string(r) + ", x0, " + std::to_string(r << 20 | r) + ";\n";
        body += form("st", s, number, packed) + "[x1], " +
                (halves ? std::to_string(apart) + ", " : "") + registers(count) + ";\n" +
                "tcgen05.wait::st.sync.aligned;\n" + dump(0, columns + apart);
        const Outcome o = run(body);
        ASSERT_TRUE(o.findings.empty()) << s.name << number << text(o);
        std::map<std::pair<int, int>, std::uint32_t> changed;  // by lane and column
        for (int thread = 0; thread < static_cast<int>(kLanes); ++thread) {
          for (int r = 0; r < count; ++r) {
            const Bit b = first_bit(s, thread % 32, r);
            const auto v = static_cast<std::uint32_t>(thread * 1024 + (r << 20 | r));
            const int lane = thread / 32 * 32 + low * 16 + b.row,
                      more = halves && thread % 32 >= 16 ? apart : 0;
            if (packed) {
              changed[{lane, more + b.bit / 16}] = v & 0xffff;
              changed[{lane, more + b.bit / 16 + 1}] = v >> 16;
            } else {
              changed[{lane, more + b.bit / 32}] = v;
            }
          }
        }
        const auto got = result();
        for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
          for (int c = 0; c < columns + apart; ++c) {
            const auto at = changed.find({lane, c});
            ASSERT_EQ(got[static_cast<std::size_t>(lane) * kColumns + static_cast<std::size_t>(c)],
                      at != changed.end() ? at->second
                                          : pattern(static_cast<std::uint32_t>(lane),
                                                    static_cast<std::uint32_t>(c)))
                << form("st", s, number, packed) << "lane " << lane << " column " << c;
          }
        }
      }
    }
  }
}

// tcgen05.cp from core matrices of eight consecutive rows of 16 bytes. Groups of eight rows are 128
// bytes apart; the next 16-byte column follows after all groups.
struct Copy {
  const char* name;
  int rows, words;
  std::vector<int> (*lanes)(int row);
};
const Copy kCopies[] = {
    {"128x256b", 128, 8, [](int row) { return std::vector<int>{row}; }},
    {"4x256b", 4, 8, [](int row) { return std::vector<int>{32 * row}; }},
    {"128x128b", 128, 4, [](int row) { return std::vector<int>{row}; }},
    {"64x128b.warpx2::02_13", 64, 4,
     [](int row) {
       return std::vector<int>{row, row + 64};
     }},
    {"64x128b.warpx2::01_23", 64, 4,
     [](int row) {
       return row < 32 ? std::vector<int>{row, row + 32} : std::vector<int>{row + 32, row + 64};
     }},
    {"32x128b.warpx4", 32, 4, [](int row) {
       return std::vector<int>{row, row + 32, row + 64, row + 96};
     }}};

JUDGES(TensorMemory, CopiesHaveTheRowsOfTheirShape, "tcgen05.cp.cta_group::1.128x256b",
       "tcgen05.cp.cta_group::1.64x128b.warpx2::02_13", "tcgen05.cp.cta_group::1.32x128b.warpx4",
       "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64");
TEST_F(TensorMemory, CopiesHaveTheRowsOfTheirShape) {
  for (const Copy& copy : kCopies) {
    const int leading = 16 * std::max(copy.rows, 8), first = 5;
    std::string body = fill_all();
    body += "tcgen05.fence::before_thread_sync;\n";
    // Word i of shared memory is 7 * i.
    for (int i = 0; i < 8; ++i)
      body += "mad.lo.u32 x1, tid, 1, " + std::to_string(128 * i) +
              ";\nmul.lo.u32 x2, x1, 7;\nmad.lo.u32 x1, x1, 4, smem;\nst.shared.b32 [x1], x2;\n";
    body += "fence.proxy.async;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n";
    body += testing::descriptor("d0", 0, leading, 128) + "add.u32 x3, tm, " +
            std::to_string(first) + ";\n";
    body += "@p0 tcgen05.cp.cta_group::1." + std::string(copy.name) + " [x3], d0;\n";
    body += testing::commit_and_wait();
    body += dump(first, copy.words);
    const Outcome o = run(body);
    ASSERT_TRUE(o.findings.empty()) << copy.name << text(o);
    std::map<std::pair<int, int>, std::uint32_t> changed;
    for (int row = 0; row < copy.rows; ++row) {
      for (int word = 0; word < copy.words; ++word) {
        const int byte = row / 8 * 128 + row % 8 * 16 + word / 4 * leading + word % 4 * 4;
        for (const int lane : copy.lanes(row))
          changed[{lane, word}] = static_cast<std::uint32_t>(7 * (byte / 4));
      }
    }
    const auto got = result();
    for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
      for (int word = 0; word < copy.words; ++word) {
        const auto at = changed.find({lane, word});
        ASSERT_EQ(got[static_cast<std::size_t>(lane) * kColumns + static_cast<std::size_t>(word)],
                  at != changed.end() ? at->second
                                      : pattern(static_cast<std::uint32_t>(lane),
                                                static_cast<std::uint32_t>(first + word)))
            << copy.name << " lane " << lane << " word " << word;
      }
    }
  }
}

// An allocation returns lane 0 of the first adjacent free columns, at a multiple of their number. A
// warp waits for columns that another warp will free.
JUDGES(TensorMemory, ColumnsAreAllocatedSideBySideAndWaitedFor,
       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
       "tcgen05.dealloc.cta_group::1.sync.aligned.b32",
       "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned");
TEST_F(TensorMemory, ColumnsAreAllocatedSideBySideAndWaitedFor) {
  const auto alloc = [](int at, int columns) {
    return "add.u32 x2, smem, " + std::to_string(at) +
           ";\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [x2], " +
           std::to_string(columns) + ";\n";
  };
  const auto dealloc = [](int first, int columns) {
    return "mov.b32 x3, " + std::to_string(first) +
           ";\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 x3, " + std::to_string(columns) +
           ";\n";
  };
  // Warp 0 frees the kernel's columns; warp 1 waits for that.
  std::string body = "setp.ge.u32 p4, tid, 64;\n@p4 bra $end;\n@p1 bra $free;\n" + alloc(0, 32) +
                     alloc(4, 128) + alloc(8, 64) + alloc(12, 256) + dealloc(128, 128) +
                     alloc(16, 32) + dealloc(0, 32) + dealloc(64, 64) + dealloc(256, 256) +
                     dealloc(32, 32) +
                     "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nbra $end;\n"
                     "$free:\n" +
                     dealloc(0, 512) + "$end:\nbar.sync 0;\n";
  for (int i = 0; i < 5; ++i)
    body += "ld.shared.b32 r0, [smem+" + std::to_string(4 * i) + "];\nst.global.b32 [mine+" +
            std::to_string(4 * i) + "], r0;\n";
  std::string kernel = tensor_kernel(body + "ret;\n");
  for (const std::uint64_t seed : {0, 1, 2}) {
    gpu.config.schedule_seed = seed;
    gpu.load_text(kernel);
    out = gpu.buffer(std::vector<std::uint32_t>(kLanes * kColumns), "out");
    gpu.config.compute_capability = 100;
    const Outcome o = gpu.launch("k", 1, kLanes, out, out);
    EXPECT_TRUE(o.findings.empty()) << text(o);
    const auto got = result();
    EXPECT_EQ((std::vector<std::uint32_t>(got.begin(), got.begin() + 5)),
              (std::vector<std::uint32_t>{0, 128, 64, 256, 32}));
  }
}

// A commit by any block of a cluster arrives at the mbarrier of every block of its mask.
JUDGES(TensorMemory, ACommitArrivesAtTheBlocksOfItsMask,
       "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64");
TEST_F(TensorMemory, ACommitArrivesAtTheBlocksOfItsMask) {
  // Only block 0 waits, for the commits of blocks 1 and 2.
  const std::string body = R"(
mov.u32 x1, %cluster_ctarank;
setp.eq.u32 p4, x1, 0;
and.pred p5, p4, p0;
@p5 mbarrier.inval.shared.b64 [s1];
@p5 mbarrier.init.shared.b64 [s1], 2;
barrier.cluster.arrive;
barrier.cluster.wait;
mov.b16 h0, 1;
setp.eq.u32 p6, x1, 1;
setp.eq.u32 p7, x1, 2;
or.pred p6, p6, p7;
and.pred p6, p6, p0;
@!p6 bra $others;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [s1], h0;
$others:
@!p4 bra $end;
$wait:
mbarrier.try_wait.parity.shared.b64 p9, [s1], 0;
@!p9 bra $wait;
st.global.b32 [mine], 7;
$end:
barrier.cluster.arrive;
barrier.cluster.wait;
)";
  std::string kernel = tensor_kernel(body);
  kernel.insert(kernel.find(".shared"), ".reg .b16 h<2>;\n");
  gpu.load_text(kernel);
  out = gpu.buffer(std::vector<std::uint32_t>(kLanes * kColumns), "out");
  gpu.config.compute_capability = 100;
  gpu.config.cluster = {4, 1, 1};
  for (const std::uint64_t seed : {0, 1}) {
    gpu.config.schedule_seed = seed;
    const Outcome o = gpu.launch("k", 4, kLanes, out, out);
    EXPECT_TRUE(o.findings.empty()) << text(o);
    EXPECT_EQ(result()[0], 7u);
  }
}

}  // namespace tensor_memory_test
}  // namespace lockstep::engine
