#include "simulator/mutation/mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "simulator/isa/category.h"
#include "simulator/isa/form_examples.h"
#include "simulator/mutation/edit.h"
#include "simulator/ptx/parser.h"
#include "simulator/ptx/spelling.h"

namespace lockstep::mutation {
namespace {

ptx::Module parsed(const std::string& text) {
  auto result = ptx::parse(text);
  if (const auto* error = std::get_if<ptx::ParseError>(&result))
    throw std::runtime_error(error->to_string());
  return std::move(std::get<ptx::Module>(result));
}

// A module with one kernel around `body`, with registers of all kinds.
ptx::Module kernel(const std::string& body) {
  return parsed(
      ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 "
      "x)\n{\n.shared .align 4 .b8 tile[64];\n"
      ".reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 "
      "%rd<9>;\n.reg .f64 %d<9>;\n" +
      body + "\nret;\n}\n");
}

// "operator: change: instruction; instruction".
std::vector<std::string> edits(const std::string& body, std::uint32_t index = 0) {
  const ptx::Module m = kernel(body);
  std::vector<std::string> texts;
  for (const Edit& e : edits_of({m, m.functions[0], index})) {
    ptx::Function f = m.functions[0];
    f.registers.insert(f.registers.end(), e.registers.begin(), e.registers.end());
    std::string text = std::string(name_of(e.op)) + ": " + e.change + ":";
    for (std::size_t i = 0; i < e.instead.size(); ++i)
      text += (i == 0 ? " " : "; ") + ptx::spell(e.instead[i], f);
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Operators, HaveNamesThatFindThem) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kOperators; ++i) {
    const auto op = static_cast<Operator>(i);
    EXPECT_TRUE(names.insert(name_of(op)).second) << name_of(op);
    EXPECT_EQ(operator_named(name_of(op)), op);
    EXPECT_FALSE(description_of(op).empty());
  }
  EXPECT_EQ(operator_named("barrier"), std::nullopt);
}

TEST(Edits, OfComparisons) {
  EXPECT_EQ(edits("setp.lt.s32 %p1, %r1, %r2;"),
            (Texts{"compare-edge: lt became le: setp.le.s32 %p1, %r1, %r2",
                   "compare-negated: lt became ge: setp.ge.s32 %p1, %r1, %r2",
                   "operands-exchanged: its operands change places: setp.lt.s32 %p1, %r2, %r1"}));
  // The negation must not change the result for NaN.
  const Texts ordered = edits("setp.gtu.f32 %p1, %f1, %f2;");
  EXPECT_EQ(ordered[0], "compare-edge: gtu became geu: setp.geu.f32 %p1, %f1, %f2");
  EXPECT_EQ(ordered[1], "compare-negated: gtu became le: setp.le.f32 %p1, %f1, %f2");
  EXPECT_EQ(edits("setp.eq.b32 %p1, %r1, %r2;"),
            (Texts{"compare-negated: eq became ne: setp.ne.b32 %p1, %r1, %r2"}));
}

TEST(Edits, OfGuards) {
  EXPECT_EQ(edits("@!%p1 bra L;\nL:"), (Texts{"guard-removed: the branch is always taken: bra ->1",
                                              "guard-removed: the branch is never taken:"}));
}

TEST(Edits, OfArithmetic) {
  EXPECT_EQ(edits("add.s32 %r1, %r2, 4;"),
            (Texts{"constant-changed: the constant is one more: add.s32 %r1, %r2, 0x5",
                   "constant-changed: the constant is one less: add.s32 %r1, %r2, 0x3",
                   "constant-changed: the constant is zero: add.s32 %r1, %r2, 0x0",
                   "operation-replaced: add became sub: sub.s32 %r1, %r2, 0x4"}));
  EXPECT_EQ(
      edits("fma.rn.f32 %f1, %f2, %f3, %f4;"),
      (Texts{"rounding-changed: rn became rz: fma.rz.f32 %f1, %f2, %f3, %f4",
             "flush-changed: flushes subnormal numbers to zero: fma.rn.ftz.f32 %f1, %f2, %f3, %f4",
             "product-split: rounds its product: mul.rn.f32 %product, %f2, %f3; add.rn.f32 %f1, "
             "%product, %f4"}));
  EXPECT_EQ(
      edits("mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f5, %f1;", 1),
      (Texts{"operation-replaced: add became sub: sub.f32 %f4, %f5, %f1",
             "rounding-changed: rounds toward zero: add.rz.f32 %f4, %f5, %f1",
             "flush-changed: flushes subnormal numbers to zero: add.ftz.f32 %f4, %f5, %f1",
             "product-fused: is fused with the multiplication: fma.rn.f32 %f4, %f2, %f3, %f5"}));
  EXPECT_EQ(edits("shl.b32 %r1, %r2, %r3;"),
            (Texts{"operation-replaced: shl became shr: shr.b32 %r1, %r2, %r3",
                   "operands-exchanged: its operands change places: shl.b32 %r1, %r3, %r2"}));
  EXPECT_EQ(edits("cvt.sat.u16.u32 %h1, %r2;"),
            (Texts{"conversion-changed: does not saturate: cvt.u16.u32 %h1, %r2"}));
  EXPECT_TRUE(edits("cvt.u32.u64 %r1, %rd2;").empty());  // the low half loses nothing
  EXPECT_EQ(edits("cvt.s64.s32 %rd1, %r2;"),
            (Texts{"conversion-changed: is from s16: cvt.s64.s16 %rd1, %r2"}));
}

TEST(Edits, OfMemory) {
  EXPECT_EQ(
      edits("st.global.v2.f32 [%rd1+8], {%f1, %f2};"),
      (Texts{
          "address-shifted: the access is one element further: st.global.v2.f32 [%rd1+16], {%f1, "
          "%f2}",
          "address-shifted: the access is one element before: st.global.v2.f32 [%rd1], {%f1, %f2}",
          "store-removed: the store is left out:"}));
  EXPECT_EQ(
      edits("mov.u32 %r1, %tid.x;"),
      (Texts{"index-exchanged: %tid.x became %ctaid.x: mov.u32 %r1, %ctaid.x",
             "index-exchanged: %tid.x became %tid.y: mov.u32 %r1, %tid.y",
             "index-shifted: %tid.x became %tid.x + 1: mov.u32 %r1, %tid.x; add.s32 %r1, %r1, 0x1",
             "index-shifted: %tid.x became %tid.x - 1: mov.u32 %r1, %tid.x; add.s32 %r1, %r1, "
             "0xffffffff"}));
  EXPECT_TRUE(edits("ld.param.u64 %rd1, [x];").empty());
  EXPECT_EQ(edits("mov.u32 %r1, tile;"),
            (Texts{"sharing-removed: the shared variable became one of each thread:"}));
}

TEST(Edits, OfThreads) {
  EXPECT_EQ(edits("bar.sync 1, 96;"),
            (Texts{"barrier-removed: the barrier is left out:",
                   "barrier-changed: barrier 1 became barrier 2: bar.sync 0x2, 0x60",
                   "barrier-changed: the barrier is for 32 threads fewer: bar.sync 0x1, 0x40"}));
  EXPECT_EQ(edits("fence.acq_rel.gpu;"),
            (Texts{"fence-removed: the fence is left out:",
                   "scope-narrowed: the scope gpu became cta: fence.acq_rel.cta"}));
  EXPECT_EQ(edits("cp.async.wait_group 1;"),
            (Texts{"wait-removed: the wait for copies is left out:",
                   "wait-removed: the wait lets one more group of copies be under way: "
                   "cp.async.wait_group 0x2"}));
  EXPECT_EQ(edits("atom.acquire.gpu.global.add.u32 %r1, [%rd1], %r2;"),
            (Texts{"scope-narrowed: the scope gpu became cta: atom.acquire.cta.global.add.u32 %r1, "
                   "[%rd1], %r2",
                   "order-weakened: acquire became relaxed: atom.relaxed.gpu.global.add.u32 %r1, "
                   "[%rd1], %r2",
                   "atomic-split: the atomic operation became a load, the operation and a store: "
                   "ld.global.b32 %split0, [%rd1]; add.u32 %split1, %split0, %r2; "
                   "st.global.b32 [%rd1], %split1; mov.b32 %r1, %split0",
                   "address-shifted: the access is one element further: "
                   "atom.acquire.gpu.global.add.u32 %r1, [%rd1+4], %r2",
                   "address-shifted: the access is one element before: "
                   "atom.acquire.gpu.global.add.u32 %r1, [%rd1+-4], %r2",
                   "operation-replaced: add became exch: atom.acquire.gpu.global.exch.b32 %r1, "
                   "[%rd1], %r2"}));
  EXPECT_EQ(
      edits("shfl.sync.down.b32 %r1|%p1, %r2, 4, 31, -1;"),
      (Texts{
          "shuffle-changed: down became up: shfl.sync.up.b32 %r1|%p1, %r2, 0x4, 0x1f, 0xffffffff",
          "shuffle-changed: the offset is one more: shfl.sync.down.b32 %r1|%p1, %r2, 0x5, 0x1f, "
          "0xffffffff",
          "shuffle-changed: the offset is one less: shfl.sync.down.b32 %r1|%p1, %r2, 0x3, 0x1f, "
          "0xffffffff",
          "shuffle-changed: the clamp is another: shfl.sync.down.b32 %r1|%p1, %r2, 0x4, 0x1e, "
          "0xffffffff",
          "shuffle-changed: the width is half: shfl.sync.down.b32 %r1|%p1, %r2, 0x4, 0x101f, "
          "0xffffffff",
          "shuffle-changed: lanes 16 to 31 are no members: shfl.sync.down.b32 %r1|%p1, %r2, 0x4, "
          "0x1f, 0xffff"}));
  EXPECT_EQ(edits("mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;")[1],
            "parity-flipped: the wait is for the other parity: xor.b32 %flipped, %r2, 0x1; "
            "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %flipped");
}

TEST(Edits, OfGroups) {
  const std::string left_out = "commit-removed: what was begun becomes no group:";
  EXPECT_EQ(edits("cp.async.commit_group;"), (Texts{left_out}));
  EXPECT_EQ(edits("cp.async.bulk.commit_group;"), (Texts{left_out}));
  EXPECT_EQ(edits("wgmma.commit_group.sync.aligned;"), (Texts{left_out}));
  EXPECT_EQ(edits("wgmma.fence.sync.aligned;"), (Texts{"fence-removed: the fence is left out:"}));
  EXPECT_EQ(edits("fence.proxy.async.shared::cta;"),
            (Texts{"fence-removed: the fence is left out:"}));
  EXPECT_EQ(edits("wgmma.wait_group.sync.aligned 0;"),
            (Texts{"wait-removed: the wait for products is left out:",
                   "wait-removed: the wait lets one more group of products be under way: "
                   "wgmma.wait_group.sync.aligned 0x1"}));
  EXPECT_EQ(edits("cp.async.bulk.wait_group 0;"),
            (Texts{"wait-removed: the wait for copies is left out:",
                   "wait-removed: the wait lets one more group of copies be under way: "
                   "cp.async.bulk.wait_group 0x1",
                   "wait-removed: the wait is over when the copies have read: "
                   "cp.async.bulk.wait_group.read 0x0"}));
  EXPECT_EQ(edits("cp.async.bulk.wait_group.read 0;").size(), 2u);
}

TEST(Edits, OfCopiesOfBytes) {
  EXPECT_EQ(edits("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
                  "[%rd1], %r2, [%r3];"),
            (Texts{"store-removed: the copy is left out:",
                   "address-shifted: the destination is 16 bytes further: "
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+16], "
                   "[%rd1], %r2, [%r3]",
                   "address-shifted: the destination is 16 bytes before: "
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+-16], "
                   "[%rd1], %r2, [%r3]",
                   "address-shifted: the source is 16 bytes further: "
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
                   "[%rd1+16], %r2, [%r3]",
                   "address-shifted: the source is 16 bytes before: "
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
                   "[%rd1+-16], %r2, [%r3]",
                   "address-shifted: the mbarrier is the next one: "
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
                   "[%rd1], %r2, [%r3+8]",
                   "bytes-changed: 16 bytes fewer are copied: add.s32 %sum, %r2, 0xfffffff0; "
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
                   "[%rd1], %sum, [%r3]"}));
  const Texts reduction =
      edits("cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%rd1], [%r1], 64;");
  EXPECT_EQ(reduction[0], "store-removed: the reduction is left out:");
  EXPECT_EQ(reduction[1],
            "operation-replaced: xor became or: "
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.or.b32 [%rd1], [%r1], 0x40");
  EXPECT_EQ(reduction.back(),
            "bytes-changed: 16 bytes fewer are copied: "
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%rd1], [%r1], 0x30");
  const Texts arrival = edits("mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], %r2;");
  EXPECT_EQ(
      arrival,
      (Texts{"bytes-changed: 16 bytes more are expected: add.s32 %sum, %r2, 0x10; "
             "mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], %sum",
             "bytes-changed: 16 bytes fewer are expected: add.s32 %sum, %r2, 0xfffffff0; "
             "mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], %sum",
             "bytes-changed: no bytes are expected: mbarrier.arrive.shared.b64 %rd1, [%r1]"}));
  EXPECT_EQ(edits("mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], %r2;").back(),
            "bytes-changed: no bytes are expected:");
  EXPECT_EQ(edits("mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 32;").back(),
            "bytes-changed: 16 bytes fewer are expected: mbarrier.expect_tx.relaxed.cta.shared.b64 "
            "[%r1], 0x10");
}

