// Copies between global and shared memory by the Tensor Memory Accelerator, seen byte by byte.
//
// A tensor of 1 to 5 dimensions lies in global memory. A tensor copy moves a box of it to the
// shared memory of a block, or back. An image is that shared memory from a multiple of 1024 bytes:
// the copy's place begins shape.to bytes into it, and it ends 128 bytes or more after the copy. So
// swizzles, the gaps between rows and what a copy must leave alone are all visible.
//
// Where each byte comes from is exact: golden/tensor_maps has an H100's answers,
// reference/tensor_copy.h the rules.
//
// Compute capability 9.0 and later. Elsewhere the launchers return what CUDA does of the launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

struct CUtensorMap_st;  // cuda.h

namespace lockstep::kernels {

enum class TensorElement : std::uint8_t { kU8, kU16, kU32, kS32, kU64, kF16, kBF16, kF32, kF64 };
enum class TensorSwizzle : std::uint8_t {
  kNone,
  k32,
  k64,
  k128
};  // bytes of a row that are permuted in pieces of 16
enum class TensorInterleave : std::uint8_t { kNone, k16, k32 };  // bytes of a slice of channels
enum class TensorFill : std::uint8_t { kZeros, kNaN };  // of what lies outside of the tensor
enum class TensorReduction : std::uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor };

// What each byte of shared memory holds before a load.
inline constexpr unsigned char kTensorBackground = 0xb7;
// An image has at most so many bytes.
inline constexpr std::int64_t kMostTensorImageBytes = 160 << 10;

// The tensor, and what of it one copy moves. Dimensions are counted from the innermost; what is
// beyond the rank is not looked at.
struct TensorShape {
  TensorElement element = TensorElement::kU32;
  int rank = 1;  // 1 ... 5; 3 ... 5 where there is interleaving or im2col
  std::int64_t sizes[5] = {1, 1, 1, 1,
                           1};  // elements, 1 ... 2^32; interleaved, sizes[0] counts slices
  std::int64_t strides[4] = {
      // Bytes of one step in dimension d + 1: below 2^40, a multiple of 16 (of 32 with slices of 32
      // bytes), and no less than the dimensions below it take.
      16, 16, 16, 16};
  int steps[5] = {
      1, 1, 1, 1,
      1};  // every so manieth element is copied, 1 ... 8; steps[0] counts for slices alone
  TensorInterleave interleave = TensorInterleave::kNone;
  TensorSwizzle swizzle = TensorSwizzle::kNone;  // with slices of 32 bytes: k32
  TensorFill fill = TensorFill::kZeros;          // kNaN: of the floating-point types alone

  // elements, 1 ... 256. box[0] elements are a multiple of 16 bytes, and no more than what is
  // swizzled unless there is interleaving.
  int box[5] = {4, 1, 1, 1, 1};

  // In place of the box: columns of `pixels` pixels of `channels` elements. In spatial dimension s
  // the pixels go from lower[s] to sizes[s + 1] + upper[s], the end excluded. The next image
  // follows. No interleaving.
  bool im2col = false;
  // For one, two or three spatial dimensions -32768 ... 32767, -128 ... 127 or -16 ... 15
  // (cuTensorMapEncodeIm2col).
  int lower[3] = {}, upper[3] = {};
  int offsets[3] = {};  // added to every pixel's coordinate, 0 ... 65535, 255, 31; loads alone
  int channels = 4;     // 1 ... 256; a multiple of 16 bytes, as box[0]
  int pixels = 1;       // 1 ... 1024

  int to = 0;       // place in shared memory: a multiple of 128 below 1024
  int block = 128;  // threads, 1 ... 1024
  int max_blocks =
      0x7fffffff;  // at least 1; a block makes one copy after another where there are more
};

// Bytes of an image, a multiple of 128. Of a legal shape.
std::int64_t tensor_image_bytes(const TensorShape& shape);
// Bytes that one copy moves: what completes on its mbarrier. Of a legal shape.
std::int64_t tensor_copied_bytes(const TensorShape& shape);
// Bytes of memory from the tensor's first byte: whole pieces of 16 bytes (slices) along the
// innermost dimension, which stores and reductions write as wholes. Of a legal shape.
std::int64_t tensor_memory_bytes(const TensorShape& shape);

