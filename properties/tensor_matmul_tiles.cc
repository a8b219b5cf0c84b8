#include "properties/tensor_matmul_tiles.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "harness/device/sparse_array.h"
#include "properties/contract_laws.h"
#include "properties/streams.h"

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
  // The grids of wgmma and of tcgen05 depend on the number of multiprocessors.
  std::optional<OtherProperty> few;
  constexpr int kFew = 8;
  int sms = device_properties().sms;
  if (c.path >= TensorMatmulPath::kWgmma && is_simulator() && may_reduce())
    few.emplace(cudaDevAttrMultiProcessorCount, sms = kFew);
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
      tall.m = sms * 2 * 64 + 3;
      break;
    case TensorMatmulPath::kTcgen05:
    case TensorMatmulPath::kTcgen05Ring:
    case TensorMatmulPath::kTcgen05Pair:
      tall.path = TensorMatmulPath::kTcgen05;
      tall.m = sms * 8 * 128 + 3;
      break;
  }
  const Elements a = tall.a(), b = tall.b(), addend = tall.c();
  require_product(tall, tall.launch(matmul, a, b, addend), a, b, addend);
}

namespace {

// Small integers, whose sums are exact: A and C of a row, and B.
double a_of(std::int64_t row) { return static_cast<double>(row % 7); }
double c_of(std::int64_t row) { return static_cast<double>(row % 1021); }
constexpr double kFactor = 2;

struct Rows {
  std::int64_t from, to;
};

// The rows of the tiles of the first and the last unit. On silicon, which executes the whole grid,
// all rows.
std::vector<Rows> rows_of_both_ends(std::int64_t m, std::int64_t tile, std::int64_t units) {
  if (!is_simulator()) return {{0, m}};
  std::vector<Rows> rows;
  const std::int64_t tiles = (m + tile - 1) / tile;
  for (std::int64_t t = 0; t < tiles; ++t) {
    if (t % units == 0 || t % units == units - 1)
      rows.push_back({t * tile, std::min(m, (t + 1) * tile)});
  }
  return rows;
}

// A column of elements. Laws access a few of its rows.
class Column {
 public:
  // `bits` returns the element of a row.
  Column(const char* name, std::int64_t rows, int element_bytes,
         std::function<std::uint64_t(std::int64_t)> bits)
      : memory_(name, static_cast<std::size_t>(rows * element_bytes)),
        element_bytes_(element_bytes),
        bits_(std::move(bits)) {}

  unsigned char* data() const { return memory_.data(); }
  void write(const Rows& rows) { memory_.write(at(rows), contents(rows)); }
  void poison(const Rows& rows) { memory_.fill(at(rows), size(rows)); }
  // Whether these rows hold what write() writes.
  bool holds(const Rows& rows) const {
    return memory_.read(at(rows), size(rows)) == contents(rows);
  }
  // The element of a row, from the bytes of the rows from `first` on.
  std::uint64_t bits_in(const std::vector<unsigned char>& bytes, std::int64_t index) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + index * element_bytes_, element_bytes_);
    return bits;
  }
  std::vector<unsigned char> read(const Rows& rows) const {
    return memory_.read(at(rows), size(rows));
  }

 private:
  std::size_t at(const Rows& rows) const { return rows.from * element_bytes_; }
  std::size_t size(const Rows& rows) const { return (rows.to - rows.from) * element_bytes_; }
  std::vector<unsigned char> contents(const Rows& rows) const {
    std::vector<unsigned char> bytes(size(rows));
    for (std::int64_t i = rows.from; i < rows.to; ++i) {
      const std::uint64_t bits = bits_(i);
      std::memcpy(bytes.data() + (i - rows.from) * element_bytes_, &bits, element_bytes_);
    }
    return bytes;
  }

  SparseArray memory_;
  int element_bytes_;
  std::function<std::uint64_t(std::int64_t)> bits_;
};

}  // namespace

void covers_tiles_past_16_bits_by(const TensorMatmul& matmul, TensorMatmulPath path,
                                  MatrixElement element) {
  const std::int64_t tile = rows_of_tile(path), m = ((std::int64_t{1} << 16) + 1100) * tile + 3;
  constexpr std::int64_t k = 1;
  const int factor_bytes = bytes_of(element), result_bytes = result_bytes_of(element);
  const auto factor = [element](double value) { return bits_of(element, value); };
  const auto result = [element](double value) { return result_bits_of(element, value); };
  Column a("a", m, factor_bytes, [&](std::int64_t i) { return factor(a_of(i)); });
  Column b("b", 1, factor_bytes, [&](std::int64_t) { return factor(kFactor); });
  Column c("c", m, result_bytes, [&](std::int64_t i) { return result(c_of(i)); });
  Column d("d", m, result_bytes,
           [&](std::int64_t i) { return result(c_of(i) + kFactor * a_of(i)); });
  const auto launch = [&](cudaStream_t stream) {
    const auto status = matmul(path, element, {a.data(), m, k, 1}, {b.data(), 1, k, 1},
                               {c.data(), m, 1, 1}, {d.data(), m, 1, 1}, stream);
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
  REQUIRE_LAW(units > 0, "path {}, element {}: nothing is launched", int(path), int(element));
  const std::vector<Rows> accessed = rows_of_both_ends(m, tile, units);
  b.write({0, 1});
  for (const Rows& rows : accessed) a.write(rows), c.write(rows), d.poison(rows);
  {
    const SampledBlocks sampled(2);
    REQUIRE_CUDA(launch(stream));
    stream.synchronise();
  }
  for (const Rows& rows : accessed) {
    REQUIRE_LAW(a.holds(rows) && c.holds(rows), "path {}, element {}: A or C was changed",
                int(path), int(element));
    const std::vector<unsigned char> bytes = d.read(rows);
    for (std::int64_t i = rows.from; i < rows.to; ++i) {
      const double is = result_of(element, d.bits_in(bytes, i - rows.from)),
                   wanted = c_of(i) + kFactor * a_of(i);
      REQUIRE_LAW(is == wanted, "path {}, element {}: D[{}] in tile {} is {}, not {}", int(path),
                  int(element), i, i / tile, is, wanted);
    }
  }
  REQUIRE_LAW(b.holds({0, 1}), "path {}, element {}: B was changed", int(path), int(element));
}

}  // namespace lockstep::properties