TEST(Edits, OfTensorCopies) {
  const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
  EXPECT_EQ(edits(store + " [%rd1, {%r1, 3}], [%r2];"),
            (Texts{"store-removed: the copy is left out:",
                   "address-shifted: the place in shared memory is 128 bytes further: " + store +
                       " [%rd1, {%r1, 0x3}], [%r2+128]",
                   "address-shifted: the place in shared memory is 128 bytes before: " + store +
                       " [%rd1, {%r1, 0x3}], [%r2+-128]",
                   "coordinate-changed: coordinate 0 is one more: add.s32 %sum, %r1, 0x1; " +
                       store + " [%rd1, {%sum, 0x3}], [%r2]",
                   "coordinate-changed: coordinate 1 is one more: " + store +
                       " [%rd1, {%r1, 0x4}], [%r2]",
                   "coordinate-changed: the first two coordinates change places: " + store +
                       " [%rd1, {0x3, %r1}], [%r2]"}));
  const std::string load =
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes."
      "multicast::cluster";
  const Texts of_load =
      edits(load + " [%r1], [%rd1, {%r2, %r3, %r4, %r5}], [%r6], {%h1, %h2}, %h3;");
  EXPECT_EQ(of_load[3], "address-shifted: the mbarrier is the next one: " + load +
                            " [%r1], [%rd1, {%r2, %r3, %r4, %r5}], [%r6+8], {%h1, %h2}, %h3");
  ASSERT_EQ(of_load.size(), 13u);
  EXPECT_EQ(of_load[9], "coordinate-changed: offset 0 is one more: add.s16 %sum, %h1, 0x1; " +
                            load + " [%r1], [%rd1, {%r2, %r3, %r4, %r5}], [%r6], {%sum, %h2}, %h3");
  EXPECT_EQ(of_load[11], "coordinate-changed: the first two offsets change places: " + load +
                             " [%r1], [%rd1, {%r2, %r3, %r4, %r5}], [%r6], {%h2, %h1}, %h3");
  EXPECT_EQ(of_load[12],
            "multicast-narrowed: one block fewer gets the copy: add.s16 %less, %h3, 0xffff; "
            "and.b16 %fewer, %h3, %less; " +
                load + " [%r1], [%rd1, {%r2, %r3, %r4, %r5}], [%r6], {%h1, %h2}, %fewer");
}

