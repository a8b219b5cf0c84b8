// Mutants compared with their PTX texts: a mutated kernel must behave as the kernel loaded from a
// text with the same change.
//
// For each edit of each instruction of these kernels, the line is replaced by the edit's
// instructions, and both kernels run with the same input. Every edit has a text; invalid PTX would
// fail the test.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "simulator/engine/run/mutable_code.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/isa/category.h"
#include "simulator/isa/names.h"
#include "simulator/memory/tensor_map.h"
#include "simulator/mutation/edit.h"
#include "simulator/ptx/parser.h"
#include "simulator/ptx/spelling.h"

namespace lockstep::engine {
namespace {

using testing::Machine;
using Words = std::vector<std::uint32_t>;

constexpr int kMost = 128;  // threads of a grid

// Thread i of the grid computes y[i] from x[i], in %r1; the body leaves a word in %r2. 64 further
// words of each array, behind those of the threads, are the body's own. One instruction per line; a
// line that begins with more than two blanks continues the previous one.
std::string kernel(const std::string& body) {
  const std::string text = R"(.version 8.4
.target sm_90a
.address_size 64
.global .align 8 .b8 counters[64];
.global .align 64 .b8 map[128];
.const .align 4 .b8 table[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
    19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .shared .align 1024 .b8 tile[4096];
  .reg .pred %p<9>;
  .reg .b16 %h<9>;
  .reg .b32 %r<40>;
  .reg .f32 %f<20>;
  .reg .b64 %rd<20>;
  .reg .f64 %d<9>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r4, [n];
  mov.u32 %r5, %tid.x;
  mov.u32 %r6, %ctaid.x;
  mov.u32 %r7, %ntid.x;
  mad.lo.s32 %r3, %r6, %r7, %r5;
  setp.ge.s32 %p1, %r3, %r4;
  @%p1 bra DONE;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r1, [%rd1+64];
)" + body +
                           R"(
  st.global.u32 [%rd2+64], %r2;
DONE:
  ret;
}
)";
  return std::regex_replace(text, std::regex("\n {3,}"), " ");
}

struct Body {
  std::string text;
  std::uint32_t blocks = 2, threads = 64;  // of a block
  std::uint32_t idle = 5;                  // idle threads of the last block
  // Matrices and copies: a mutant that reads unwritten shared memory is stopped there, because its
  // value would be arbitrary.
  bool of_matrices = false;
};

