#include "simulator/engine/ops/tensor/descriptors.h"

#include <algorithm>

namespace lockstep::engine {
namespace {

using isa::TensorKind;
using isa::Type;

std::uint32_t field(std::uint32_t bits, int first, int count) {
  return bits >> first & ((1u << count) - 1);
}

// The element type of a code; kNone if the kind has no such type.
Type factor_type(TensorKind kind, std::uint32_t code) {
  switch (kind) {
    case TensorKind::kF16: return code == 0 ? Type::kF16 : code == 1 ? Type::kBF16 : Type::kNone;
    case TensorKind::kTF32: return code == 2 ? Type::kTF32 : Type::kNone;
    case TensorKind::kI8: return code == 0 ? Type::kU8 : code == 1 ? Type::kS8 : Type::kNone;
    case TensorKind::kF8F6F4:
    case TensorKind::kMxF8F6F4:
      switch (code) {
        case 0: return Type::kE4M3;
        case 1: return Type::kE5M2;
        case 3: return Type::kE2M3;
        case 4: return Type::kE3M2;
        case 5: return Type::kE2M1;
        default: return Type::kNone;
      }
    case TensorKind::kMxF4:
    case TensorKind::kMxF4NvF4: return code == 1 ? Type::kE2M1 : Type::kNone;
    default: return Type::kNone;
  }
}

bool is_scaled(TensorKind kind) {
  return kind == TensorKind::kMxF8F6F4 || kind == TensorKind::kMxF4 ||
         kind == TensorKind::kMxF4NvF4;
}
// Whether elements of four bits are packed.
bool is_packed(TensorKind kind) {
  return kind == TensorKind::kMxF4 || kind == TensorKind::kMxF4NvF4;
}

bool has_result(TensorKind kind, std::uint32_t code, Type a) {
  constexpr std::uint32_t kF16 = 0, kF32 = 1, kS32 = 2;
  switch (kind) {
    case TensorKind::kF16: return code == kF32 || (code == kF16 && a == Type::kF16);
    case TensorKind::kF8F6F4: return code == kF32 || code == kF16;
    case TensorKind::kI8: return code == kS32;
    default: return code == kF32;
  }
}

// PTX ISA 9.7.16.2.1, of dense factors.
bool has_shape(const program::TensorOperation& of, std::uint32_t m, std::uint32_t n) {
  if (n == 0 || n > 256) return false;
  const bool integers = of.kind == TensorKind::kI8;
  if (of.stationary) return (m == 32 || m == 64 || m == 128) && (n == 64 || n == 128 || n == 256);
  if (of.paired) return (m == 128 || m == 256) && n % (integers ? 32 : 16) == 0;
  if (is_scaled(of.kind)) return m == 128 && n % 8 == 0;
  if (m != 64 && m != 128) return false;
  if (integers) return n % 16 == 0 || (m == 64 && (n == 8 || n == 24));
  return n % (m == 64 ? 8 : 16) == 0;
}

}  // namespace

int TensorProduct::stored_bits() const {
  return packed                                                    ? 4
         : operation.a == Type::kTF32                              ? 32
         : operation.a == Type::kF16 || operation.a == Type::kBF16 ? 16
                                                                   : 8;
}

namespace {

constexpr int kLongCapability = 103, kLongK = 96;  // K = 96 of four-bit elements is of sm_103

// Decodes the fields for the position and type of scales, and for K.
std::string understand_scales(std::uint32_t bits, const program::TensorOperation& of,
                              int compute_capability, TensorProduct& product) {
  const bool packed = is_packed(of.kind), long_k = field(bits, 31, 1) != 0;
  if (long_k && (!packed || product.operation.sparse))
    return "names a K that this kind does not have";
  if (long_k && compute_capability != kLongCapability)
    return "asks for K = 96, which is of sm_103 alone";
  if (long_k) product.operation.shape.k = kLongK;
  product.ue4m3 = field(bits, 23, 1) == 0;
  product.scales = packed ? (long_k ? kLongK : 64) / of.scale_vector : 1;
  product.column_scale = static_cast<int>(field(bits, 4, 2));
  product.row_scale = static_cast<int>(field(bits, 29, 2));
  if (product.ue4m3 && of.kind != TensorKind::kMxF4NvF4)
    return "has scales of ue4m3, and this kind has them of ue8m0";
  if (product.ue4m3 && of.scale_vector == 32)
    return "has scales of ue4m3, and one scale for 32 elements is of ue8m0";
  // Three scales may start in any byte, six in an even one.
  const int step = !long_k ? product.scales : product.scales == 3 ? 1 : 2;
  if (product.row_scale % step != 0 || product.column_scale % step != 0)
    return "names bytes of scales where " + std::to_string(product.scales) +
           " cannot begin: " + std::to_string(product.row_scale) + " and " +
           std::to_string(product.column_scale);
  return {};
}

}  // namespace

std::string understand(std::uint32_t bits, const program::TensorOperation& of,
                       int compute_capability, TensorProduct& product) {
  const TensorKind kind = of.kind;
  product.packed = is_packed(kind);
  matrix::Operation& o = product.operation;
  o.sparse = field(bits, 2, 1) != 0;
  if (o.sparse && !of.sparse) return "says that A is sparse, and the instruction is not .sp";
  if (!o.sparse && of.sparse) return "says that A is dense, and the instruction is .sp";
  const bool scaled = is_scaled(kind);
  // With block scale the result is f32, and the bits of its type hold the position of B's scales.
  const std::uint32_t d = scaled ? 1 : field(bits, 4, 2), m = field(bits, 24, 5) * 16,
                      n = field(bits, 17, 6) * 8;
  o.a = factor_type(kind, field(bits, 7, 3));
  o.b = factor_type(kind, field(bits, 10, 3));
  if (o.a == Type::kNone || o.b == Type::kNone || (kind == TensorKind::kF16 && o.a != o.b))
    return "names types of factors that this kind does not multiply (" +
           std::to_string(field(bits, 7, 3)) + " and " + std::to_string(field(bits, 10, 3)) + ")";
  if (!has_result(kind, d, o.a))
    return "names a type of the result that this kind does not have (" + std::to_string(d) + ")";
  if (!has_shape(of, m, n))
    return "names a shape that this kind does not have: M = " + std::to_string(m) +
           ", N = " + std::to_string(n);
  o.d = o.c = d == 0 ? Type::kF16 : d == 1 ? Type::kF32 : Type::kS32;
  o.saturates = field(bits, 3, 1) != 0;
  if (o.saturates && kind != TensorKind::kI8)
    return "says that the result saturates, which is of integers alone";
  o.shape.m = static_cast<std::uint16_t>(m);
  o.shape.n = static_cast<std::uint16_t>(n);
  o.shape.k = static_cast<std::uint16_t>((o.sparse ? 512 : 256) / product.stored_bits());
  if (scaled) {
    if (std::string why = understand_scales(bits, of, compute_capability, product); !why.empty())
      return why;
  }
  // Which of two columns holds the metadata. The manual shows this only in figures; this code
  // follows JAX's Mosaic for GPUs.
  if (o.sparse && !scaled) {
    product.metadata_column = static_cast<int>(field(bits, 0, 2));
    if (product.metadata_column != 0 && kind != TensorKind::kF16 && kind != TensorKind::kTF32)
      return "has a sparsity selector, and that of this kind is 0";
    if (product.metadata_column > 1)
      return "has a sparsity selector of " + std::to_string(product.metadata_column) +
             ", and 0 and 1 name the columns of metadata";
  }
  if (of.shifts_a && m != 128 && m != 256) return "has an M of less than 128, and .ashift wants it";
  if (of.stationary && field(bits, 30, 2) != 0) product.farthest_column = 4 << field(bits, 30, 2);
  product.a_negated = field(bits, 13, 1) != 0;
  product.b_negated = field(bits, 14, 1) != 0;
  if ((product.a_negated || product.b_negated) && kind == TensorKind::kI8)
    return "negates a factor, which is not of integers";
  product.a_across = field(bits, 15, 1) != 0;
  product.b_across = field(bits, 16, 1) != 0;
  if (is_packed(kind) && (product.a_across || product.b_across))
    return "transposes a factor of a type that is stored along K alone";
  return {};
}

std::string understand(std::uint64_t bits, Descriptor& descriptor) {
  constexpr int kNone = 0, kWide = 1, k128 = 2, k64 = 4, k32 = 6;
  const auto at = [&](int first) {
    return static_cast<std::uint32_t>(bits >> first & 0x3fff) * 16;
  };
  descriptor = {.start = at(0),
                .leading = at(16),
                .stride = at(32),
                .base = static_cast<std::uint32_t>(bits >> 49 & 7),
                .absolute = (bits >> 52 & 1) != 0};
  if ((bits >> 46 & 7) != 1)
    return "has " + std::to_string(bits >> 46 & 7) +
           " in bits 46 to 48, where 1 must stand: one of Hopper has 0 there";
  switch (static_cast<int>(bits >> 61)) {
    case kNone: descriptor.swizzle = 0; return {};
    case k128: descriptor.swizzle = 128; return {};
    case k64: descriptor.swizzle = 64; return {};
    case k32: descriptor.swizzle = 32; return {};
    case kWide:
      descriptor.swizzle = 128;
      descriptor.wide = true;
      return {};
    default: return "names a swizzle that there is not (" + std::to_string(bits >> 61) + ")";
  }
}

std::string understand(std::uint64_t bits, bool across, int compute_capability,
                       Descriptor& descriptor) {
  if (std::string why = understand(bits, descriptor); !why.empty()) return why;
  if (descriptor.wide && !across)
    return "swizzles units of 32 bytes, which only a matrix has that is stored along M or N";
  if (!descriptor.absolute) return {};
  if (compute_capability != kLongCapability)
    return "has an absolute leading dimension, which is of sm_103 alone";
  if (across || descriptor.wide || descriptor.swizzle != 128 || descriptor.base != 0)
    return "has an absolute leading dimension, which is of matrices along K with a swizzle of 128 "
           "bytes and no base offset";
  return {};
}

void spread_narrow(std::uint64_t* elements, std::size_t count, Type type) {
  const int bits = type == Type::kE2M1 ? 4 : type == Type::kE2M3 || type == Type::kE3M2 ? 6 : 8;
  if (bits == 8) return;
  for (std::size_t first = 0; first + 16 <= count; first += 16) {
    std::uint64_t bytes[17] = {};
    std::copy_n(elements + first, 16, bytes);
    for (std::size_t e = 0; e < 16; ++e) {
      const std::size_t bit = e * static_cast<std::size_t>(bits);
      elements[first + e] =
          (bytes[bit / 8] | bytes[bit / 8 + 1] << 8) >> (bit % 8) & ((1u << bits) - 1);
    }
  }
}

}  // namespace lockstep::engine