TEST(Edits, OfMatricesOfAWarp) {
  const std::string mma =
                        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, ",
                    a = "{%r1, %r2, %r3, %r4}, ", b = "{%r5, %r6}, ";
  EXPECT_EQ(edits(mma + a + b + "{%f5, %f6, %f7, %f8};"),
            (Texts{"accumulator-changed: the accumulator is left out: mov.b32 %zero, 0x0; " + mma +
                       a + b + "{%zero, %zero, %zero, %zero}",
                   "fragment-changed: the first register of A is the second: " + mma +
                       "{%r2, %r2, %r3, %r4}, " + b + "{%f5, %f6, %f7, %f8}",
                   "fragment-changed: the first register of B is the second: " + mma + a +
                       "{%r6, %r6}, {%f5, %f6, %f7, %f8}",
                   "fragment-changed: the first register of the accumulator is the second: " + mma +
                       a + b + "{%f6, %f6, %f7, %f8}"}));
  // A zero is no accumulator.
  const std::string product = mma + a + b + "{%f5, %f5, %f5, %f5};";
  EXPECT_EQ(edits("mov.f32 %f5, 0f00000000;\n" + product, 1).size(), 2u);
  const std::string quads =
      "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r1, %r2, %r3, %r4}, ";
  const Texts of_quads = edits(quads + "{%r5, %r6}, {%r7, %r8}, {%r1, %r2, %r3, %r4};");
  ASSERT_EQ(of_quads.size(), 7u);
  EXPECT_EQ(of_quads[4], "operands-exchanged: A and B change places: " + quads +
                             "{%r7, %r8}, {%r5, %r6}, {%r1, %r2, %r3, %r4}");
  EXPECT_EQ(of_quads[5],
            "layout-changed: A lies the other way: mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16 "
            "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r7, %r8}, {%r1, %r2, %r3, %r4}");
  EXPECT_EQ(of_quads[6].substr(0, 76),
            "layout-changed: B lies the other way: mma.sync.aligned.m8n8k4.row.row.f16.f1");
  const std::string integers = " {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6}";
  EXPECT_EQ(edits("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32" + integers + ";").back(),
            "saturation-changed: the sum saturates: "
            "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32" +
                integers);
  EXPECT_EQ(
      edits("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32" + integers + ";").back(),
      "saturation-changed: the sum does not saturate: "
      "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32" +
          integers);
  EXPECT_EQ(edits("wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32" + integers + ";").back(),
            "saturation-changed: the sum saturates: "
            "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32.satfinite" +
                integers);
}

