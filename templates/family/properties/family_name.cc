#include "properties/family_name.h"

#include <algorithm>
#include <limits>

#include "harness/refusal.h"
#include "properties/no_launch.h"
#include "reference/family_name.h"

namespace lockstep::properties {
namespace {

using kernels::FamilyNameShape;

FamilyNameShape shape_of(const FamilyNameCase& c) { return {.block = c.block, .max_blocks = c.max_blocks}; }

}  // namespace

void FamilyNameCase::fields(FamilyNameCase& c, FieldVisitor& field) { fields_of(c, field, 1 << 17); }

void FamilyNameCase::fields_of(FamilyNameCase& c, FieldVisitor& field, std::int64_t most) {
    field("n", c.n, sizes(0, most));
    field("block", c.block, one_of<int>({32, 64, 128, 256, 512, 1024, 96, 1, 2, 3, 31, 33, 1000}));
    field("max_blocks", c.max_blocks, choice<int>({{"unlimited", kUnlimited}, {"1", 1}, {"2", 2}, {"5", 5}}));
    field("x_offset", c.x_offset, range(0, 31));
    field("y_offset", c.y_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values,
          values_of({ValueKind::kSmallIntegers, ValueKind::kIndex, ValueKind::kUniform, ValueKind::kMixed,
                     ValueKind::kWide, ValueKind::kSpecial}));
  }

void ScheduledFamilyNameCase::fields(ScheduledFamilyNameCase& c, FieldVisitor& field) { fields_of(c, field, 1 << 11); }

void RefusedFamilyNameCase::fields(RefusedFamilyNameCase& c, FieldVisitor& field) {
    using enum Mistake;
    fields_of(c, field, 1 << 10);
    field("mistake", c.mistake,
          choice<Mistake>({{"negative_size", kNegativeSize},
                           {"huge_size", kHugeSize},
                           {"no_threads", kNoThreads},
                           {"too_many_threads", kTooManyThreads},
                           {"no_blocks", kNoBlocks},
                           {"null_input", kNullInput},
                           {"null_output", kNullOutput},
                           {"misaligned_input", kMisalignedInput},
                           {"misaligned_output", kMisalignedOutput},
                           {"overlap", kOverlap}}));
  }

void FamilyNameCase::normalise() {
  if (n > 1 << 13) max_blocks = kUnlimited;  // one block and ten thousand elements show nothing that a thousand do not
  if (n > 1 << 13 && block < 32) block = 32;
}

void RefusedFamilyNameCase::normalise() {
  n = std::max<std::int64_t>(n, 1);
  FamilyNameCase::normalise();
}

std::vector<float> FamilyNameCase::x() const { return make_values<float>(values, n); }

DeviceArray<float> FamilyNameCase::launch(const FamilyName& family_name) const {
  const auto in = DeviceArray<float>::input("x", x(), {.misalignment = x_offset, .poison = poison});
  auto out = DeviceArray<float>::output("y", n, {.misalignment = y_offset, .poison = poison});
  REQUIRE_CUDA(family_name(in.data(), n, out.data(), shape_of(*this), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  return out;
}

WhereIs FamilyNameCase::where() const {
  const std::uint64_t tiles = n == 0 ? 1 : (n - 1) / block + 1, grid = std::min<std::uint64_t>(tiles, max_blocks);
  return [grid, block = static_cast<std::uint64_t>(block)](std::size_t i) {
    return Origin{.block = i / block % grid, .thread = static_cast<std::uint32_t>(i % block)};
  };
}

void family_name_matches_its_reference(const FamilyName& family_name, const FamilyNameCase& c) {
  const auto y = c.launch(family_name);
  REQUIRE_WITHIN_BOUND(y, reference::family_name(c.x()), c.where());
}

void family_name_is_deterministic(const FamilyName& family_name, const ScheduledFamilyNameCase& c) {
  constexpr int kSchedules = 50;
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return c.launch(family_name).fetch(); });
}

void family_name_refuses_bad_arguments(const FamilyName& family_name, const RefusedFamilyNameCase& c) {
  using enum RefusedFamilyNameCase::Mistake;
  const auto in = DeviceArray<float>::input("x", c.x(), {.misalignment = c.x_offset, .poison = c.poison});
  const auto out = DeviceArray<float>::output("y", c.n, {.misalignment = c.y_offset, .poison = c.poison});
  struct {
    const float* x;
    std::int64_t n;
    float* y;
    FamilyNameShape shape;
  } with = {in.data(), c.n, out.data(), shape_of(c)};
  switch (c.mistake) {
    case kNegativeSize:
      with.n = -c.n;
      break;
    case kHugeSize:
      with.n = std::numeric_limits<std::int64_t>::max();
      break;
    case kNoThreads:
      with.shape.block = 0;
      break;
    case kTooManyThreads:
      with.shape.block = 1025;
      break;
    case kNoBlocks:
      with.shape.max_blocks = 0;
      break;
    case kNullInput:
      with.x = nullptr;
      break;
    case kNullOutput:
      with.y = nullptr;
      break;
    case kMisalignedInput:
      with.x = shifted_by_bytes(with.x, 2);
      break;
    case kMisalignedOutput:
      with.y = shifted_by_bytes(with.y, 1);
      break;
    case kOverlap:
      with.y = const_cast<float*>(with.x) + (c.n - 1);
      break;
  }
  REQUIRE_REFUSED(family_name(with.x, with.n, with.y, with.shape, nullptr));
  REQUIRE_UNTOUCHED(out);
}

void family_name_launches_nothing_for_no_work(const FamilyName& family_name, const FamilyNameCase& c) {
  require_no_launch([&](cudaStream_t stream) { REQUIRE_CUDA(family_name(nullptr, 0, nullptr, shape_of(c), stream)); });
}

const std::vector<Law<FamilyName>>& family_name_laws() {
  static const std::vector<Law<FamilyName>> laws = {
      law("LaunchesNothingForNoWork", family_name_launches_nothing_for_no_work, 4),
      law("RefusesBadArguments", family_name_refuses_bad_arguments, 4),
      law("MatchesItsReference", family_name_matches_its_reference),
      law("IsDeterministic", family_name_is_deterministic, 50),
  };
  return laws;
}

}  // namespace lockstep::properties
