// Times aligned copies against misaligned and strided ones, and loads cached in L1 (ca) against
// loads cached in L2 only (cg).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/memory_access.h"
#include "tests/timing/timing.h"

namespace lockstep::timing {
namespace {

using kernels::AccessPattern;
using kernels::LoadPath;
using kernels::PatternKind;

constexpr std::int64_t kElements = 1 << 25;  // 4 bytes each, read and written: larger than any L2

class MemoryAccessTiming : public Timing {
 protected:
  MemoryAccessTiming() = default;

  // Compares b with a; both gather kElements elements.
  SpeedComparison race(const std::string& where, const std::string& a_name, LoadPath a_path,
                       const AccessPattern& a, const std::string& b_name, LoadPath b_path,
                       const AccessPattern& b) {
    const std::int64_t reach = std::max(elements(a), elements(b));
    DeviceMemory x(reach * 4), y(kElements * 4);
    x.write(ordinary_floats(reach).data(), x.bytes());
    const auto contestant = [&](const std::string& name, LoadPath path,
                                const AccessPattern& pattern) -> Contestant {
      return {name, [=, &x, &y](cudaStream_t stream) {
                return text(kernels::gather(path, pattern, 4, x.as<void>(), reach, y.as<void>(),
                                            kElements, {}, stream));
              }};
    };
    return compare(fmt::format("gather, {} elements of 4 bytes, {}", kElements, where),
                   contestant(a_name, a_path, a), contestant(b_name, b_path, b));
  }

  static std::int64_t elements(const AccessPattern& p) {
    return (p.kind == PatternKind::kStrided ? p.factor : 1) * kElements + p.offset;
  }
};

const AccessPattern kAligned = {};

TEST_F(MemoryAccessTiming, MisalignedAgainstAligned) {
  for (const int offset : {1, 8, 16}) {
    race(fmt::format("offset {}", offset), "aligned", LoadPath::kDefault, kAligned, "misaligned",
         LoadPath::kDefault, {.offset = offset});
  }
}

TEST_F(MemoryAccessTiming, StridedAgainstAligned) {
  for (const int stride : {2, 4, 8}) {
    const SpeedComparison c =
        race(fmt::format("stride {}", stride), "aligned", LoadPath::kDefault, kAligned, "strided",
             LoadPath::kDefault, {.kind = PatternKind::kStrided, .factor = stride});
    // Each request needs `stride` times the sectors, and memory bandwidth limits the copy.
    EXPECT_EQ(c.speed, Speed::kSlower) << to_text(c);
  }
}

TEST_F(MemoryAccessTiming, CgAgainstCa) {
  race("consecutive", "ca", LoadPath::kCa, kAligned, "cg", LoadPath::kCg, kAligned);
  const AccessPattern misaligned = {.offset = 1};
  race("offset 1", "ca", LoadPath::kCa, misaligned, "cg", LoadPath::kCg, misaligned);
  const AccessPattern strided = {.kind = PatternKind::kStrided, .factor = 4};
  race("stride 4", "ca", LoadPath::kCa, strided, "cg", LoadPath::kCg, strided);
}

}  // namespace
}  // namespace lockstep::timing
