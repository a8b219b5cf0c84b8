// Nanoseconds a warp instruction of the commonest computing handlers, on every instruction set of this processor.
//
// One thread, registers in the first-level cache, operands of ordinary size, the best of nine runs. The engine's own cost
// (fetching the operation, the guard, the scheduler) is not in it.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "simulator/engine/isa.h"
#include "simulator/engine/warp.h"
#include "simulator/ptx/forms.h"

using namespace lockstep;
using namespace lockstep::engine;

namespace {

struct Row {
  const char* text;
  std::vector<int> bytes;  // destination first; 0: predicate
};
const std::vector<Row> kRows = {
    {"mov.u32", {4, 4}}, {"add.s32", {4, 4, 4}}, {"add.s64", {8, 8, 8}}, {"and.b32", {4, 4, 4}}, {"shl.b32", {4, 4, 4}}, {"shl.b64", {8, 8, 4}},
    {"mul.lo.s32", {4, 4, 4}}, {"mad.lo.s32", {4, 4, 4, 4}}, {"mul.wide.s32", {8, 4, 4}}, {"mul.lo.s64", {8, 8, 8}}, {"div.u32", {4, 4, 4}},
    {"div.u64", {8, 8, 8}}, {"add.rn.f32", {4, 4, 4}}, {"mul.rn.ftz.f32", {4, 4, 4}}, {"fma.rn.f32", {4, 4, 4, 4}}, {"fma.rn.ftz.f32", {4, 4, 4, 4}},
    {"fma.rz.f32", {4, 4, 4, 4}}, {"max.f32", {4, 4, 4}}, {"div.rn.f32", {4, 4, 4}}, {"sqrt.rn.f32", {4, 4}}, {"fma.rn.f64", {8, 8, 8, 8}},
    {"setp.lt.s32", {0, 4, 4}}, {"setp.lt.f32", {0, 4, 4}}, {"setp.eq.s64", {0, 8, 8}}, {"selp.b32", {4, 4, 4, 0}}, {"cvt.rn.f32.s32", {4, 4}},
    {"cvt.rzi.s32.f32", {4, 4}}, {"cvt.u64.u32", {8, 4}}, {"cvt.s64.s32", {8, 4}}, {"cvt.f64.f32", {8, 4}}, {"cvt.rn.f16.f32", {2, 4}}, {"lop3.b32", {4, 4, 4, 4, 4}},
    {"prmt.b32", {4, 4, 4, 4}}, {"shf.l.wrap.b32", {4, 4, 4, 4}}, {"popc.b32", {4, 4}}, {"ex2.approx.f32", {4, 4}}, {"lg2.approx.f32", {4, 4}},
    {"sin.approx.f32", {4, 4}}, {"rcp.approx.f32", {4, 4}}, {"tanh.approx.f32", {4, 4}}, {"fma.rn.f16x2", {4, 4, 4, 4}}, {"fma.rn.bf16x2", {4, 4, 4, 4}}};

double nanoseconds(Handler handler, const Row& row, LaneMask mask) {
  alignas(64) static std::byte bank[6 * 512];
  for (std::size_t i = 0; i < sizeof bank / 4; ++i) {
    const float f = 1.0f + static_cast<float>(i % 64) / 64;
    std::memcpy(bank + 4 * i, &f, 4);
  }
  Warp warp{};
  warp.bank[0] = warp.bank[1] = bank;
  Op op;
  op.dst = 0;
  for (std::size_t s = 1; s < row.bytes.size() && s <= 4; ++s) op.src[s - 1] = static_cast<Slot>(512 * s);
  constexpr int kCalls = 20000;
  double best = 1e9;
  for (int run = 0; run < 9; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) handler(warp, op, mask);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    if (spent.count() / kCalls < best) best = spent.count() / kCalls;
  }
  return best;
}

}  // namespace

int main() {
  std::vector<std::pair<std::string, AluResolver>> isas = {{"avx2", avx2::resolve_alu}};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    isas.push_back({"avx512", avx512::resolve_alu});
  std::printf("%-20s", "ns a warp");
  for (const auto& isa : isas) std::printf("%10s full %8s half", isa.first.c_str(), isa.first.c_str());
  std::printf("\n");
  for (const Row& row : kRows) {
    AluKey key;
    for (const auto& match : ptx::match_opcode(row.text)) {
      if (match.modifiers.variant != 0) continue;
      key.opcode = match.form->row->opcode;
      key.modifiers = match.modifiers;
      break;
    }
    key.operand_count = static_cast<std::uint8_t>(row.bytes.size());
    for (std::size_t i = 0; i < row.bytes.size(); ++i) key.register_bytes[i] = static_cast<std::uint8_t>(row.bytes[i]);
    std::printf("%-20s", row.text);
    for (const auto& isa : isas) {
      const Handler handler = isa.second(key);
      if (handler == nullptr) {
        std::printf("\n%s: no handler for %s\n", row.text, isa.first.c_str());
        return 1;
      }
      std::printf("%15.1f%14.1f", nanoseconds(handler, row, kAllLanes), nanoseconds(handler, row, 0x5555ffffu));
    }
    std::printf("\n");
  }
  return 0;
}