TEST(Edits, OfMatricesInMemory) {
  EXPECT_EQ(edits("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3];"),
            (Texts{"fragment-changed: the first two registers change places: "
                   "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r2, %r1}, [%r3]",
                   "layout-changed: the matrices are transposed: "
                   "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [%r3]",
                   "address-shifted: the access is 16 bytes further: "
                   "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3+16]",
                   "address-shifted: the access is 16 bytes before: "
                   "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3+-16]"}));
  EXPECT_EQ(edits("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r3], {%r1};"),
            (Texts{"layout-changed: the matrices are not transposed: "
                   "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r1}",
                   "address-shifted: the access is 16 bytes further: "
                   "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r3+16], {%r1}",
                   "address-shifted: the access is 16 bytes before: "
                   "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r3+-16], {%r1}"}));
  EXPECT_EQ(edits("movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;"),
            (Texts{"layout-changed: the matrix is not transposed: mov.b32 %r1, %r2"}));
  const std::string store = "wmma.store.d.sync.aligned.row.m8n8k4.shared.f64";
  EXPECT_EQ(
      edits(store + " [%r1], {%d1, %d2}, %r2;"),
      (Texts{"fragment-changed: the first two registers change places: " + store +
                 " [%r1], {%d2, %d1}, %r2",
             "layout-changed: the matrix lies the other way: "
             "wmma.store.d.sync.aligned.col.m8n8k4.shared.f64 [%r1], {%d1, %d2}, %r2",
             "address-shifted: the access is 32 bytes further: " + store +
                 " [%r1+32], {%d1, %d2}, %r2",
             "address-shifted: the access is 32 bytes before: " + store +
                 " [%r1+-32], {%d1, %d2}, %r2",
             "address-shifted: the rows are 16 bytes further apart: add.s32 %stride, %r2, 0x2; " +
                 store + " [%r1], {%d1, %d2}, %stride"}));
  EXPECT_EQ(edits("wmma.load.a.sync.aligned.col.m8n8k4.global.f64 {%d1}, [%rd1], 8;").back(),
            "address-shifted: the rows are 16 bytes further apart: "
            "wmma.load.a.sync.aligned.col.m8n8k4.global.f64 {%d1}, [%rd1], 0xa");
}