const std::map<std::string, Body> kBodies = {
    {"integers", {R"(
  sub.s32 %r10, %r1, %r3;
  shl.b32 %r11, %r10, 3;
  shr.s32 %r12, %r1, 2;
  and.b32 %r13, %r11, 255;
  or.b32 %r14, %r12, 1;
  xor.b32 %r15, %r13, %r14;
  min.s32 %r16, %r15, %r1;
  max.u32 %r17, %r16, 100;
  mul.hi.u32 %r18, %r17, %r1;
  div.s32 %r19, %r18, 7;
  rem.u32 %r20, %r1, 13;
  cvt.u64.u32 %rd5, %r1;
  cvt.s64.s32 %rd6, %r19;
  add.s64 %rd7, %rd5, %rd6;
  cvt.sat.u8.s64 %h1, %rd7;
  cvt.u32.u16 %r21, %h1;
  prmt.b32 %r22, %r21, %r1, 12816;
  setp.lt.s32 %p2, %r22, %r20;
  selp.b32 %r23, %r22, %r20, %p2;
  @%p2 add.s32 %r23, %r23, 3;
  mad.lo.s32 %r2, %r23, 5, %r20;)"}},
    {"floats", {R"(
  cvt.rn.f32.s32 %f1, %r1;
  cvt.rn.f32.u32 %f2, %r3;
  add.f32 %f3, %f1, 0f3F000000;
  mul.f32 %f4, %f3, %f2;
  add.f32 %f5, %f4, %f1;
  fma.rn.f32 %f6, %f5, %f3, %f2;
  sub.f32 %f7, %f6, %f2;
  div.rn.f32 %f8, %f7, 0f40400000;
  abs.f32 %f9, %f8;
  sqrt.rn.f32 %f10, %f9;
  setp.lt.f32 %p2, %f10, 0f42C80000;
  selp.f32 %f11, %f10, %f8, %p2;
  min.f32 %f12, %f11, %f5;
  cvt.f64.f32 %d1, %f12;
  fma.rn.f64 %d2, %d1, 0d3FF8000000000000, %d1;
  add.rz.f64 %d3, %d2, %d1;
  cvt.rzi.s32.f64 %r10, %d3;
  cvt.rni.s32.f32 %r11, %f7;
  xor.b32 %r2, %r10, %r11;)"}},
    {"threads", {R"(
  mov.u32 %r10, tile;
  shl.b32 %r11, %r5, 2;
  add.s32 %r12, %r10, %r11;
  st.shared.u32 [%r12], %r1;
  bar.sync 0;
  xor.b32 %r13, %r11, 4;
  add.s32 %r14, %r10, %r13;
  ld.shared.u32 %r15, [%r14];
  bar.sync 1, 64;
  mov.u32 %r16, %laneid;
  shfl.sync.down.b32 %r17|%p2, %r15, 2, 31, -1;
  shfl.sync.bfly.b32 %r18, %r17, 1, 31, -1;
  setp.gt.u32 %p3, %r18, 500;
  vote.sync.ballot.b32 %r19, %p3, -1;
  vote.sync.all.pred %p4, !%p3, -1;
  selp.b32 %r20, 1, 2, %p4;
  activemask.b32 %r21;
  and.b32 %r22, %r19, %r21;
  popc.b32 %r23, %r22;
  mad.lo.s32 %r24, %r23, %r20, %r17;
  add.s32 %r2, %r24, %r16;)"}},
    {"atomics", {R"(
  mov.u64 %rd5, counters;
  atom.global.add.u32 %r10, [%rd5], 2;
  atom.acq_rel.gpu.global.max.u32 %r11, [%rd5+8], %r1;
  atom.global.exch.b32 %r12, [%rd5+16], %r3;
  atom.global.cas.b32 %r13, [%rd5+24], 0, %r1;
  red.relaxed.gpu.global.or.b32 [%rd5+32], %r1;
  fence.acq_rel.gpu;
  ld.acquire.gpu.global.u32 %r14, [%rd5+8];
  ld.volatile.global.u32 %r15, [%rd5+32];
  atom.global.inc.u32 %r16, [%rd5+40], 5;
  add.s32 %r17, %r10, %r11;
  add.s32 %r18, %r12, %r13;
  add.s32 %r19, %r14, %r15;
  xor.b32 %r20, %r17, %r18;
  xor.b32 %r21, %r19, %r16;
  xor.b32 %r2, %r20, %r21;)"}},
    {"copies", {R"(
  mov.u32 %r10, tile;
  shl.b32 %r11, %r5, 2;
  add.s32 %r12, %r10, %r11;
  cp.async.ca.shared.global [%r12], [%rd1+64], 4;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r12+256], [%rd1+128], 4;
  cp.async.commit_group;
  cp.async.wait_group 1;
  ld.shared.u32 %r13, [%r12];
  cp.async.wait_group 0;
  ld.shared.u32 %r14, [%r12+256];
  and.b32 %r15, %r5, 7;
  mov.u64 %rd5, table;
  mul.wide.u32 %rd6, %r15, 4;
  add.s64 %rd7, %rd5, %rd6;
  ld.const.u32 %r16, [%rd7];
  st.global.v2.u32 [%rd2+512], {%r13, %r14};
  add.s32 %r2, %r13, %r16;)"}},
    {"loops", {R"(
  mov.u32 %r10, 0;
  mov.u32 %r2, 1;
LOOP:
  add.s32 %r2, %r2, %r1;
  setp.gt.s32 %p2, %r2, 1500;
  @%p2 bra OUT;
  add.s32 %r10, %r10, 1;
  setp.lt.u32 %p3, %r10, 9;
  @%p3 bra LOOP;
OUT:
  mad.lo.s32 %r2, %r2, 3, %r10;)"}},
    {"mbarriers", {R"(
  mov.u32 %r10, tile;
  setp.ne.s32 %p2, %r5, 0;
  @%p2 bra MADE;
  mbarrier.init.shared.b64 [%r10], 64;
MADE:
  bar.sync 0;
  mbarrier.arrive.shared.b64 %rd5, [%r10];
  mov.u32 %r11, 0;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r10], %r11;
  @!%p3 bra WAIT;
  add.s32 %r2, %r1, %r11;)"}},
    {"matrices",
     {R"(
  mul.lo.s32 %r10, %r1, 40503;
  and.b32 %r11, %r10, 1006582783;
  xor.b32 %r12, %r11, 65537;
  xor.b32 %r13, %r11, 16777472;
  xor.b32 %r14, %r11, 131074;
  mov.u32 %r15, tile;
  shl.b32 %r16, %r5, 4;
  add.s32 %r17, %r15, %r16;
  st.shared.v4.u32 [%r17], {%r11, %r12, %r13, %r14};
  bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r18, %r19, %r20, %r21}, [%r17];
  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r22, %r23}, [%r17];
  cvt.rn.f32.u32 %f1, %r3;
  cvt.rn.f32.u32 %f2, %r5;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6}, {%r18, %r19, %r20,
      %r21}, {%r22, %r23}, {%f1, %f2, %f2, %f1};
  mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10},
      {%r11, %r12}, {%r13, %r14}, {%f3, %f4, %f5, %f6, %f1, %f2, %f1, %f2};
  mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r24, %r25, %r26, %r27}, {%r18, %r19, %r20,
      %r21}, {%r22, %r23}, {%r11, %r12, %r13, %r14};
  movmatrix.sync.aligned.m8n8.trans.b16 %r28, %r24;
  bar.sync 0;
  stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r17], {%r28, %r25};
  bar.sync 0;
  mov.u32 %r39, 32;
  wmma.load.a.sync.aligned.row.m8n32k16.shared.s8 {%r29}, [%r15+32], 16;
  wmma.load.b.sync.aligned.col.m8n32k16.shared.s8 {%r30, %r31, %r32, %r33}, [%r15], %r39;
  wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32 {%r18, %r19, %r20, %r21, %r22, %r23, %r24,
      %r25}, {%r29}, {%r30, %r31, %r32, %r33}, {%r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25};
  wmma.store.d.sync.aligned.row.m8n32k16.shared.s32 [%r15+2048], {%r18, %r19, %r20, %r21, %r22,
      %r23, %r24, %r25}, 32;
  bar.sync 0;
  ld.shared.u32 %r34, [%r17];
  ld.shared.v4.u32 {%r35, %r36, %r37, %r38}, [%r17+2048];
  add.f32 %f11, %f3, %f4;
  add.f32 %f12, %f5, %f9;
  add.f32 %f13, %f11, %f12;
  mov.b32 %r39, %f13;
  xor.b32 %r10, %r34, %r35;
  xor.b32 %r10, %r10, %r38;
  xor.b32 %r10, %r10, %r27;
  xor.b32 %r2, %r10, %r39;)",
      1, 64, 0, true}},
    {"products",
     {R"(
  mul.lo.s32 %r10, %r1, 40503;
  and.b32 %r11, %r10, 1006582783;
  xor.b32 %r12, %r11, 65537;
  xor.b32 %r13, %r11, 16777472;
  xor.b32 %r14, %r11, 131074;
  mov.u32 %r15, tile;
  shl.b32 %r16, %r5, 4;
  add.s32 %r17, %r15, %r16;
  st.shared.v4.u32 [%r17], {%r11, %r12, %r13, %r14};
  st.shared.v4.u32 [%r17+2048], {%r14, %r11, %r13, %r12};
  fence.proxy.async;
  bar.sync 0;
  shr.u32 %r18, %r15, 4;
  cvt.u64.u32 %rd5, %r18;
  or.b64 %rd6, %rd5, 34363932672;
  add.s64 %rd7, %rd5, 128;
  or.b64 %rd7, %rd7, 34360262656;
  cvt.rn.f32.u32 %f1, %r3;
  cvt.rn.f32.u32 %f2, %r5;
  mov.f32 %f3, %f1;
  mov.f32 %f4, %f2;
  mov.u32 %r20, 2147483000;
  mov.u32 %r21, %r1;
  mov.u32 %r22, %r1;
  mov.u32 %r23, %r3;
  setp.ne.s32 %p2, %r4, 0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd6, %rd7, %p2, 1, 1,
      0, 0;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r11, %r12, %r13,
      %r14}, %rd7, 1, -1, 1, 0;
  wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r20, %r21, %r22, %r23}, %rd6, %rd7, 1;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  add.f32 %f5, %f1, %f2;
  add.f32 %f6, %f3, %f4;
  add.f32 %f7, %f5, %f6;
  mov.b32 %r24, %f7;
  xor.b32 %r25, %r20, %r21;
  xor.b32 %r26, %r25, %r23;
  xor.b32 %r2, %r24, %r26;)",
      1, 128, 0, true}},
    // The mbarrier is behind the copied bytes; the map is of 8 rows of 8 words at x, its box is 4 x
    // 4.
    {"bulk copies",
     {R"(
  mov.u32 %r10, tile;
  add.s32 %r11, %r10, 2048;
  setp.ne.s32 %p2, %r5, 0;
  @%p2 bra MADE;
  mbarrier.init.shared.b64 [%r11], 1;
MADE:
  bar.sync 0;
  mov.u64 %rd5, map;
  mov.u32 %r12, 1;
  mov.u32 %r13, 128;
  mov.u32 %r14, 4;
  cvt.u16.u32 %h1, %r12;
  @%p2 bra WAIT;
  mbarrier.expect_tx.relaxed.cta.shared.b64 [%r11], %r13;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r10], [%rd5,
      {%r14, %r12}], [%r11];
 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
      [%r10+128], [%rd5, {0, 2}], [%r11], %h1;
  mbarrier.arrive.expect_tx.shared.b64 %rd7, [%r11], 64;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10+256], [%rd1+16], 64,
      [%r11];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r11], 0;
  @!%p3 bra WAIT;
  and.b32 %r15, %r5, 15;
  shl.b32 %r15, %r15, 2;
  add.s32 %r16, %r10, %r15;
  ld.shared.u32 %r17, [%r16];
  ld.shared.u32 %r18, [%r16+128];
  ld.shared.u32 %r19, [%r16+256];
  add.s32 %r20, %r17, %r18;
  add.s32 %r2, %r20, %r19;
  @%p2 bra OVER;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2+512], [%r10], 64;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
