#include "properties/matrix_unit_calls.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/device/device.h"
#include "properties/contract_laws.h"

namespace lockstep::properties {
namespace {

using kernels::MatrixForm;

constexpr int kMostTiles = 1 << 20;

// The forms of the current device, mma's first.
std::vector<const MatrixForm*> forms_here() {
  const DeviceProperties& device = device_properties();
  const int capability = 10 * device.major + device.minor;
  std::vector<const MatrixForm*> forms;
  for (const MatrixForm& form : kernels::mma_forms()) {
    if (form.capability <= capability) forms.push_back(&form);
  }
  for (const MatrixForm& form : kernels::wgmma_forms()) {
    if (form.capability == capability) forms.push_back(&form);
  }
  return forms;
}

struct LaunchedTilesCase {
  int form = 0;  // modulo the number of the device's forms
  int tiles = 0;
  int a_offset = 0, b_offset = 0, c_offset = 0,
      d_offset = 0;  // in units of 16 bytes past a 256-byte boundary
  Poison poison = Poison::kNaN;
  std::uint64_t seed = 0;

  static void fields(LaunchedTilesCase& c, FieldVisitor& field) {
    field("form", c.form, range(0, 999));
    field("tiles", c.tiles, one_of({1, 2, 3, 0, 5, 17}));
    field("a_offset", c.a_offset, range(0, 7));
    field("b_offset", c.b_offset, range(0, 7));
    field("c_offset", c.c_offset, range(0, 7));
    field("d_offset", c.d_offset, range(0, 7));
    field("poison", c.poison, poisons());
    field("seed", c.seed, seeds());
  }
  const MatrixForm& matrix_form() const {
    const std::vector<const MatrixForm*> forms = forms_here();
    return *forms[static_cast<std::size_t>(form) % forms.size()];
  }
  // The bits of small positive numbers in every type. No factor is NaN or infinite, because such a
  // result may not be unique.
  std::vector<std::uint32_t> words(std::int64_t count, std::uint64_t which) const {
    std::vector<std::uint32_t> all(count);
    Bits bits(mix(seed ^ which));
    for (std::uint32_t& word : all) word = static_cast<std::uint32_t>(bits.next()) & 0x37373737u;
    return all;
  }
};

Call<MatrixUnitLaunchers> multiply_call(const LaunchedTilesCase& c) {
  constexpr std::int64_t kWord = sizeof(std::uint32_t), kPieceWords = 4;
  const MatrixForm& form = c.matrix_form();
  Call<MatrixUnitLaunchers> call("multiply_tiles");
  auto& [handed_form, a, b, addend, d, tiles] = call.arguments(
      &MatrixUnitLaunchers::multiply, form, nullptr, nullptr, nullptr, nullptr, c.tiles);
  call.integer("tiles", {0, kMostTiles}, tiles);
  const auto footprint = [&](int tile_bytes) {
    return Footprint{.count = c.tiles * tile_bytes / kWord, .alignment = 16};
  };
  const auto input = [&](const char* name, const void*& at, int tile_bytes, int offset) {
    const std::int64_t count = footprint(tile_bytes).count;
    call.input(name, at, footprint(tile_bytes), {static_cast<int>(kPieceWords) * offset, c.poison},
               [c, count, which = std::uint64_t{static_cast<unsigned char>(*name)}] {
                 return c.words(count, which);
               });
  };
  input("a", a, form.a_bytes(), c.a_offset);
  input("b", b, form.b_bytes(), c.b_offset);
  input("c", addend, form.d_bytes(), c.c_offset);
  call.output<std::uint32_t>("d", d, footprint(form.d_bytes()),
                             {static_cast<int>(kPieceWords) * c.d_offset, c.poison});
  call.apart("a", "d");
  call.apart("b", "d");
  call.apart("c", "d");
  // One warp, or warpgroup, per tile.
  call.grid({.threads = form.m == 64 ? 128 : 32, .least_blocks = c.tiles, .most_blocks = c.tiles});
  call.lengthens("tiles", 1, kMostTiles,
                 {{"a", form.a_bytes() / kWord},
                  {"b", form.b_bytes() / kWord},
                  {"c", form.d_bytes() / kWord},
                  {"d", form.d_bytes() / kWord}});
  if (c.tiles > 0)
    call.mistake("form_without_launcher", [&handed_form] { handed_form.launch = nullptr; });
  return call;
}

}  // namespace

Laws<MatrixUnitLaunchers> matrix_unit_launch_laws() {
  return with_batteries<multiply_call, LaunchedTilesCase, Arrays::kContiguous, kSaysLengths>({
      no_work_law<multiply_call, LaunchedTilesCase, &LaunchedTilesCase::tiles>(
          "LaunchesNothingForNoWork", {.cases = 20, .cost = 4}),
      refusal_law<multiply_call, LaunchedTilesCase>("RefusesBadArguments",
                                                    {.cases = 40, .cost = 4}),
  });
}

}  // namespace lockstep::properties