// `count` copies. tensor: device memory, tensor_memory_bytes() of it, aligned to 16 bytes (32 with
// slices of 32). at: five coordinates a copy, innermost first, of which the first `rank` count.
// images: tensor_image_bytes() a copy, one after the other, aligned to 16 bytes. count >= 0; with 0
// nothing is launched, and arrays may be null. Tensor and images do not overlap, nor a tensor that
// is written and `at`; nor images that are written and `at`, which is not looked at.
//
// Coordinates, which no launcher looks at: the innermost one is a multiple of 16 bytes where
// nothing is interleaved; im2col begins in the box of pixels. A load's may lie anywhere else; a
// store or a reduction begins in no dimension before the tensor. Others are an illegal instruction.
//
// Errors: cudaErrorInvalidValue for arguments outside these, else what CUDA returned.

// images[i] = shared memory after a load at at[i].
LaunchStatus tensor_load(const TensorShape& shape, const unsigned char* tensor,
                         const std::int32_t* at, std::int64_t count, unsigned char* images,
                         cudaStream_t stream = nullptr);

// The same, loaded once for all blocks of a cluster of `cluster` (2, 4 or 8) by one of them, the
// next for every copy. images has one of each block in the order of their ranks, then those of the
// next copy.
LaunchStatus tensor_multicast(const TensorShape& shape, int cluster, const unsigned char* tensor,
                              const std::int32_t* at, std::int64_t count, unsigned char* images,
                              cudaStream_t stream = nullptr);

// Stores from shared memory that holds images[i] to at[i]. No two copies write the same bytes. Of
// im2col: lower >= 0, upper <= 0.
LaunchStatus tensor_store(const TensorShape& shape, unsigned char* tensor, const std::int32_t* at,
                          std::int64_t count, const unsigned char* images,
                          cudaStream_t stream = nullptr);

// tensor = tensor op image, element by element, atomically; copies may meet. Not with im2col. kAdd:
// not of kF64; kMin, kMax: not of kF32 and kF64; kAnd, kOr, kXor: of kU32, kS32 and kU64.
LaunchStatus tensor_reduce(TensorReduction reduction, const TensorShape& shape,
                           unsigned char* tensor, const std::int32_t* at, std::int64_t count,
                           const unsigned char* images, cudaStream_t stream = nullptr);

// Whether tensor_load would take these arguments; launches nothing. For kernels that keep its
// contract in another way; likewise of the others.
LaunchStatus check_tensor_load(const TensorShape& shape, const unsigned char* tensor,
                               const std::int32_t* at, std::int64_t count,
                               const unsigned char* images);
LaunchStatus check_tensor_multicast(const TensorShape& shape, int cluster,
                                    const unsigned char* tensor, const std::int32_t* at,
                                    std::int64_t count, const unsigned char* images);
LaunchStatus check_tensor_store(const TensorShape& shape, const unsigned char* tensor,
                                const std::int32_t* at, std::int64_t count,
                                const unsigned char* images);
LaunchStatus check_tensor_reduce(TensorReduction reduction, const TensorShape& shape,
                                 const unsigned char* tensor, const std::int32_t* at,
                                 std::int64_t count, const unsigned char* images);
// The map of a tensor, from the driver.
LaunchStatus make_tensor_map(const TensorShape& shape, const void* tensor, CUtensorMap_st& map);

// The family as one value, so that another kernel can stand in the place of any of them.
struct TensorCopyLaunchers {
  decltype(kernels::tensor_load)* load = kernels::tensor_load;
  decltype(kernels::tensor_multicast)* multicast = kernels::tensor_multicast;
  decltype(kernels::tensor_store)* store = kernels::tensor_store;
  decltype(kernels::tensor_reduce)* reduce = kernels::tensor_reduce;
};

}  // namespace lockstep::kernels
