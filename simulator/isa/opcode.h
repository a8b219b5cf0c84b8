// The vocabulary of PTX as enumerations: types, state spaces, opcodes, special registers and
// modifiers.
//
// Plain data without any standard-library type, because the handlers' files, which are compiled
// with their own options, include it (simulator/engine/ops/alu/handler_file.h). Source: PTX ISA
// 9.0, chapters 5 (state spaces, types), 9.7 (instructions) and 10 (special registers).
#pragma once

#include <cstdint>

namespace lockstep::isa {

enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kTF32,
  kF32,
  kF32x2,
  kF64,
  kU16x2,
  kS16x2,
  kE4M3,
  kE5M2,
  kE4M3x2,
  kE5M2x2,
  kE2M3x2,
  kE3M2x2,
  kE2M1x2,
  kUE8M0x2,
  kS4,
  kU4,
  kB1,
  // Elements of a matrix, each in its own byte.
  kE2M3,
  kE3M2,
  kE2M1,
  // Recorded inputs depend on these numbers, so new types must be added at the end
  // (simulator/vectors).
  kE4M3x4,
  kE5M2x4,
  kE2M3x4,
  kE3M2x4,
  kE2M1x4,
};

// The bytes of a value in a register or in memory; predicates count as 1. 0 for types smaller than
// a byte, which occur only packed in 32-bit words.
constexpr int size_of(Type t) {
  switch (t) {
    case Type::kPred:
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
    case Type::kE4M3:
    case Type::kE5M2:
    case Type::kE2M3:
    case Type::kE3M2:
    case Type::kE2M1:
    case Type::kE2M1x2: return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBF16:
    case Type::kE4M3x2:
    case Type::kE5M2x2:
    case Type::kE2M3x2:
    case Type::kE3M2x2:
    case Type::kUE8M0x2:
    case Type::kE2M1x4: return 2;
    case Type::kB32:
    case Type::kU32:
    case Type::kS32:
    case Type::kF32:
    case Type::kF16x2:
    case Type::kBF16x2:
    case Type::kTF32:
    case Type::kU16x2:
    case Type::kS16x2:
    case Type::kE4M3x4:
    case Type::kE5M2x4:
    case Type::kE2M3x4:
    case Type::kE3M2x4: return 4;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
    case Type::kF32x2: return 8;
    case Type::kB128: return 16;
    case Type::kNone:
    case Type::kS4:
    case Type::kU4:
    case Type::kB1: return 0;
  }
  return 0;
}

// Bits of one element in a matrix.
constexpr int bits_of(Type t) {
  return t == Type::kB1 ? 1 : t == Type::kS4 || t == Type::kU4 ? 4 : 8 * size_of(t);
}

// Signed integers, and pairs of them.
constexpr bool is_signed(Type t) {
  return t == Type::kS4 || t == Type::kS8 || t == Type::kS16 || t == Type::kS32 ||
         t == Type::kS64 || t == Type::kS16x2;
}

enum class Space : std::uint8_t {
  kNone,
  kGeneric,
  kConst,
  kGlobal,
  kLocal,
  kParam,
  kShared,
  kSharedCluster,
};

enum class Rounding : std::uint8_t {
  kNone,
  kNearestEven,
  kZero,
  kDown,
  kUp,
  kNearestAway,
  kStochastic,
  kIntNearestEven,
  kIntZero,
  kIntDown,
  kIntUp
};
enum class Compare : std::uint8_t {
  kNone,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};
