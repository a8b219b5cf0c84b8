// The meaning of each word of an opcode, in one place for all rows of the table.
#include "simulator/isa/modifier_tokens.h"

#include <string_view>
#include <unordered_map>

#include "simulator/isa/category.h"
#include "simulator/isa/names.h"

namespace lockstep::isa {
namespace {

bool is_multiply(Opcode op) {
  switch (op) {
    case Opcode::k_mul:
    case Opcode::k_mad:
    case Opcode::k_madc:
    case Opcode::k_mul24:
    case Opcode::k_mad24:
    case Opcode::k_dp2a: return true;
    default: return false;
  }
}

bool is_compare(Opcode op) { return op == Opcode::k_set || op == Opcode::k_setp; }

bool is_atomic(Opcode op) {
  return op == Opcode::k_atom || op == Opcode::k_red || op == Opcode::k_redux_sync ||
         op == Opcode::k_sured || op == Opcode::k_cp_reduce_async_bulk ||
         op == Opcode::k_cp_reduce_async_bulk_tensor || op == Opcode::k_red_async ||
         op == Opcode::k_multimem_ld_reduce || op == Opcode::k_multimem_red;
}

struct Field {
  enum class Kind {
    kRounding,
    kSemantics,
    kScope,
    kCache,
    kShfl,
    kVote,
    kPrmt,
    kTestp,
    kFlag,
    kWord
  } kind = Kind::kWord;
  int value = 0;
  bool Modifiers::*flag = nullptr;
};

template <class E>
Field field(Field::Kind kind, E value) {
  return {kind, static_cast<int>(value), nullptr};
}
Field flag(bool Modifiers::*f) { return {Field::Kind::kFlag, 0, f}; }

const std::unordered_map<std::string_view, Field>& plain_tokens() {
  using K = Field::Kind;
  static const auto* const tokens = new std::unordered_map<std::string_view, Field>{
      {"rn", field(K::kRounding, Rounding::kNearestEven)},
      {"rna", field(K::kRounding, Rounding::kNearestAway)},
      {"rz", field(K::kRounding, Rounding::kZero)},
      {"rm", field(K::kRounding, Rounding::kDown)},
      {"rp", field(K::kRounding, Rounding::kUp)},
      {"rs", field(K::kRounding, Rounding::kStochastic)},
      {"rni", field(K::kRounding, Rounding::kIntNearestEven)},
      {"rzi", field(K::kRounding, Rounding::kIntZero)},
      {"rmi", field(K::kRounding, Rounding::kIntDown)},
      {"rpi", field(K::kRounding, Rounding::kIntUp)},
      {"weak", field(K::kSemantics, Semantics::kWeak)},
      {"volatile", field(K::kSemantics, Semantics::kVolatile)},
      {"relaxed", field(K::kSemantics, Semantics::kRelaxed)},
      {"acquire", field(K::kSemantics, Semantics::kAcquire)},
      {"release", field(K::kSemantics, Semantics::kRelease)},
      {"acq_rel", field(K::kSemantics, Semantics::kAcqRel)},
      {"sc", field(K::kSemantics, Semantics::kSc)},
      {"mmio", field(K::kSemantics, Semantics::kMmio)},
      {"cta", field(K::kScope, Scope::kCta)},
      {"cluster", field(K::kScope, Scope::kCluster)},
      {"gpu", field(K::kScope, Scope::kGpu)},
      {"gl", field(K::kScope, Scope::kGpu)},
      {"sys", field(K::kScope, Scope::kSys)},
      {"ca", field(K::kCache, CacheOp::kCa)},
      {"cg", field(K::kCache, CacheOp::kCg)},
      {"cs", field(K::kCache, CacheOp::kCs)},
      {"lu", field(K::kCache, CacheOp::kLu)},
      {"cv", field(K::kCache, CacheOp::kCv)},
      {"wb", field(K::kCache, CacheOp::kWb)},
      {"wt", field(K::kCache, CacheOp::kWt)},
      {"up", field(K::kShfl, ShflMode::kUp)},
      {"down", field(K::kShfl, ShflMode::kDown)},
      {"bfly", field(K::kShfl, ShflMode::kBfly)},
      {"idx", field(K::kShfl, ShflMode::kIdx)},
      {"all", field(K::kVote, VoteMode::kAll)},
      {"any", field(K::kVote, VoteMode::kAny)},
      {"uni", field(K::kVote, VoteMode::kUni)},
      {"ballot", field(K::kVote, VoteMode::kBallot)},
      {"f4e", field(K::kPrmt, PrmtMode::kF4e)},
      {"b4e", field(K::kPrmt, PrmtMode::kB4e)},
      {"rc8", field(K::kPrmt, PrmtMode::kRc8)},
      {"ecl", field(K::kPrmt, PrmtMode::kEcl)},
      {"ecr", field(K::kPrmt, PrmtMode::kEcr)},
      {"rc16", field(K::kPrmt, PrmtMode::kRc16)},
      {"finite", field(K::kTestp, TestpOp::kFinite)},
      {"infinite", field(K::kTestp, TestpOp::kInfinite)},
      {"number", field(K::kTestp, TestpOp::kNumber)},
      {"notanumber", field(K::kTestp, TestpOp::kNotANumber)},
      {"normal", field(K::kTestp, TestpOp::kNormal)},
      {"subnormal", field(K::kTestp, TestpOp::kSubnormal)},
      {"ftz", flag(&Modifiers::ftz)},
      {"sat", flag(&Modifiers::sat)},
      {"satfinite", flag(&Modifiers::sat)},
      {"relu", flag(&Modifiers::relu)},
      {"NaN", flag(&Modifiers::nan)},
      {"xorsign", flag(&Modifiers::xorsign_abs)},
      {"abs", flag(&Modifiers::abs)},
      {"approx", flag(&Modifiers::approx)},
      {"full", flag(&Modifiers::full)},
      {"cc", flag(&Modifiers::carry_out)},
      {"nc", flag(&Modifiers::non_coherent)},
      {"shiftamt", flag(&Modifiers::shift_amount)},
      {"clamp", flag(&Modifiers::clamp)},
      {"l", flag(&Modifiers::left)},
      {"to", flag(&Modifiers::to)},
      {"aligned", flag(&Modifiers::aligned)},
      {"noftz", flag(&Modifiers::noftz)},
      {"oob", flag(&Modifiers::oob)},
      {"parity", flag(&Modifiers::parity)},
      {"expect_tx", flag(&Modifiers::expect_tx)},
      {"noComplete", flag(&Modifiers::no_complete)},
      {"noinc", flag(&Modifiers::no_increment)},
      {"read", flag(&Modifiers::read)},
      {"trans", flag(&Modifiers::transposed)},
      // Words without a choice, or whose choice is the row's variant.
      {"wrap", {}},
      {"r", {}},
      {"L1", {}},
      {"L2", {}},
      {"fractional", {}},
      {"mbarrier::complete_tx::bytes", {}},
      {"multicast::cluster", {}},
      {"bulk_group", {}},
      {"b1024", {}},
      {"global_address", {}},
      {"rank", {}},
      {"box_dim", {}},
      {"global_dim", {}},
      {"global_stride", {}},
      {"element_stride", {}},
      {"elemtype", {}},
      {"interleave_layout", {}},
      {"swizzle_mode", {}},
      {"swizzle_atomicity", {}},
      {"fill_mode", {}},
      {"cp_mask", {}},
      {"acc::f16", {}},
      {"acc::f32", {}},
      {"multicast::cluster::all", {}},
      {"is_canceled", {}},
      {"get_first_ctaid", {}},
      {"get_first_ctaid::x", {}},
      {"get_first_ctaid::y", {}},
      {"get_first_ctaid::z", {}},
      {"alias", {}},
      {"async", {}},
      {"async::generic", {}},
      {"tensormap::generic", {}},
      {"sync_restrict::shared::cta", {}},
      {"sync_restrict::shared::cluster", {}},
      {"launch_dependents", {}},
      {"wait", {}},
      {"sync", {}},
      {"sp::ordered_metadata", {}},
      {"mask", {}},
  };
  return *tokens;
}

Compare compare_from(std::string_view w) {
  static const auto* const m = new std::unordered_map<std::string_view, Compare>{
      {"eq", Compare::kEq},   {"ne", Compare::kNe},   {"lt", Compare::kLt},
      {"le", Compare::kLe},   {"gt", Compare::kGt},   {"ge", Compare::kGe},
      {"lo", Compare::kLo},   {"ls", Compare::kLs},   {"hi", Compare::kHi},
      {"hs", Compare::kHs},   {"equ", Compare::kEqu}, {"neu", Compare::kNeu},
      {"ltu", Compare::kLtu}, {"leu", Compare::kLeu}, {"gtu", Compare::kGtu},
      {"geu", Compare::kGeu}, {"num", Compare::kNum}, {"nan", Compare::kNan}};
  const auto it = m->find(w);
  return it == m->end() ? Compare::kNone : it->second;
}

BoolOp bool_op_from(std::string_view w) {
  if (w == "and") return BoolOp::kAnd;
  if (w == "or") return BoolOp::kOr;
  if (w == "xor") return BoolOp::kXor;
  return BoolOp::kNone;
}

AtomOp atom_from(std::string_view w) {
  static const auto* const m = new std::unordered_map<std::string_view, AtomOp>{
      {"and", AtomOp::kAnd},   {"or", AtomOp::kOr},   {"xor", AtomOp::kXor},  {"cas", AtomOp::kCas},
      {"exch", AtomOp::kExch}, {"add", AtomOp::kAdd}, {"inc", AtomOp::kInc},  {"dec", AtomOp::kDec},
      {"min", AtomOp::kMin},   {"max", AtomOp::kMax}, {"popc", AtomOp::kPopc}};
  const auto it = m->find(w);
  return it == m->end() ? AtomOp::kNone : it->second;
}

// ".m16n8k16", or ".m8n8" of the instructions that move matrices.
bool shape_from(std::string_view w, Shape& shape) {
  if (w.size() < 4 || w[0] != 'm' || w[1] < '0' || w[1] > '9') return false;
  std::uint16_t* const sizes[] = {&shape.m, &shape.n, &shape.k};
  constexpr std::string_view kNames = "mnk";
  shape = {};
  std::size_t at = 0;
  for (std::size_t d = 0; d < 3 && at < w.size(); ++d) {
    if (w[at++] != kNames[d]) return false;
    for (; at < w.size() && w[at] >= '0' && w[at] <= '9'; ++at)
      *sizes[d] = static_cast<std::uint16_t>(10 * *sizes[d] + (w[at] - '0'));
  }
  return at == w.size() && shape.n != 0;
}

bool is_image(Opcode op) {
  switch (op) {
    case Opcode::k_tex:
    case Opcode::k_tld4:
    case Opcode::k_txq:
    case Opcode::k_suld:
    case Opcode::k_sust:
    case Opcode::k_sured:
    case Opcode::k_suq: return true;
    default: return false;
  }
}

// The words of textures and surfaces.
bool apply_image_word(Opcode opcode, std::string_view w, Modifiers& m) {
  static const auto* const geometries = new std::unordered_map<std::string_view, Geometry>{
      {"1d", Geometry::k1d},      {"2d", Geometry::k2d},   {"3d", Geometry::k3d},
      {"a1d", Geometry::kA1d},    {"a2d", Geometry::kA2d}, {"cube", Geometry::kCube},
      {"acube", Geometry::kAcube}};
  static const auto* const queries = new std::unordered_map<std::string_view, ImageQuery>{
      {"width", ImageQuery::kWidth},
      {"height", ImageQuery::kHeight},
      {"depth", ImageQuery::kDepth},
      {"channel_data_type", ImageQuery::kChannelDataType},
      {"channel_order", ImageQuery::kChannelOrder},
      {"normalized_coords", ImageQuery::kNormalizedCoords},
      {"array_size", ImageQuery::kArraySize},
      {"num_mipmap_levels", ImageQuery::kNumMipmapLevels},
      {"num_samples", ImageQuery::kNumSamples},
      {"memory_layout", ImageQuery::kMemoryLayout}};
  if (const auto it = geometries->find(w); it != geometries->end())
    return m.geometry = it->second, true;
  if (const auto it = queries->find(w); it != queries->end()) return m.query = it->second, true;
  if (w == "base") return m.level = Level::kBase, true;
  if (w == "level") return m.level = Level::kLevel, true;
  if (w == "grad") return m.level = Level::kGrad, true;
  if (w == "trap") return m.border = Border::kTrap, true;
  if (w == "clamp") return m.border = Border::kClamp, true;
  if (w == "zero") return m.border = Border::kZero, true;
  if (w == "p") return m.formatted = true, true;
  if (opcode == Opcode::k_tld4 && w.size() == 1) {
    const std::size_t component = std::string_view("rgba").find(w);
    if (component == std::string_view::npos) return false;
    m.component = static_cast<std::uint8_t>(component);
    return true;
  }
  return w == "b";
}

bool is_tensor_copy(Opcode op) {
  return op == Opcode::k_cp_async_bulk_tensor || op == Opcode::k_cp_reduce_async_bulk_tensor ||
         op == Opcode::k_cp_async_bulk_prefetch_tensor || op == Opcode::k_tensormap_replace;
}

// The words of copies through tensor maps.
bool apply_tensor_word(std::string_view w, Modifiers& m) {
  if (w.size() == 2 && w[0] >= '1' && w[0] <= '5' && w[1] == 'd')
    return m.dimensions = static_cast<std::uint8_t>(w[0] - '0'), true;
  if (w == "tile") return m.load_mode = LoadMode::kTile, true;
  if (w == "im2col") return m.load_mode = LoadMode::kIm2col, true;
  if (w == "im2col_no_offs") return m.load_mode = LoadMode::kIm2colNoOffsets, true;
  if (w == "tile::gather4" || w == "tile::scatter4") return m.load_mode = LoadMode::kFourRows, true;
  if (w == "im2col::w") return m.load_mode = LoadMode::kIm2colW, true;
  if (w == "im2col::w::128") return m.load_mode = LoadMode::kIm2colW128, true;
  if (w == "cta_group::1" || w == "cta_group::2")
    return m.cta_group = static_cast<std::uint8_t>(w.back() - '0'), true;
  return false;
}

// The words of tcgen05.
bool apply_tensor_memory_word(std::string_view w, Modifiers& m) {
  static const auto* const shapes = new std::unordered_map<std::string_view, TensorShape>{
      {"32x32b", TensorShape::k32x32b},     {"16x64b", TensorShape::k16x64b},
      {"16x128b", TensorShape::k16x128b},   {"16x256b", TensorShape::k16x256b},
      {"16x32bx2", TensorShape::k16x32bx2}, {"128x256b", TensorShape::k128x256b},
      {"4x256b", TensorShape::k4x256b},     {"128x128b", TensorShape::k128x128b},
      {"64x128b", TensorShape::k64x128b},   {"32x128b", TensorShape::k32x128b}};
  static const auto* const kinds = new std::unordered_map<std::string_view, TensorKind>{
      {"kind::f16", TensorKind::kF16},          {"kind::tf32", TensorKind::kTF32},
      {"kind::f8f6f4", TensorKind::kF8F6F4},    {"kind::i8", TensorKind::kI8},
      {"kind::mxf4", TensorKind::kMxF4},        {"kind::mxf8f6f4", TensorKind::kMxF8F6F4},
      {"kind::mxf4nvf4", TensorKind::kMxF4NvF4}};
  if (const auto it = shapes->find(w); it != shapes->end())
    return m.tensor_shape = it->second, true;
  if (const auto it = kinds->find(w); it != kinds->end()) return m.tensor_kind = it->second, true;
  if (w == "cta_group::1" || w == "cta_group::2")
    return m.cta_group = static_cast<std::uint8_t>(w.back() - '0'), true;
  if (w.size() >= 2 && w[0] == 'x' && w.find_first_not_of("0123456789", 1) == w.npos) {
    m.vector = 0;
    for (const char digit : w.substr(1))
      m.vector = static_cast<std::uint8_t>(10 * m.vector + (digit - '0'));
    return true;
  }
  if (w == "pack::16b" || w == "unpack::16b") return m.packed = true, true;
  if (w == "wait::ld" || w == "wait::st") return m.read = w == "wait::ld", true;
  if (w == "fence::before_thread_sync") return m.semantics = Semantics::kRelease, true;
  if (w == "fence::after_thread_sync") return m.semantics = Semantics::kAcquire, true;
  if (w == "warpx2::02_13") return m.tensor_multicast = TensorMulticast::kPairs02And13, true;
  if (w == "warpx2::01_23") return m.tensor_multicast = TensorMulticast::kPairs01And23, true;
  if (w == "warpx4") return m.tensor_multicast = TensorMulticast::kAllFour, true;
  if (w == "min" || w == "max") return m.atom = w == "min" ? AtomOp::kMin : AtomOp::kMax, true;
  // The following word or the row's variant has the information.
  if (w == "red" || w == "b8x16" || w == "ws" || w == "sp" || w == "ashift" || w == "down")
    return true;
  if (w == "b4x16_p64" || w == "b6x16_p32") return m.narrow_bits = w[1] - '0', true;
  // One scale for 32 elements, unless another number is given.
  if (w == "block_scale" || w == "block32" || w == "scale_vec::1X" || w == "scale_vec::2X")
    return m.scale_vector = 32, true;
  if (w == "block16" || w == "scale_vec::4X") return m.scale_vector = 16, true;
  return w == "mbarrier::arrive::one" || w.starts_with("collector::");
}

// Words whose meaning depends on the opcode. Returns true if the word was handled.
bool apply_by_opcode(Opcode opcode, std::string_view w, Modifiers& m) {
  if (is_multiply(opcode)) {
    if (w == "lo") return m.half = Half::kLo, true;
    if (w == "hi") return m.half = Half::kHi, true;
    if (w == "wide") return m.half = Half::kWide, true;
  }
  if (is_compare(opcode)) {
    if (const Compare c = compare_from(w); c != Compare::kNone) return m.compare = c, true;
    if (const BoolOp b = bool_op_from(w); b != BoolOp::kNone) return m.bool_op = b, true;
  }
  if (is_atomic(opcode)) {
    if (const AtomOp a = atom_from(w); a != AtomOp::kNone) return m.atom = a, true;
  }
  if (opcode == Opcode::k_lop3) {
    if (const BoolOp b = bool_op_from(w); b != BoolOp::kNone) return m.bool_op = b, true;
  }
  if (opcode == Opcode::k_bar || opcode == Opcode::k_barrier) {
    m.aligned |= opcode == Opcode::k_bar;
    if (w == "sync") return m.bar = BarMode::kSync, true;
    if (w == "arrive") return m.bar = BarMode::kArrive, true;
    if (w == "red") return m.bar = BarMode::kRed, true;
    if (w == "popc") return m.atom = AtomOp::kPopc, true;
    if (w == "cta") return true;  // the default, spelled out
    if (const BoolOp b = bool_op_from(w); b != BoolOp::kNone) return m.bool_op = b, true;
  }
  if (opcode == Opcode::k_bra || opcode == Opcode::k_brx_idx || opcode == Opcode::k_call ||
      opcode == Opcode::k_ret) {
    if (w == "uni") return m.uniform = true, true;
    if (w == "idx") return true;
  }
  if (opcode == Opcode::k_setmaxnreg && (w == "inc" || w == "dec")) {
    return m.atom = w == "inc" ? AtomOp::kInc : AtomOp::kDec, true;
  }
  if ((opcode == Opcode::k_setmaxnreg || opcode == Opcode::k_tensormap_cp_fenceproxy) &&
      w == "sync")
    return true;
  if (is_image(opcode) && apply_image_word(opcode, w, m)) return true;
  if (category_of(opcode) == Category::kTensorMemory && apply_tensor_memory_word(w, m)) return true;
  if (opcode == Opcode::k_mma || opcode == Opcode::k_mma_sp) {
    if (w == "ue8m0" || w == "ue4m3") return m.fine_scales = w == "ue4m3", true;
    if ((w.starts_with("kind::") || w == "block_scale" || w.starts_with("scale_vec::")) &&
        apply_tensor_memory_word(w, m))
      return true;
  }
  if (opcode == Opcode::k_mma || opcode == Opcode::k_wmma_mma ||
      opcode == Opcode::k_wgmma_mma_async) {
    if (const BoolOp b = bool_op_from(w); b != BoolOp::kNone) return m.bool_op = b, true;
    if (w == "popc") return true;  // both forms count bits
  }
  if (opcode == Opcode::k_ldmatrix || opcode == Opcode::k_stmatrix) {
    if (w == "x1" || w == "x2" || w == "x4")
      return m.vector = static_cast<std::uint8_t>(w[1] - '0'), true;
    if (w == "b8x16") return true;  // the following word has the information
    if (w == "b4x16_p64" || w == "b6x16_p32") return m.narrow_bits = w[1] - '0', true;
  }
  // The row's variant selects the matrix.
  if ((opcode == Opcode::k_wmma_load || opcode == Opcode::k_wmma_store) && w.size() == 1)
    return true;
  if (is_tensor_copy(opcode) && apply_tensor_word(w, m)) return true;
  if (category_of(opcode) == Category::kVideo) {
    if (w == "add") return m.atom = AtomOp::kAdd, true;
    if (w == "min") return m.atom = AtomOp::kMin, true;
    if (w == "max") return m.atom = AtomOp::kMax, true;
    if (w == "shr7") return m.component = 7, true;
    if (w == "shr15") return m.component = 15, true;
    if (w == "po") return true;  // selected by the row's variant
    if (opcode == Opcode::k_vset || opcode == Opcode::k_vset2 || opcode == Opcode::k_vset4) {
      if (const Compare c = compare_from(w); c != Compare::kNone) return m.compare = c, true;
    }
  }
  return false;
}

// Performance hints: they do not change results, so no field stores them.
bool is_hint(std::string_view w) {
  return w.starts_with("L1::") || w.starts_with("L2::") || w == "level::cache_hint";
}

}  // namespace

bool apply_token(Opcode opcode, std::string_view token, Modifiers& m, WordsSoFar& words) {
  const std::string_view w = token.substr(1);
  if (apply_by_opcode(opcode, w, m)) return true;
  if (is_hint(w)) return true;
  if (const Type t = type_from_name(w); t != Type::kNone) {
    Type* const fields[] = {&m.type, &m.source_type, &m.third_type, &m.fourth_type};
    if (words.types == 4) return false;
    *fields[words.types++] = t;
    return true;
  }
  if (const Space s = space_from_name(w); s != Space::kNone) {
    (words.spaces == 0 ? m.space : m.source_space) = s;
    ++words.spaces;
    return true;
  }
  if (w == "row" || w == "col") {
    (words.layouts == 0 ? m.a_by_columns : m.b_by_columns) = w == "col";
    ++words.layouts;
    return true;
  }
  if (shape_from(w, m.shape)) return true;
  if (w == "v2" || w == "v4" || w == "v8")
    return m.vector = static_cast<std::uint8_t>(w[1] - '0'), true;
  const auto it = plain_tokens().find(w);
  if (it == plain_tokens().end()) return false;
  const Field& f = it->second;
  switch (f.kind) {
    case Field::Kind::kRounding: m.rounding = static_cast<Rounding>(f.value); break;
    case Field::Kind::kSemantics:  // .mmio.relaxed: the first word is stronger
      if (m.semantics != Semantics::kMmio) m.semantics = static_cast<Semantics>(f.value);
      break;
    case Field::Kind::kScope: m.scope = static_cast<Scope>(f.value); break;
    case Field::Kind::kCache: m.cache = static_cast<CacheOp>(f.value); break;
    case Field::Kind::kShfl: m.shfl = static_cast<ShflMode>(f.value); break;
    case Field::Kind::kVote: m.vote = static_cast<VoteMode>(f.value); break;
    case Field::Kind::kPrmt: m.prmt = static_cast<PrmtMode>(f.value); break;
    case Field::Kind::kTestp: m.testp = static_cast<TestpOp>(f.value); break;
    case Field::Kind::kFlag:
      if (w == "abs" && m.xorsign_abs) break;  // one modifier in two words
      m.*f.flag = true;
      break;
    case Field::Kind::kWord: break;
  }
  return true;
}

}  // namespace lockstep::isa