OVER:)",
      1, 64, 0, true}},
};

// The result of a run: memory, and the finding that stopped it.
struct Left {
  Words y, counters;
  std::vector<check::Kind> findings;
  bool operator==(const Left&) const = default;
};

class Loaded {
 public:
  Loaded(const std::string& text, const Body& body) : body_(body) {
    gpu.config.instruction_limit = 20'000;
    gpu.config.checks = body.of_matrices ? check::kInitialisation : check::kNoChecks;
    gpu.load_text(text);
    Words in(kMost + 64);
    for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = (i * 2654435761u >> 7) % 2000;
    x = gpu.buffer(in);
    y = gpu.buffer(Words(in.size() + 128, 0xabcdef01));
    constexpr int kWords = 2;  // of 32 bits
    const memory::TensorMap map = {.type = kWords,
                                   .rank = 2,
                                   .address = x,
                                   .sizes = {8, 8},
                                   .strides = {32},
                                   .steps = {1, 1},
                                   .box = {4, 4}};
    const memory::Address at = gpu.module->find_variable("map")->base;
    memory::encode(map, reinterpret_cast<std::byte*>(gpu.memory.host(*gpu.memory.find(at), at)));
  }
  Left left() {
    const Outcome o = gpu.launch("k", body_.blocks, body_.threads, x, y,
                                 body_.blocks * body_.threads - body_.idle);
    Left left = {gpu.fetch<std::uint32_t>(y, kMost + 192),
                 gpu.fetch<std::uint32_t>(gpu.module->find_variable("counters")->base, 16),
                 {}};
    for (const check::Finding& f : o.findings) left.findings.push_back(f.kind);
    return left;
  }
  Machine gpu;

