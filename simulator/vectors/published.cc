// Compares the simulated matrix units with dot products that others recorded on GPUs and published.
//
//   published FOLDER
//
// FOLDER/GPU/TYPE/ has text files, a row a product: a_GPU_TYPE.txt and b_GPU_TYPE.txt one row of A
// and one column of B as hexadecimal bits of binary32, c_GPU_fp32.txt the addend and
// d_GPU_fp32.txt, d_GPU_fp16.txt the result as binary digits of binary32. That is how Khattak and
// Mikaitis publish theirs (docs/reference/matrix.md). Prints a line for each file of results, and
// fails when a product differs or there is none.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "simulator/matrix/unit.h"

namespace {

using lockstep::isa::Type;
namespace fs = std::filesystem;

struct Gpu {
  const char* name;
  int compute_capability;
};
constexpr Gpu kGpus[] = {{"A100", 80}, {"Ada", 89},  {"L40S", 89},
                         {"H100", 90}, {"H200", 90}, {"B200", 100}};

struct Encoding {
  const char* name;
  Type type;
  int exponent_bits, fraction_bits, in_bits;  // in_bits: where the value begins in its register
};
constexpr Encoding kEncodings[] = {{"fp16", Type::kF16, 5, 10, 0},
                                   {"bf16", Type::kBF16, 8, 7, 0},
                                   {"tf32", Type::kTF32, 8, 10, 13},
                                   {"E4M3", Type::kE4M3, 4, 3, 0},
                                   {"E5M2", Type::kE5M2, 5, 2, 0}};

// A binary32 as an element of the type, to the nearest with ties to even; all factors are exact.
std::uint64_t encoded(std::uint32_t bits, const Encoding& e) {
  const auto value = static_cast<double>(std::bit_cast<float>(bits));
  const int bias = (1 << (e.exponent_bits - 1)) - 1;
  const std::uint64_t sign = std::uint64_t{bits >> 31} << (e.exponent_bits + e.fraction_bits);
  const double magnitude = std::fabs(value);
  std::uint64_t rest = 0;
  if (magnitude != 0) {
    int exponent = std::max(std::ilogb(magnitude), 1 - bias);
    const auto digits = static_cast<std::uint64_t>(
        std::nearbyint(std::ldexp(magnitude, e.fraction_bits - exponent)));
    // A carry goes on into the exponent; a subnormal has none.
    rest = (static_cast<std::uint64_t>(exponent + bias - 1) << e.fraction_bits) + digits;
  }
  return (sign | rest) << e.in_bits;
}

std::vector<std::vector<std::uint32_t>> rows_of(const fs::path& file, int base) {
  std::vector<std::vector<std::uint32_t>> rows;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::uint32_t>& row = rows.emplace_back();
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      std::uint32_t v = 0;
      std::from_chars(word.data(), word.data() + word.size(), v, base);
      row.push_back(v);
    }
    if (row.empty()) rows.pop_back();
  }
  return rows;
}

// For fp8 to f32, Hopper's rows are those of wgmma, which keeps 13 fraction bits, without the
// addend.
bool is_of_warpgroup(const Gpu& gpu, const Encoding& e, bool half) {
  return gpu.compute_capability == 90 && !half && (e.type == Type::kE4M3 || e.type == Type::kE5M2);
}

struct Count {
  std::size_t products = 0, differ = 0;
};

Count compare(const fs::path& folder, const Gpu& gpu, const Encoding& e, bool half) {
  const std::string of = std::string("_") + gpu.name + "_";
  const auto a = rows_of(folder / ("a" + of + e.name + ".txt"), 16),
             b = rows_of(folder / ("b" + of + e.name + ".txt"), 16),
             c = rows_of(folder / ("c" + of + "fp32.txt"), 2),
             d = rows_of(folder / ("d" + of + (half ? "fp16" : "fp32") + ".txt"), 2);
  Count count;
  for (std::size_t row = 0; row < d.size(); ++row) {
    if (row >= a.size() || row >= b.size() || row >= c.size() || a[row].size() != b[row].size())
      continue;
    lockstep::matrix::Operation o;
    o.d = o.c = half ? Type::kF16 : Type::kF32;
    o.a = o.b = e.type;
    o.shape = {1, 1, static_cast<std::uint16_t>(a[row].size())};
    o.compute_capability = gpu.compute_capability;
    std::vector<std::uint64_t> x, y;
    for (const std::uint32_t v : a[row]) x.push_back(encoded(v, e));
    for (const std::uint32_t v : b[row]) y.push_back(encoded(v, e));
    o.warpgroup = is_of_warpgroup(gpu, e, half);
    const std::uint64_t addend = o.warpgroup ? 0
                                 : half      ? encoded(c[row][0], kEncodings[0])
                                             : c[row][0],
                        wanted = half ? encoded(d[row][0], kEncodings[0]) : d[row][0];
    std::uint64_t result = 0;
    lockstep::matrix::multiply(o, x.data(), y.data(), &addend, nullptr, &result);
    ++count.products;
    count.differ += result != wanted;
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "published FOLDER: the folder with a folder for each GPU\n");
    return 2;
  }
  Count all;
  for (const Gpu& gpu : kGpus) {
    for (const Encoding& e : kEncodings) {
      for (const bool half : {false, true}) {
        const Count count = compare(fs::path(argv[1]) / gpu.name / e.name, gpu, e, half);
        if (count.products == 0) continue;
        std::printf("%-5s sm_%d  %s to %s: %zu products, %zu differ\n", gpu.name,
                    gpu.compute_capability, e.name, half ? "f16" : "f32", count.products,
                    count.differ);
        all.products += count.products;
        all.differ += count.differ;
      }
    }
  }
  std::printf("%zu products, %zu differ\n", all.products, all.differ);
  return all.products != 0 && all.differ == 0 ? 0 : 1;
}
