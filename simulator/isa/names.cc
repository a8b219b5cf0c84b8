#include "simulator/isa/names.h"

#include <array>
#include <string>
#include <unordered_map>

namespace lockstep::isa {
namespace {

constexpr std::string_view kOpcodeNames[] = {
    "invalid",
#define LOCKSTEP_OPCODE(name, category, flow) #name,
#include "simulator/isa/opcodes.inc"
#undef LOCKSTEP_OPCODE
};

struct TypeName {
  Type type;
  std::string_view name;
};
constexpr TypeName kTypeNames[] = {
    {Type::kPred, "pred"},     {Type::kB8, "b8"},           {Type::kB16, "b16"},
    {Type::kB32, "b32"},       {Type::kB64, "b64"},         {Type::kB128, "b128"},
    {Type::kU8, "u8"},         {Type::kU16, "u16"},         {Type::kU32, "u32"},
    {Type::kU64, "u64"},       {Type::kS8, "s8"},           {Type::kS16, "s16"},
    {Type::kS32, "s32"},       {Type::kS64, "s64"},         {Type::kF16, "f16"},
    {Type::kF16x2, "f16x2"},   {Type::kBF16, "bf16"},       {Type::kBF16x2, "bf16x2"},
    {Type::kTF32, "tf32"},     {Type::kF32, "f32"},         {Type::kF32x2, "f32x2"},
    {Type::kF64, "f64"},       {Type::kU16x2, "u16x2"},     {Type::kS16x2, "s16x2"},
    {Type::kE4M3, "e4m3"},     {Type::kE5M2, "e5m2"},       {Type::kE4M3x2, "e4m3x2"},
    {Type::kE5M2x2, "e5m2x2"}, {Type::kE2M3x2, "e2m3x2"},   {Type::kE3M2x2, "e3m2x2"},
    {Type::kE2M1x2, "e2m1x2"}, {Type::kUE8M0x2, "ue8m0x2"}, {Type::kE4M3x4, "e4m3x4"},
    {Type::kE5M2x4, "e5m2x4"}, {Type::kE2M3x4, "e2m3x4"},   {Type::kE3M2x4, "e3m2x4"},
    {Type::kE2M1x4, "e2m1x4"}, {Type::kS4, "s4"},           {Type::kE2M3, "e2m3"},
    {Type::kE3M2, "e3m2"},     {Type::kE2M1, "e2m1"},       {Type::kU4, "u4"},
    {Type::kB1, "b1"},
};

struct SpecialName {
  SpecialRegister reg;
  std::string_view name;
  Type type;
};
using S = SpecialRegister;
constexpr SpecialName kSpecialNames[] = {
    {S::kTidX, "%tid.x", Type::kU32},
    {S::kTidY, "%tid.y", Type::kU32},
    {S::kTidZ, "%tid.z", Type::kU32},
    {S::kNtidX, "%ntid.x", Type::kU32},
    {S::kNtidY, "%ntid.y", Type::kU32},
    {S::kNtidZ, "%ntid.z", Type::kU32},
    {S::kCtaidX, "%ctaid.x", Type::kU32},
    {S::kCtaidY, "%ctaid.y", Type::kU32},
    {S::kCtaidZ, "%ctaid.z", Type::kU32},
    {S::kNctaidX, "%nctaid.x", Type::kU32},
    {S::kNctaidY, "%nctaid.y", Type::kU32},
    {S::kNctaidZ, "%nctaid.z", Type::kU32},
    {S::kLaneid, "%laneid", Type::kU32},
    {S::kWarpid, "%warpid", Type::kU32},
    {S::kNwarpid, "%nwarpid", Type::kU32},
    {S::kSmid, "%smid", Type::kU32},
    {S::kNsmid, "%nsmid", Type::kU32},
    {S::kGridid, "%gridid", Type::kU64},
    {S::kLanemaskEq, "%lanemask_eq", Type::kU32},
    {S::kLanemaskLe, "%lanemask_le", Type::kU32},
    {S::kLanemaskLt, "%lanemask_lt", Type::kU32},
    {S::kLanemaskGe, "%lanemask_ge", Type::kU32},
    {S::kLanemaskGt, "%lanemask_gt", Type::kU32},
    {S::kClock, "%clock", Type::kU32},
    {S::kClockHi, "%clock_hi", Type::kU32},
    {S::kClock64, "%clock64", Type::kU64},
    {S::kGlobaltimer, "%globaltimer", Type::kU64},
    {S::kGlobaltimerLo, "%globaltimer_lo", Type::kU32},
    {S::kGlobaltimerHi, "%globaltimer_hi", Type::kU32},
    {S::kTotalSmemSize, "%total_smem_size", Type::kU32},
    {S::kAggrSmemSize, "%aggr_smem_size", Type::kU32},
    {S::kDynamicSmemSize, "%dynamic_smem_size", Type::kU32},
    {S::kReservedSmemOffset, "%reserved_smem_offset_0", Type::kU32},
    {S::kReservedSmemOffset1, "%reserved_smem_offset_1", Type::kU32},
    {S::kReservedSmemBegin, "%reserved_smem_offset_begin", Type::kU32},
    {S::kReservedSmemEnd, "%reserved_smem_offset_end", Type::kU32},
    {S::kReservedSmemCap, "%reserved_smem_offset_cap", Type::kU32},
    {S::kIsExplicitCluster, "%is_explicit_cluster", Type::kPred},
    {S::kClusteridX, "%clusterid.x", Type::kU32},
    {S::kClusteridY, "%clusterid.y", Type::kU32},
    {S::kClusteridZ, "%clusterid.z", Type::kU32},
    {S::kNclusteridX, "%nclusterid.x", Type::kU32},
    {S::kNclusteridY, "%nclusterid.y", Type::kU32},
    {S::kNclusteridZ, "%nclusterid.z", Type::kU32},
    {S::kClusterCtaidX, "%cluster_ctaid.x", Type::kU32},
    {S::kClusterCtaidY, "%cluster_ctaid.y", Type::kU32},
    {S::kClusterCtaidZ, "%cluster_ctaid.z", Type::kU32},
    {S::kClusterNctaidX, "%cluster_nctaid.x", Type::kU32},
    {S::kClusterNctaidY, "%cluster_nctaid.y", Type::kU32},
    {S::kClusterNctaidZ, "%cluster_nctaid.z", Type::kU32},
    {S::kClusterCtarank, "%cluster_ctarank", Type::kU32},
    {S::kClusterNctarank, "%cluster_nctarank", Type::kU32},
    {S::kCurrentGraphExec, "%current_graph_exec", Type::kU64},
};

// %envreg<n> and %pm<n>, stored once so that their names can be returned as views.
struct NumberedNames {
  std::array<std::string, 32> envreg;
  std::array<std::string, 8> pm;
  NumberedNames() {
    for (int i = 0; i < 32; ++i) envreg[i] = "%envreg" + std::to_string(i);
    for (int i = 0; i < 8; ++i) pm[i] = "%pm" + std::to_string(i);
  }
};
const NumberedNames& numbered_names() {
  static const auto* const names = new NumberedNames;
  return *names;
}

SpecialRegister numbered(SpecialRegister first, int n) {
  return static_cast<SpecialRegister>(static_cast<int>(first) + n);
}

}  // namespace

std::string_view opcode_name(Opcode opcode) { return kOpcodeNames[static_cast<int>(opcode)]; }

std::string_view type_name(Type type) {
  for (const auto& t : kTypeNames)
    if (t.type == type) return t.name;
  return {};
}

Type type_from_name(std::string_view name) {
  for (const auto& t : kTypeNames)
    if (t.name == name) return t.type;
  return Type::kNone;
}

std::string_view space_name(Space space) {
  switch (space) {
    case Space::kConst: return "const";
    case Space::kGlobal: return "global";
    case Space::kLocal: return "local";
    case Space::kParam: return "param";
    case Space::kShared: return "shared";
    case Space::kSharedCluster: return "shared::cluster";
    case Space::kNone:
    case Space::kGeneric: return {};
  }
  return {};
}

Space space_from_name(std::string_view name) {
  if (name == "const") return Space::kConst;
  if (name == "global") return Space::kGlobal;
  if (name == "local") return Space::kLocal;
  if (name == "param" || name == "param::entry" || name == "param::func") return Space::kParam;
  if (name == "shared" || name == "shared::cta") return Space::kShared;
  if (name == "shared::cluster") return Space::kSharedCluster;
  return Space::kNone;
}

std::string_view special_register_name(SpecialRegister reg) {
  for (const auto& s : kSpecialNames)
    if (s.reg == reg) return s.name;
  if (reg >= S::kEnvreg0 && reg <= S::kEnvregLast)
    return numbered_names().envreg[static_cast<int>(reg) - static_cast<int>(S::kEnvreg0)];
  if (reg >= S::kPm0 && reg <= S::kPmLast)
    return numbered_names().pm[static_cast<int>(reg) - static_cast<int>(S::kPm0)];
  return {};
}

SpecialRegister special_register_from_name(std::string_view name) {
  static const auto* const by_name = [] {
    auto* m = new std::unordered_map<std::string_view, SpecialRegister>;
    for (const auto& s : kSpecialNames) (*m)[s.name] = s.reg;
    for (int i = 0; i < 32; ++i) (*m)[numbered_names().envreg[i]] = numbered(S::kEnvreg0, i);
    for (int i = 0; i < 8; ++i) (*m)[numbered_names().pm[i]] = numbered(S::kPm0, i);
    return m;
  }();
  const auto it = by_name->find(name);
  return it == by_name->end() ? S::kNone : it->second;
}

Type special_register_type(SpecialRegister reg) {
  for (const auto& s : kSpecialNames)
    if (s.reg == reg) return s.type;
  return Type::kU32;
}

}  // namespace lockstep::isa
