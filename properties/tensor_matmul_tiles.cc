#include "properties/tensor_matmul_tiles.h"

#include <vector>

#include "properties/contract_laws.h"

namespace lockstep::properties {

std::int64_t rows_of_tile(TensorMatmulPath path) {
  switch (path) {
    case TensorMatmulPath::kWmma: return 32;
    case TensorMatmulPath::kMma:
    case TensorMatmulPath::kWgmma: return 64;
    case TensorMatmulPath::kWgmmaCluster:
    case TensorMatmulPath::kWgmmaWide:
    case TensorMatmulPath::kTcgen05:
    case TensorMatmulPath::kTcgen05Ring: return 128;
    case TensorMatmulPath::kTcgen05Pair: break;
  }
  return 256;
}

void covers_more_tiles_than_blocks(const TensorMatmul& matmul, const TensorMatmulCase& c) {
  TensorMatmulCase tall = c;
  tall.n = tall.k = 1;
  switch (c.path) {
    case TensorMatmulPath::kWmma: tall.m = 1024 * 32 + 3; break;
    case TensorMatmulPath::kMma:
      tall.element = c.element == MatrixElement::kE4m3 ? c.element : MatrixElement::kF16;
      tall.m = 512 * 64 + 3;
      break;
    case TensorMatmulPath::kWgmma:
    case TensorMatmulPath::kWgmmaCluster:
    case TensorMatmulPath::kWgmmaWide:
      tall.path = TensorMatmulPath::kWgmma, tall.element = MatrixElement::kF16;
      tall.m = device_properties().sms * 2 * 64 + 3;
      break;
    case TensorMatmulPath::kTcgen05:
    case TensorMatmulPath::kTcgen05Ring:
    case TensorMatmulPath::kTcgen05Pair:
      tall.path = TensorMatmulPath::kTcgen05;
      tall.m = device_properties().sms * 8 * 128 + 3;
      break;
  }
  const Elements a = tall.a(), b = tall.b(), addend = tall.c();
  require_product(tall, tall.launch(matmul, a, b, addend), a, b, addend);
}

void covers_tiles_past_16_bits_by(const TensorMatmul& matmul, TensorMatmulPath path,
                                  MatrixElement element) {
  const std::int64_t tile = rows_of_tile(path), m = ((std::int64_t{1} << 16) + 1100) * tile + 3;
  const int factor_bytes = bytes_of(element), result_bytes = result_bytes_of(element);
  const auto bytes = [](std::uint64_t bits, int count, std::vector<unsigned char>& to) {
    for (int i = 0; i < count; ++i) to.push_back(static_cast<unsigned char>(bits >> 8 * i));
  };
  constexpr std::int64_t k = 1;
  const auto a_of = [](std::int64_t i) { return static_cast<double>(i % 7); };
  const auto c_of = [](std::int64_t i) { return static_cast<double>(i % 1021); };
  const auto repeated = [m](const std::vector<unsigned char>& once, int element_bytes) {
    std::vector<unsigned char> all;
    const auto size = static_cast<std::size_t>(m * element_bytes);
    while (all.size() < size) all.insert(all.end(), once.begin(), once.end());
    all.resize(size);
    return all;
  };
  std::vector<unsigned char> few_a, few_c, b;
  for (std::int64_t i = 0; i < 7 * 1021; ++i) {
    bytes(bits_of(element, a_of(i)), factor_bytes, few_a);
    bytes(result_bits_of(element, c_of(i)), result_bytes, few_c);
  }
  bytes(bits_of(element, 2), factor_bytes, b);
  const std::vector<unsigned char> a = repeated(few_a, factor_bytes),
                                   c = repeated(few_c, result_bytes);
  const auto array = [](const char* name, const std::vector<unsigned char>& contents) {
    return DeviceArray<unsigned char>::input(name, contents, {});
  };
  const auto da = array("a", a), db = array("b", b), dc = array("c", c);
  const auto dd = DeviceArray<unsigned char>::output("d", c.size(), {});
  const auto launch = [&](cudaStream_t stream) {
    const auto status = matmul(path, element, {da.data(), m, k, 1}, {db.data(), 1, k, 1},
                               {dc.data(), m, 1, 1}, {dd.data(), m, 1, 1}, stream);
    return Answer{status.error, status.message, status.of_cuda};
  };
  const properties::Stream stream;
  // If the device determines a path's grid, it has almost as many blocks, or clusters, as tiles:
  // the blocks that run have few tiles each.
  const OtherProperty wide(cudaDevAttrMultiProcessorCount, 2 << 16);
  std::int64_t units = 0;  // blocks, or clusters
  {
    const Captured captured(stream, cudaStreamCaptureModeRelaxed, launch);
    REQUIRE_CUDA(captured.answer());
    for (const LaunchedGrid& grid : captured.grids()) units = grid.blocks / grid.cluster;
  }
  {
    const SampledBlocks sampled(2);
    REQUIRE_CUDA(launch(stream));
    stream.synchronise();
  }
  const std::vector<unsigned char> d = dd.fetch();
  for (std::int64_t i = 0; i < m; ++i) {
    const std::int64_t taken_by = i / tile % units;
    if (is_simulator() && taken_by != 0 && taken_by != units - 1) continue;
    std::uint64_t bits = 0;
    for (int byte = 0; byte < result_bytes; ++byte)
      bits |= std::uint64_t{d[static_cast<std::size_t>(i * result_bytes + byte)]} << 8 * byte;
    const double is = result_of(element, bits), wanted = c_of(i) + 2 * a_of(i);
    REQUIRE_LAW(is == wanted, "path {}, element {}: D[{}] in tile {} is {}, not {}", int(path),
                int(element), i, i / tile, is, wanted);
  }
}

}  // namespace lockstep::properties