enum class BoolOp : std::uint8_t { kNone, kAnd, kOr, kXor };
enum class Half : std::uint8_t { kNone, kLo, kHi, kWide };  // mul, mad: .lo .hi .wide
enum class CacheOp : std::uint8_t { kNone, kCa, kCg, kCs, kLu, kCv, kWb, kWt };
enum class Semantics : std::uint8_t {
  kNone,
  kWeak,
  kVolatile,
  kRelaxed,
  kAcquire,
  kRelease,
  kAcqRel,
  kSc,
  kMmio
};
enum class Scope : std::uint8_t { kNone, kCta, kCluster, kGpu, kSys };
enum class AtomOp : std::uint8_t {
  kNone,
  kAnd,
  kOr,
  kXor,
  kCas,
  kExch,
  kAdd,
  kInc,
  kDec,
  kMin,
  kMax,
  kPopc
};
enum class ShflMode : std::uint8_t { kNone, kUp, kDown, kBfly, kIdx };
enum class VoteMode : std::uint8_t { kNone, kAll, kAny, kUni, kBallot };
enum class PrmtMode : std::uint8_t { kNone, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
enum class BarMode : std::uint8_t { kNone, kSync, kArrive, kRed };
enum class Geometry : std::uint8_t {
  kNone,
  k1d,
  k2d,
  k3d,
  kA1d,
  kA2d,
  kCube,
  kAcube
};  // tex, suld ..: the image's geometry; a: layered
enum class Border : std::uint8_t {
  kNone,
  kTrap,
  kClamp,
  kZero
};  // suld, sust, sured: accesses outside of the surface
enum class Level : std::uint8_t {
  kNone,
  kBase,
  kLevel,
  kGrad
};                                      // tex: the choice of the mipmap level
enum class ImageQuery : std::uint8_t {  // txq, suq
  kNone,
  kWidth,
  kHeight,
  kDepth,
  kChannelDataType,
  kChannelOrder,
  kNormalizedCoords,
  kArraySize,
  kNumMipmapLevels,
  kNumSamples,
  kMemoryLayout,
};
enum class LoadMode : std::uint8_t {
  kNone,
  kTile,
  kIm2col,
  kIm2colNoOffsets,
  kFourRows,  // .tile::gather4, .tile::scatter4
  kIm2colW,
  kIm2colW128
};  // cp.async.bulk.tensor: the kind of coordinates
// tcgen05.ld, st and cp: lanes by bits of a row, with the manual's names.
enum class TensorShape : std::uint8_t {
  kNone,
  k32x32b,
  k16x64b,
  k16x128b,
  k16x256b,
  k16x32bx2,
  k128x256b,
  k4x256b,
  k128x128b,
  k64x128b,
  k32x128b
};
// tcgen05.mma: the kind of factors.
enum class TensorKind : std::uint8_t {
  kNone,
  kF16,
  kTF32,
  kF8F6F4,
  kI8,
  kMxF8F6F4,
  kMxF4,
  kMxF4NvF4
};
// tcgen05.cp: the quarters of the lanes that receive a copy of the data.
enum class TensorMulticast : std::uint8_t { kNone, kPairs02And13, kPairs01And23, kAllFour };
enum class TestpOp : std::uint8_t {
  kNone,
  kFinite,
  kInfinite,
  kNumber,
  kNotANumber,
  kNormal,
  kSubnormal
};

// The shape of D = A * B + C: A has m rows and k columns, B has k rows and n columns. ldmatrix's
// m8n8 has only m and n.
struct Shape {
  std::uint16_t m = 0, n = 0, k = 0;
  bool operator==(const Shape&) const = default;
};

// Every modifier of an instruction. Absent ones are kNone, false or 0.
struct Modifiers {
  Type type = Type::kNone;         // the (destination) type
  Type source_type = Type::kNone;  // second type: cvt, set, mul.wide's operands are `type`
  Type third_type = Type::kNone;
  // mma: the type of the accumulator. The first three types are those of the result and the
  // factors.
  Type fourth_type = Type::kNone;
  Space space = Space::kNone;         // ld, st, atom, red, cvta, isspacep ...
  Space source_space = Space::kNone;  // cp.async, mapa: second space
  Rounding rounding = Rounding::kNone;
  Compare compare = Compare::kNone;
  BoolOp bool_op = BoolOp::kNone;
  Half half = Half::kNone;
  CacheOp cache = CacheOp::kNone;
  Semantics semantics = Semantics::kNone;
  Scope scope = Scope::kNone;
  AtomOp atom = AtomOp::kNone;
  ShflMode shfl = ShflMode::kNone;
  VoteMode vote = VoteMode::kNone;
  PrmtMode prmt = PrmtMode::kNone;
  BarMode bar = BarMode::kNone;
  TestpOp testp = TestpOp::kNone;
  Geometry geometry = Geometry::kNone;
  Border border = Border::kNone;
  Level level = Level::kNone;
  ImageQuery query = ImageQuery::kNone;
  Shape shape;  // of matrix instructions
  LoadMode load_mode = LoadMode::kNone;
  TensorShape tensor_shape = TensorShape::kNone;
  TensorKind tensor_kind = TensorKind::kNone;
  TensorMulticast tensor_multicast = TensorMulticast::kNone;
  std::uint8_t cta_group = 0;     // tcgen05, cp.async.bulk.tensor: cooperating blocks, 1 or 2
  std::uint8_t scale_vector = 0;  // tcgen05.mma, mma: elements that share a scale; 0: no scales
  // tcgen05.cp, ldmatrix: bits of an element that is extended to a byte; 0: not extended.
  std::uint8_t narrow_bits = 0;
  bool fine_scales = false;     // mma: scales are of ue4m3, not of ue8m0
  std::uint8_t dimensions = 0;  // cp.async.bulk.tensor: dimensions of the tensor
  std::uint8_t component = 0;   // tld4: 0 .r, 1 .g, 2 .b, 3 .a; vmad: the shift of the sum in bits
  std::uint8_t vector = 1;      // .v2 .v4 .v8: elements of a ld, st, atom, red, tex, suld, sust
  std::uint8_t variant = 0;     // distinguishes forms that agree in all other fields; see forms.h
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool nan = false;          // .NaN of min, max
  bool xorsign_abs = false;  // .xorsign.abs of two-input min, max
  bool abs = false;          // .abs by itself: three-input min, max, and redux
  bool approx = false;
  bool full = false;          // div.full
  bool carry_out = false;     // .cc
  bool carry_in = false;      // addc, subc, madc
  bool uniform = false;       // bra.uni
  bool non_coherent = false;  // ld.global.nc
  bool shift_amount = false;  // bfind.shiftamt
  bool clamp = false;         // shf.clamp, bmsk.clamp, szext.clamp (shf.wrap: false)
  bool left = false;          // shf.l
  bool to = false;            // cvta.to
  bool aligned = false;       // barrier.*.aligned, bar.* (always aligned)
  bool noftz = false;
  bool oob = false;  // fma.oob
  bool no_return = false;
  bool parity = false;        // mbarrier.test_wait, try_wait: the phase is given by its parity
  bool expect_tx = false;     // mbarrier.arrive.expect_tx
  bool no_complete = false;   // mbarrier.arrive.noComplete
  bool no_increment = false;  // cp.async.mbarrier.arrive.noinc
  bool read = false;          // cp.async.bulk.wait_group.read
  bool formatted = false;     // sust.p, sured.p: in the surface's format
  bool transposed = false;    // ldmatrix, stmatrix, movmatrix
  bool packed = false;        // tcgen05.ld.pack::16b, tcgen05.st.unpack::16b
  bool a_by_columns =
      false;  // mma, wmma: the layout of A; wmma.load and wmma.store: of their matrix
  bool b_by_columns = false;
};

// Properties of an image instruction's operands.
constexpr bool is_cube(Geometry g) { return g == Geometry::kCube || g == Geometry::kAcube; }
constexpr bool is_layered(Geometry g) {
  return g == Geometry::kA1d || g == Geometry::kA2d || g == Geometry::kAcube;
}
// The number of coordinates; a cube map's coordinates are a direction.
constexpr int dimensions_of(Geometry g) {
  return g == Geometry::k3d || is_cube(g) ? 3 : g == Geometry::k2d || g == Geometry::kA2d ? 2 : 1;
}
// The number of registers in the vector of coordinates of a copy through a tensor map, and in its
// vector of offsets for im2col.
constexpr int tensor_coordinates_of(const Modifiers& m) {
  return m.load_mode == LoadMode::kFourRows ? 5 : m.dimensions;
}
constexpr int im2col_values_of(const Modifiers& m) {
  return m.load_mode == LoadMode::kIm2col ? m.dimensions - 2 : 2;
}
// The number of registers in the vector of coordinates, layer first. With three dimensions, or two
// and a layer, there are four, and the last is ignored. A layered cube map uses all four.
constexpr int coordinates_of(Geometry g) {
  return g == Geometry::k1d ? 1 : dimensions_of(g) == 3 || g == Geometry::kA2d ? 4 : 2;
}
// The number of registers in each gradient of tex.grad.
constexpr int gradients_of(Geometry g) { return dimensions_of(g) == 3 ? 4 : dimensions_of(g); }

enum class Opcode : std::uint16_t {
  kInvalid,
#define LOCKSTEP_OPCODE(name, category, flow) k_##name,
#include "simulator/isa/opcodes.inc"
#undef LOCKSTEP_OPCODE
  kCount
};

enum class SpecialRegister : std::uint8_t {
  kNone,
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kClock,
  kClockHi,
  kClock64,
  kGlobaltimer,
  kGlobaltimerLo,
  kGlobaltimerHi,
  kTotalSmemSize,
  kAggrSmemSize,
  kDynamicSmemSize,
  kReservedSmemOffset,  // %reserved_smem_offset_0
  kReservedSmemOffset1,
  kReservedSmemBegin,
  kReservedSmemEnd,
  kReservedSmemCap,
  kIsExplicitCluster,
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kCurrentGraphExec,
  kEnvreg0,  // kEnvreg0 + n for %envreg<n>, n = 0..31
  kEnvregLast = kEnvreg0 + 31,
  kPm0,
  kPmLast = kPm0 + 7,
  kCount
};

// Whether the register is an offset of the system's shared memory.
constexpr bool is_reserved_shared(SpecialRegister r) {
  return r >= SpecialRegister::kReservedSmemOffset && r <= SpecialRegister::kReservedSmemCap;
}
// Whether the register's value is a time, which changes by itself.
constexpr bool reads_clock(SpecialRegister r) {
  return r >= SpecialRegister::kClock && r <= SpecialRegister::kGlobaltimerHi;
}

}  // namespace lockstep::isa
