// Mutants against their texts: a changed program does what the same change does that somebody writes into the PTX and loads.
//
// For each edit of each instruction of these kernels the line is written anew, with the edit's instructions in its place, and both run with the same input.
// Every edit has a spelling; a text that is no PTX would fail.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "simulator/engine/launch/mutable_code.h"
#include "simulator/engine/testing/testing.h"
#include "simulator/isa/names.h"
#include "simulator/mutation/edit.h"
#include "simulator/ptx/parser.h"
#include "simulator/ptx/spelling.h"

namespace lockstep::engine {
namespace {

using testing::Machine;
using Words = std::vector<std::uint32_t>;

constexpr int kThreads = 64, kBlocks = 2;

// y[i] of each thread i of the grid comes from x[i] in %r1; the body leaves a word in %r2. 64 words of each array belong to nobody else, behind those of the
// threads. One instruction a line.
std::string kernel(const std::string& body) {
  return testing::module_text(R"(
.global .align 8 .b8 counters[64];
.const .align 4 .b8 table[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .shared .align 16 .b8 tile[512];
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
)" + body + R"(
  st.global.u32 [%rd2+64], %r2;
DONE:
  ret;
}
)");
}

const std::map<std::string, std::string> kBodies = {
    {"integers", R"(
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
  mad.lo.s32 %r2, %r23, 5, %r20;)"},
    {"floats", R"(
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
  xor.b32 %r2, %r10, %r11;)"},
    {"threads", R"(
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
  add.s32 %r2, %r24, %r16;)"},
    {"atomics", R"(
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
  xor.b32 %r2, %r20, %r21;)"},
    {"copies", R"(
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
  add.s32 %r2, %r13, %r16;)"},
    {"loops", R"(
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
  mad.lo.s32 %r2, %r2, 3, %r10;)"},
    {"mbarriers", R"(
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
  add.s32 %r2, %r1, %r11;)"},
};

// What a run leaves: memory, and what stopped it.
struct Left {
  Words y, counters;
  std::vector<check::Kind> findings;
  bool operator==(const Left&) const = default;
};

class Loaded {
 public:
  explicit Loaded(const std::string& text) {
    gpu.config.instruction_limit = 20'000;
    gpu.config.checks = 0;
    gpu.load_text(text);
    Words in(kThreads * kBlocks + 64);
    for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = (i * 2654435761u >> 7) % 2000;
    x = gpu.buffer(in);
    y = gpu.buffer(Words(in.size() + 128, 0xabcdef01));
  }
  Left left() {
    const Outcome o = gpu.launch("k", kBlocks, kThreads, x, y, std::uint32_t{kThreads * kBlocks - 5});
    Left left = {gpu.fetch<std::uint32_t>(y, kThreads * kBlocks + 192), gpu.fetch<std::uint32_t>(gpu.module->find_variable("counters")->base, 16), {}};
    for (const check::Finding& f : o.findings) left.findings.push_back(f.kind);
    return left;
  }
  Machine gpu;

 private:
  memory::Address x = 0, y = 0;
};

// The instruction as a line of PTX. `line`: what stood there, of which a branch keeps the label.
std::string line_of(const ptx::Instruction& i, const ptx::Function& f, const std::string& line) {
  std::string text = ptx::spell(i, f);
  for (const ptx::Operand& o : i.operands) {
    if (o.kind != ptx::Operand::Kind::kImmediate || !o.is_float) continue;
    const bool wide = i.modifiers.type == isa::Type::kF64;
    char is[32], becomes[32];
    std::snprintf(is, sizeof is, "0x%llx", static_cast<unsigned long long>(o.bits));
    std::snprintf(becomes, sizeof becomes, wide ? "0d%016llX" : "0f%08llX", static_cast<unsigned long long>(o.bits));
    text = std::regex_replace(text, std::regex(std::string(is) + "$|" + is + "(?=,)"), becomes);
  }
  std::smatch label;
  if (std::regex_search(line, label, std::regex("bra ([A-Z]+);"))) text = std::regex_replace(text, std::regex("->[0-9]+"), label[1].str());
  return text + ";";
}

// The module's text with the edit written into it.
std::string with_edit(const std::string& text, const ptx::Function& f, std::uint32_t index, const mutation::Edit& edit) {
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
  for (const ptx::Register& r : edit.registers) declared += ".reg ." + std::string(isa::type_name(r.type)) + " " + r.name + ";\n";
  for (const std::string& line : lines) all += line + "\n" + (line == "{" ? declared : "");
  return all;
}

TEST(MutantsAndTexts, DoTheSame) {
  std::size_t compared = 0, told = 0;
  std::map<mutation::Operator, int> operators;
  for (const auto& [name, body] : kBodies) {
    const std::string text = kernel(body);
    auto parsed = ptx::parse(text);
    ASSERT_TRUE(std::holds_alternative<ptx::Module>(parsed)) << name;
    const ptx::Module& module = std::get<ptx::Module>(parsed);
    const ptx::Function& f = module.functions.at(0);
    const std::string_view texts[] = {text};
    const auto code = parse_again(texts);
    const Left original = Loaded(text).left();
    for (std::uint32_t n = 0; n < f.body.size(); ++n) {
      const std::vector<mutation::Edit> edits = mutation::edits_of({module, f, n});
      for (std::uint32_t e = 0; e < edits.size(); ++e) {
        const std::string what = name + ": " + ptx::spell(f.body[n], f) + ": " + edits[e].change;
        const std::string written = with_edit(text, f, n, edits[e]);
        Loaded mutant(text);
        ASSERT_EQ(code->mutate({0, 0, n, e}, *mutant.gpu.module, mutant.gpu.memory, 0, RegisterPlaces::kShared), "") << what;
        const Left left = mutant.left();
        const Left by_text = Loaded(written).left();
        EXPECT_TRUE(left == by_text) << what << "\n" << written;
        ++compared;
        ++operators[edits[e].op];
        told += left != original;
      }
    }
  }
  EXPECT_GT(compared, 400u);
  EXPECT_GT(told, compared * 3 / 5);  // a comparison of what is unchanged on both sides would say little
  for (std::size_t op = 0; op < mutation::kOperators; ++op)
    EXPECT_GT(operators[static_cast<mutation::Operator>(op)], 0) << mutation::name_of(static_cast<mutation::Operator>(op));
}

}  // namespace
}  // namespace lockstep::engine