 private:
  const Body& body_;
  memory::Address x = 0, y = 0;
};

// The instruction as a line of PTX. `line` is the original line; a branch keeps its label.
std::string line_of(const ptx::Instruction& i, const ptx::Function& f, const std::string& line) {
  std::string text = ptx::spell(i, f);
  for (const ptx::Operand& o : i.operands) {
    if (o.kind != ptx::Operand::Kind::kImmediate || !o.is_float) continue;
    const bool wide = i.modifiers.type == isa::Type::kF64;
    char is[32], becomes[32];
    std::snprintf(is, sizeof is, "0x%llx", static_cast<unsigned long long>(o.bits));
    std::snprintf(becomes, sizeof becomes, wide ? "0d%016llX" : "0f%08llX",
                  static_cast<unsigned long long>(o.bits));
    text = std::regex_replace(text, std::regex(std::string(is) + "$|" + is + "(?=,)"), becomes);
  }
  std::smatch label;
  if (std::regex_search(line, label, std::regex("bra ([A-Z]+);")))
    text = std::regex_replace(text, std::regex("->[0-9]+"), label[1].str());
  return text + ";";
}

// The module's text with the edit.
std::string with_edit(const std::string& text, const ptx::Function& f, std::uint32_t index,
                      const mutation::Edit& edit) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  if (edit.removes_sharing) {
    std::string all;
    for (std::string& line : lines) {
      line = std::regex_replace(line, std::regex("\\.shared (?=\\.align)"), ".local ");
      all += std::regex_replace(line, std::regex("\\b(ld|st)\\.shared"), "$1.local") + "\n";
    }
    return all;
  }
  ptx::Function wider = f;
  wider.registers.insert(wider.registers.end(), edit.registers.begin(), edit.registers.end());
  std::string& at = lines.at(static_cast<std::size_t>(f.body[index].ptx_line) - 1);
  std::string instead;
  for (const ptx::Instruction& i : edit.instead) instead += line_of(i, wider, at) + "\n";
  at = instead;
  std::string all, declared;
  for (const ptx::Register& r : edit.registers)
    declared += ".reg ." + std::string(isa::type_name(r.type)) + " " + r.name + ";\n";
  for (const std::string& line : lines) all += line + "\n" + (line == "{" ? declared : "");
  return all;
}

