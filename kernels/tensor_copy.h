// Copies between global and shared memory by the Tensor Memory Accelerator, visible byte by byte.
//
// A tensor of 1 to 5 dimensions lies in global memory. A tensor copy moves a box of it to the
// shared memory of a block, or back. An image is that shared memory from a multiple of 1024 bytes:
// the copy begins shape.to bytes into the image, and the image ends 128 bytes or more after the
// copy. An image thus shows swizzles, the gaps between rows and the bytes that a copy must not
// write.
//
// The source of each byte is exact: golden/tensor_maps holds results of an H100,
// reference/tensor_copy.h the rules.
//
// Compute capability 9.0 and later. On other devices the launchers return the error of CUDA's
// launch.
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
enum class TensorFill : std::uint8_t { kZeros, kNaN };  // of elements outside of the tensor
enum class TensorReduction : std::uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor };

// The value of each byte of shared memory before a load.
inline constexpr unsigned char kTensorBackground = 0xb7;
// The most bytes of an image.
inline constexpr std::int64_t kMostTensorImageBytes = 160 << 10;

// A tensor, and the part of it that one copy moves. Dimensions are counted from the innermost;
// those beyond the rank are ignored.
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
      1};  // distance of copied elements, 1 ... 8 elements; steps[0] applies to slices alone
  TensorInterleave interleave = TensorInterleave::kNone;
  TensorSwizzle swizzle = TensorSwizzle::kNone;  // with slices of 32 bytes: k32
  TensorFill fill = TensorFill::kZeros;          // kNaN: for floating-point types only

  // elements, 1 ... 256. box[0] elements are a multiple of 16 bytes, and at most as many bytes as
  // the swizzle spans unless there is interleaving.
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

  int to = 0;                   // place in shared memory: a multiple of 128 below 1024
  int block = 128;              // threads, 1 ... 1024
  int max_blocks = 0x7fffffff;  // at least 1; a block makes several copies, one after the other, if
                                // there are more copies
};

// Bytes of an image, a multiple of 128. The shape must be legal.
std::int64_t tensor_image_bytes(const TensorShape& shape);
// Bytes that one copy moves, and with which its mbarrier completes. The shape must be legal.
std::int64_t tensor_copied_bytes(const TensorShape& shape);
// Bytes of memory from the tensor's first byte: whole units of 16 bytes (slices) along the
// innermost dimension, which stores and reductions write as a whole. The shape must be legal.
std::int64_t tensor_memory_bytes(const TensorShape& shape);

// Makes `count` copies. tensor: device memory, tensor_memory_bytes() of it, aligned to 16 bytes (32
// with slices of 32). at: five coordinates per copy, innermost first, of which the first `rank` are
// used. images: tensor_image_bytes() per copy, one after the other, aligned to 16 bytes. count >=
// 0; with 0 nothing is launched, and arrays may be null. Tensor and images do not overlap, nor a
// tensor that is written and `at`; nor images that are written and `at`, whose values are not
// checked.
//
// Coordinates, which no launcher checks: the innermost one is a multiple of 16 bytes without
// interleaving; im2col begins in the box of pixels. A load may begin anywhere else; a store or a
// reduction begins in no dimension before the tensor. Other coordinates are an illegal instruction.
//
// Errors: cudaErrorInvalidValue for arguments outside these, otherwise the error that CUDA
// returned.

// images[i] = shared memory after a load at at[i].
LaunchStatus tensor_load(const TensorShape& shape, const unsigned char* tensor,
                         const std::int32_t* at, std::int64_t count, unsigned char* images,
                         cudaStream_t stream = nullptr);

// The same, loaded once for all blocks of a cluster of `cluster` (2, 4 or 8) blocks by one of them,
// by the next block for the next copy. images has one image of each block in the order of their
// ranks, then those of the next copy.
LaunchStatus tensor_multicast(const TensorShape& shape, int cluster, const unsigned char* tensor,
                              const std::int32_t* at, std::int64_t count, unsigned char* images,
                              cudaStream_t stream = nullptr);

// Stores from shared memory that holds images[i] to at[i]. No two copies write the same bytes. With
// im2col: lower >= 0, upper <= 0.
LaunchStatus tensor_store(const TensorShape& shape, unsigned char* tensor, const std::int32_t* at,
                          std::int64_t count, const unsigned char* images,
                          cudaStream_t stream = nullptr);

// tensor = tensor op image, element by element, atomically; copies may overlap. Not with im2col.
// kAdd: not for kF64; kMin, kMax: not for kF32 and kF64; kAnd, kOr, kXor: for kU32, kS32 and kU64.
LaunchStatus tensor_reduce(TensorReduction reduction, const TensorShape& shape,
                           unsigned char* tensor, const std::int32_t* at, std::int64_t count,
                           const unsigned char* images, cudaStream_t stream = nullptr);

// Whether tensor_load would accept these arguments; launches nothing. For kernels with the same
// contract and another implementation; likewise the other checks.
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
// Makes the map of a tensor with the driver.
LaunchStatus make_tensor_map(const TensorShape& shape, const void* tensor, CUtensorMap_st& map);

// The launchers of the family as one value, so that another kernel can replace any of them.
struct TensorCopyLaunchers {
  decltype(kernels::tensor_load)* load = kernels::tensor_load;
  decltype(kernels::tensor_multicast)* multicast = kernels::tensor_multicast;
  decltype(kernels::tensor_store)* store = kernels::tensor_store;
  decltype(kernels::tensor_reduce)* reduce = kernels::tensor_reduce;
};

}  // namespace lockstep::kernels