TEST(Edits, OfMatricesOfAWarpgroup) {
  const std::string wgmma =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, ";
  EXPECT_EQ(edits(wgmma + "%rd1, %rd2, 1, 1, -1, 0, 1;"),
            (Texts{"accumulator-changed: the accumulator is left out: " + wgmma +
                       "%rd1, %rd2, 0x0, 0x1, 0xffffffffffffffff, 0x0, 0x1",
                   "operands-exchanged: A and B change places: " + wgmma +
                       "%rd2, %rd1, 0x1, 0x1, 0xffffffffffffffff, 0x0, 0x1",
                   "sign-changed: A is negated: " + wgmma +
                       "%rd1, %rd2, 0x1, 0xffffffffffffffff, 0xffffffffffffffff, 0x0, 0x1",
                   "sign-changed: B is negated: " + wgmma + "%rd1, %rd2, 0x1, 0x1, 0x1, 0x0, 0x1",
                   "layout-changed: A lies the other way: " + wgmma +
                       "%rd1, %rd2, 0x1, 0x1, 0xffffffffffffffff, 0x1, 0x1",
                   "layout-changed: B lies the other way: " + wgmma +
                       "%rd1, %rd2, 0x1, 0x1, 0xffffffffffffffff, 0x0, 0x0",
                   "address-shifted: A begins 16 bytes further: add.s64 %described, %rd1, 0x1; " +
                       wgmma + "%described, %rd2, 0x1, 0x1, 0xffffffffffffffff, 0x0, 0x1",
                   "layout-changed: A has its parts of eight rows 16 bytes further apart: add.s64 "
                   "%described, %rd1, 0x100000000; " +
                       wgmma + "%described, %rd2, 0x1, 0x1, 0xffffffffffffffff, 0x0, 0x1",
                   "layout-changed: A is swizzled in another way: xor.b64 %described, %rd1, "
                   "0xc000000000000000; " +
                       wgmma + "%described, %rd2, 0x1, 0x1, 0xffffffffffffffff, 0x0, 0x1",
                   "address-shifted: B begins 16 bytes further: add.s64 %described, %rd2, 0x1; " +
                       wgmma + "%rd1, %described, 0x1, 0x1, 0xffffffffffffffff, 0x0, 0x1",
                   "layout-changed: B has its parts of eight rows 16 bytes further apart: add.s64 "
                   "%described, %rd2, 0x100000000; " +
                       wgmma + "%rd1, %described, 0x1, 0x1, 0xffffffffffffffff, 0x0, 0x1",
                   "layout-changed: B is swizzled in another way: xor.b64 %described, %rd2, "
                   "0xc000000000000000; " +
                       wgmma + "%rd1, %described, 0x1, 0x1, 0xffffffffffffffff, 0x0, 0x1"}));
  // A is in registers; a predicate says whether the instruction accumulates.
  const Texts registers = edits(wgmma + "{%r1, %r2, %r3, %r4}, %rd2, %p1, 1, 1, 0;");
  ASSERT_EQ(registers.size(), 9u);
  EXPECT_EQ(registers[1], "accumulator-changed: the product is added to what was there: " + wgmma +
                              "{%r1, %r2, %r3, %r4}, %rd2, 0x1, 0x1, 0x1, 0x0");
  EXPECT_EQ(registers[2], "fragment-changed: the first register of A is the second: " + wgmma +
                              "{%r2, %r2, %r3, %r4}, %rd2, %p1, 0x1, 0x1, 0x0");
  EXPECT_EQ(registers[5], "layout-changed: B lies the other way: " + wgmma +
                              "{%r1, %r2, %r3, %r4}, %rd2, %p1, 0x1, 0x1, 0x1");
  EXPECT_EQ(
      edits("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r1, %r2, %r3, %r4}, %rd1, %rd2, 0;")
          [2],
      "saturation-changed: the sum saturates: "
      "wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.s8 {%r1, %r2, %r3, %r4}, %rd1, %rd2, "
      "0x0");
}