TEST(MutantsAndTexts, DoTheSame) {
  std::size_t compared = 0, differ = 0;
  std::map<mutation::Operator, int> operators;
  for (const auto& [name, body] : kBodies) {
    const std::string text = kernel(body.text);
    auto parsed = ptx::parse(text);
    ASSERT_TRUE(std::holds_alternative<ptx::Module>(parsed)) << name;
    const ptx::Module& module = std::get<ptx::Module>(parsed);
    const ptx::Function& f = module.functions.at(0);
    const std::string_view texts[] = {text};
    const auto code = parse_again(texts);
    const Left original = Loaded(text, body).left();
    EXPECT_TRUE(!body.of_matrices || original.findings.empty()) << name;
    for (std::uint32_t n = 0; n < f.body.size(); ++n) {
      if (body.of_matrices && isa::computes(isa::category_of(f.body[n].opcode)))
        continue;  // as in the others
      const std::vector<mutation::Edit> edits = mutation::edits_of({module, f, n});
      for (std::uint32_t e = 0; e < edits.size(); ++e) {
        const std::string what = name + ": " + ptx::spell(f.body[n], f) + ": " + edits[e].change;
        const std::string written = with_edit(text, f, n, edits[e]);
        Loaded mutant(text, body);
        ASSERT_EQ(code->mutate({0, 0, n, e}, *mutant.gpu.module, mutant.gpu.memory, 0,
                               RegisterPlaces::kShared),
                  "")
            << what;
        const Left left = mutant.left();
        const Left by_text = Loaded(written, body).left();
        EXPECT_TRUE(left == by_text) << what << "\n" << written;
        ++compared;
        ++operators[edits[e].op];
        differ += left != original;
      }
    }
  }
  EXPECT_GT(compared, 400u);
  EXPECT_GT(differ,
            compared * 3 / 5);  // a comparison of unchanged parts would prove little
  for (std::size_t op = 0; op < mutation::kOperators; ++op)
    EXPECT_GT(operators[static_cast<mutation::Operator>(op)], 0)
        << mutation::name_of(static_cast<mutation::Operator>(op));
}

}  // namespace
}  // namespace lockstep::engine
