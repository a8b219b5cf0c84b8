// Fills with elements of one, two and four bytes.
#include "simulator/driver/call.h"
#include "simulator/runtime/graph/put.h"
#include "simulator/runtime/work/work.h"

using namespace lockstep::driver;
using lockstep::runtime::Call;
using lockstep::runtime::check_fill;
using lockstep::runtime::FillWork;
using lockstep::runtime::put;

namespace {

CUresult fill(const Call& how, CUdeviceptr to, std::size_t pitch, unsigned value,
              unsigned element_bytes, std::size_t width, std::size_t height, CUstream stream) {
  return locked(how.name, needs_of(stream), [&](Runtime& r, Device& d) {
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    FillWork work;
    work.rows = {pointer(to), height == 1 ? width * element_bytes : pitch,
                 value,       element_bytes,
                 width,       height};
    if (const cudaError_t error = check_fill(r, how.name, work); error != cudaSuccess)
      return result_of(error);
    return result_of(put(r, d, how, stream, work));
  });
}

CUresult fill(const Call& how, CUdeviceptr to, unsigned value, unsigned element_bytes,
              std::size_t count, CUstream stream) {
  return fill(how, to, 0, value, element_bytes, count, 1, stream);
}

}  // namespace

extern "C" {

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill(Call::blocking("cuMemsetD8"), to, value, 1, count, nullptr);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill(Call::blocking("cuMemsetD16"), to, value, 2, count, nullptr);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill(Call::blocking("cuMemsetD32"), to, value, 4, count, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill(Call::async("cuMemsetD8Async"), to, value, 1, count, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return fill(Call::async("cuMemsetD16Async"), to, value, 2, count, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return fill(Call::async("cuMemsetD32Async"), to, value, 4, count, stream);
}

CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
  return fill(Call::blocking("cuMemsetD2D8"), to, pitch, value, 1, width, height, nullptr);
}
CUresult cuMemsetD2D16(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height) {
  return fill(Call::blocking("cuMemsetD2D16"), to, pitch, value, 2, width, height, nullptr);
}
CUresult cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height) {
  return fill(Call::blocking("cuMemsetD2D32"), to, pitch, value, 4, width, height, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return fill(Call::async("cuMemsetD2D8Async"), to, pitch, value, 1, width, height, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return fill(Call::async("cuMemsetD2D16Async"), to, pitch, value, 2, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return fill(Call::async("cuMemsetD2D32Async"), to, pitch, value, 4, width, height, stream);
}

}  // extern "C"