// The operators' names and changes of an instruction's edits.
std::string changes(const std::string& body, std::uint32_t index) {
  const ptx::Module m = kernel(body);
  std::string all;
  for (const Edit& e : edits_of({m, m.functions[0], index}))
    all += std::string(name_of(e.op)) + ": " + e.change + "\n";
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(Edits, LeaveOutAConversionThatLosesNothing) {
  const auto narrowed = [](const std::string& value) {
    return has(changes(value + "\ncvt.u64.u32 %rd1, %r1;", 1), "is from u16");
  };
  EXPECT_FALSE(narrowed("mov.u32 %r1, %tid.x;"));
  EXPECT_FALSE(narrowed("mov.u32 %r1, %ctaid.y;"));
  EXPECT_TRUE(narrowed("mov.u32 %r1, %ctaid.x;"));
  EXPECT_FALSE(narrowed("and.b32 %r1, %r2, 65535;"));
  EXPECT_TRUE(narrowed("and.b32 %r1, %r2, 65536;"));
  const auto after = [](const std::string& body, const char* type) {
    const std::string all = body + "\ncvt.s64.s32 %rd1, %r1;";
    return has(changes(all, static_cast<std::uint32_t>(std::count(body.begin(), body.end(), ';'))),
               type);
  };
  // The largest block has 1024 threads. 31 * 1024 fits a signed 16-bit integer, 32 * 1024 does not.
  EXPECT_FALSE(after("mov.u32 %r2, %ntid.x;\nmul.lo.s32 %r1, %r2, 31;", "is from s16"));
  EXPECT_TRUE(after("mov.u32 %r2, %ntid.x;\nshl.b32 %r1, %r2, 5;", "is from s16"));
  EXPECT_FALSE(after("mov.u32 %r2, %tid.x;\nadd.s32 %r1, %r2, 31744;", "is from s16"));
  EXPECT_TRUE(after("mov.u32 %r2, %tid.x;\nadd.s32 %r1, %r2, 31745;", "is from s16"));
  EXPECT_TRUE(after("mov.u32 %r2, %tid.x;\nadd.s32 %r1, %r2, -1;", "is from s16"));
  EXPECT_TRUE(
      after("mov.u32 %r1, %tid.x;\nadd.s32 %r1, %r1, %r3;", "is from s16"));  // written twice
  EXPECT_TRUE(after("mov.u32 %r1, %r3;", "is from s16"));
}

TEST(Edits, LeaveOutWhichOfTwoEqualNumbersIsTheSmaller) {
  const auto edge = [](const std::string& type, const std::string& rest) {
    return has(changes("setp.lt." + type + " %p1, %r1, %r2;\n" + rest, 0), "compare-edge");
  };
  EXPECT_FALSE(edge("s32", "selp.b32 %r3, %r1, %r2, %p1;"));
  EXPECT_FALSE(edge("u32", "selp.b32 %r3, %r2, %r1, %p1;"));
  EXPECT_TRUE(edge("s32", "selp.b32 %r3, %r1, %r4, %p1;"));
  EXPECT_TRUE(edge("s32", "selp.b32 %r3, %r1, %r2, %p1;\n@%p1 bra L;\nL:"));
  EXPECT_TRUE(has(changes("setp.lt.f32 %p1, %f1, %f2;\nselp.f32 %f3, %f1, %f2, %p1;", 0),
                  "compare-edge"));  // -0 and 0 compare equal
}

TEST(Edits, LeaveOutTheRoundingOfAProductAndZero) {
  EXPECT_FALSE(
      has(changes("mov.f32 %f4, 0f80000000;\nfma.rn.f32 %f1, %f2, %f3, %f4;", 1), "product-split"));
  EXPECT_FALSE(has(changes("fma.rn.f32 %f1, %f2, %f3, 0f00000000;", 0), "product-split"));
  EXPECT_TRUE(
      has(changes("mov.f32 %f4, 0f00000001;\nfma.rn.f32 %f1, %f2, %f3, %f4;", 1), "product-split"));
  EXPECT_TRUE(has(changes("@%p1 mov.f32 %f4, 0f00000000;\nfma.rn.f32 %f1, %f2, %f3, %f4;", 1),
                  "product-split"));
}

TEST(Edits, LeaveOutWhatNvccChoosesBeforeALongDivision) {
  const auto body = [](const std::string& mask, const std::string& division) {
    return "or.b64 %rd3, %rd1, %rd2;\nand.b64 %rd4, %rd3, " + mask +
           ";\nsetp.ne.s64 %p1, %rd4, 0;\n@!%p1 bra L;\n" + division +
           "\nbra M;\nL:\ncvt.u32.u64 %r1, %rd1;\nM:\nst.global.u64 [%rd7], %rd5;";
  };
  for (std::uint32_t n = 0; n < 4; ++n) {
    EXPECT_EQ(changes(body("-4294967296", "rem.s64 %rd5, %rd1, %rd2;"), n), "");
    EXPECT_NE(changes(body("-4294967296", "mul.lo.s64 %rd5, %rd1, %rd2;"), n), "");
    EXPECT_NE(changes(body("-4294967295", "rem.s64 %rd5, %rd1, %rd2;"), n), "");
  }
  EXPECT_NE(changes(body("-4294967296", "rem.s64 %rd5, %rd1, %rd2;"), 4), "");
}

TEST(Edits, LeaveOutABarriersNumberWhereNobodyCounts) {
  EXPECT_EQ(changes("bar.sync 0;", 0), "barrier-removed: the barrier is left out\n");
  EXPECT_FALSE(has(changes("bar.red.popc.u32 %r1, 0, %p1;", 0), "barrier-changed"));
  EXPECT_TRUE(has(changes("bar.red.popc.u32 %r1, 0, 64, %p1;", 0), "barrier 0 became barrier 1"));
}

TEST(Edits, LeaveOutAShiftOfTheSignByMore) {
  EXPECT_FALSE(has(changes("shr.s64 %rd1, %rd2, 63;", 0), "one more"));
  EXPECT_TRUE(has(changes("shr.s64 %rd1, %rd2, 62;", 0), "one more"));
  EXPECT_TRUE(has(changes("shr.u64 %rd1, %rd2, 63;", 0), "one more"));
}

// Rebuilds every example instruction from its words and operands.
TEST(WithOpcode, MakesEveryExampleAgain) {
  const std::vector<isa::Example> examples = isa::pairwise_examples();
  std::size_t made = 0;
  for (const std::string target : {"sm_90a", "sm_100a", "sm_103a", "sm_120a"}) {
    std::vector<isa::Example> some;
    for (const isa::Example& e : examples) {
      const int sm = e.spelling.form->row->sm;
      if ("sm_" + std::to_string(std::max(sm, 90)) + "a" == target) some.push_back(e);
    }
    const ptx::Module m = parsed(isa::example_module(some, "9.0", target));
    for (const ptx::Function& f : m.functions) {
      for (std::uint32_t n = 0; n < f.body.size(); ++n) {
        const ptx::Instruction& i = f.body[n];
        if (i.row == nullptr || i.rules == nullptr ||
            isa::category_of(i.opcode) == isa::Category::kControl)
          continue;  // a label is an index after parsing
        const auto again = with_opcode({m, f, n}, i.text);
        ASSERT_TRUE(again.has_value()) << ptx::spell(i, f);
        EXPECT_EQ(again->row, i.row) << ptx::spell(i, f);
        ++made;
      }
    }
  }
  EXPECT_GT(made, 2000u);
}

TEST(Apply, LabelsGoOnNamingTheirInstructions) {
  const std::string body =
      "L:\nmov.u32 %r1, %tid.x;\nadd.s32 %r2, %r2, %r1;\n@%p1 bra L;\n@%p2 bra M;\nst.global.u32 "
      "[%rd1], %r2;\nM:";
  ptx::Module m = kernel(body);
  ptx::Function& f = m.functions[0];
  // One instruction becomes two: the following instructions move.
  apply(f, 0, edits_of({m, f, 0})[2]);
  ASSERT_EQ(ptx::spell(f.body[1], f), "add.s32 %r1, %r1, 0x1");
  EXPECT_EQ(ptx::spell(f.body[3], f), "@%p1 bra ->0");
  EXPECT_EQ(ptx::spell(f.body[4], f), "@%p2 bra ->6");
  EXPECT_EQ(ptx::spell(f.body[6], f), "ret");
  // One instruction is removed: its label moves to the next instruction.
  std::vector<Edit> of_store = edits_of({m, f, 5});
  apply(f, 5, of_store.back());
  EXPECT_EQ(ptx::spell(f.body[4], f), "@%p2 bra ->5");
  EXPECT_EQ(ptx::spell(f.body[5], f), "ret");
}

TEST(Mutants, SayWhereTheyAre) {
  std::vector<ptx::Module> modules;
  modules.push_back(
      parsed(".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n.file 2 "
             "\"/cuda/include/cuda_fp16.hpp\"\n"
             ".visible .entry k()\n{\n.reg .b32 %r<9>;\n.reg .pred %p<2>;\nL0:\n.loc 1 7 "
             "3\nadd.s32 %r1, %r1, %r2;\n"
             ".loc 2 99 1, function_name L0, inlined_at 1 8 5\nmin.s32 %r1, %r1, %r2;\nret;\n}\n"));
  const std::vector<Mutant> mutants = mutants_of(modules, 0, 0);
  ASSERT_EQ(mutants.size(), 2u);
  EXPECT_EQ(mutants[0].file, "a.cu");
  EXPECT_EQ(mutants[0].line, 7);
  EXPECT_EQ(mutants[0].text, "add.s32 %r1, %r1, %r2");
  EXPECT_EQ(mutants[1].file,
            "a.cu");  // the line of the call replaces a place in a toolkit header
  EXPECT_EQ(mutants[1].line, 8);
  make_mutant(modules, mutants[1].place);
  EXPECT_EQ(modules[0].functions[0].body[1].text, "max.s32");
  EXPECT_THROW(make_mutant(modules, {0, 0, 99, 0}), std::out_of_range);
  EXPECT_THROW(make_mutant(modules, {0, 0, 0, 99}), std::out_of_range);
}

}  // namespace
}  // namespace lockstep::mutation
