// cuTensorMapEncodeTiled, ...Im2col, ...Im2colWide, cuTensorMapReplaceAddress. They refuse the same
// maps as a driver, with its error (golden/tensor_maps), and print the reason on stderr. Encoding
// requires a current context, as on an H100: a thread that has done no work has none.
#include <cuda.h>

#include <cstddef>
#include <string>

#include "simulator/driver/call.h"
#include "simulator/memory/tensor_map.h"

using namespace lockstep::driver;
using lockstep::memory::TensorMap;
namespace memory = lockstep::memory;

namespace {

CUresult refuse(const char* function, const std::string& why) {
  Runtime::get().explain(function, why);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult finish(const char* function, const TensorMap& map, CUtensorMap* to) {
  const int sm = Runtime::get().settings.profile->compute_capability();
  if (const std::string why = memory::refusal(map, sm); !why.empty()) return refuse(function, why);
  memory::encode(map, reinterpret_cast<std::byte*>(to));
  return CUDA_SUCCESS;
}

// The members that both kinds of map share. The arrays have `rank` elements.
TensorMap tensor(CUtensorMapDataType type, cuuint32_t rank, void* address, const cuuint64_t* sizes,
                 const cuuint64_t* strides, const cuuint32_t* steps,
                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  TensorMap m;
  m.type = static_cast<std::int32_t>(type);
  m.interleave = static_cast<std::int32_t>(interleave);
  m.swizzle = static_cast<std::int32_t>(swizzle);
  if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B) {  // drivers have no value for 96 bytes
    m.swizzle = static_cast<std::int32_t>(CU_TENSOR_MAP_SWIZZLE_128B);
    m.atom = static_cast<std::int32_t>(swizzle) - m.swizzle;
  }
  m.promotion = static_cast<std::int32_t>(promotion);
  m.fill = static_cast<std::int32_t>(fill);
  m.rank = rank;
  m.address = reinterpret_cast<std::uint64_t>(address);
  for (cuuint32_t d = 0; d < rank && d < TensorMap::kMostDimensions; ++d) {
    m.sizes[d] = sizes[d];
    m.steps[d] = steps[d];
    if (d + 1 < rank) m.strides[d] = strides[d];
  }
  return m;
}

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  constexpr const char* kName = "cuTensorMapEncodeTiled";
  return call(kName, Needs::kContext, [&] {
    if (map == nullptr || sizes == nullptr || (strides == nullptr && rank > 1) || box == nullptr ||
        steps == nullptr)
      return refuse(kName, "a pointer is null");
    TensorMap m =
        tensor(type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill);
    for (cuuint32_t d = 0; d < rank && d < TensorMap::kMostDimensions; ++d) m.box[d] = box[d];
    return finish(kName, m, map);
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  constexpr const char* kName = "cuTensorMapEncodeIm2col";
  return call(kName, Needs::kContext, [&] {
    if (map == nullptr || sizes == nullptr || strides == nullptr || lower == nullptr ||
        upper == nullptr || steps == nullptr) {
      return refuse(kName, "a pointer is null");
    }
    TensorMap m =
        tensor(type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill);
    m.im2col = true;
    m.channels = channels;
    m.pixels = pixels;
    for (cuuint32_t d = 0; d + 2 < rank && d < 3; ++d) {
      m.lower[d] = lower[d];
      m.upper[d] = upper[d];
    }
    return finish(kName, m, map);
  });
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                     void* address, const cuuint64_t* sizes,
                                     const cuuint64_t* strides, int lower, int upper,
                                     cuuint32_t channels, cuuint32_t pixels,
                                     const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill) {
  constexpr const char* kName = "cuTensorMapEncodeIm2colWide";
  return call(kName, Needs::kContext, [&] {
    if (Runtime::get().settings.profile->compute_capability() < 100) {
      Runtime::get().explain(kName, "needs a device of compute capability 10.0");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (map == nullptr || sizes == nullptr || strides == nullptr || steps == nullptr)
      return refuse(kName, "a pointer is null");
    if (mode != CU_TENSOR_MAP_IM2COL_WIDE_MODE_W && mode != CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128)
      return refuse(kName, "the mode is none of CUtensorMapIm2ColWideMode");
    TensorMap m =
        tensor(type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill);
    m.im2col = true;
    m.wide = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W ? 1 : 2;
    m.channels = channels;
    m.pixels = pixels;
    m.lower[0] = lower;
    m.upper[0] = upper;
    return finish(kName, m, map);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  constexpr const char* kName = "cuTensorMapReplaceAddress";
  if (map == nullptr) return refuse(kName, "a pointer is null");
  std::optional<TensorMap> m = memory::decode(reinterpret_cast<const std::byte*>(map));
  if (!m) return refuse(kName, "the 128 bytes are no tensor map");
  m->address = reinterpret_cast<std::uint64_t>(address);
  return finish(kName, *m, map);
}

}  // extern "C"
