// A copy to the host is reported exactly if a check of each of its bytes finds a mistake.
#include "simulator/runtime/state/host_reads.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "simulator/runtime/state/describe.h"

namespace lockstep::runtime {
namespace host_reads_test {

TEST(HostReads, AgreeWithALookAtEveryByte) {
  std::mt19937 random(1);
  memory::DeviceMemory memory;
  int reported = 0, stored_reported = 0;
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t size = 1 + random() % 300;
    const memory::Allocation& a = *memory.allocate(size, 256, memory::Kind::kDevice, 0, "a");
    for (int i = static_cast<int>(random() % 6); i > 0; --i) {
      const std::uint64_t from = random() % size;
      memory.mark_written(a.base + from, random() % (size - from + 1));
    }
    // The last store to each start address, with its size in bytes.
    std::map<memory::Address, std::uint64_t> stores;
    std::vector<engine::UnwrittenStore> left;
    for (int i = round % 4 == 0 ? 0 : static_cast<int>(random() % 12); i > 0; --i) {
      const std::uint64_t from = random() % size,
                          bytes = 1 + random() % std::min<std::uint64_t>(40, size - from);
      stores[a.base + from] = bytes;
      left.push_back({a.base + from, bytes, {}});
    }
    HostReads reads;
    reads.remember(left, memory);
    const std::uint64_t width = 1 + random() % std::min<std::uint64_t>(60, size),
                        pitch = width + random() % 9, rows = 1 + (size - width) / pitch;

    std::uint64_t missing = 0, stored = 0;
    memory::Address first_missing = 0, first_stored = 0;
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (memory::Address at = a.base + row * pitch; at < a.base + row * pitch + width; ++at) {
        if (memory.is_written(at, 1)) continue;
        if (missing++ == 0) first_missing = at;
        auto of = stores.upper_bound(at);
        if (of == stores.begin() || at - (--of)->first >= of->second) continue;
        if (stored++ == 0) first_stored = at;
      }
    }
    const auto finding = reads.check(memory, "copy", a.base, width, rows, pitch);
    ASSERT_EQ(finding.has_value(), missing != 0) << round;
    if (missing == 0) continue;
    const std::uint64_t count = stored != 0 ? stored : missing;
    const memory::Address first = stored != 0 ? first_stored : first_missing;
    EXPECT_EQ(finding->access.address, first) << round;
    EXPECT_EQ(finding->where, "copy copies " + bytes(count) +
                                  " to the host that nobody has written, the first " +
                                  bytes(first - a.base) + " into " + describe(a))
        << round;
    EXPECT_EQ(finding->severity == check::Severity::kInformation, stored == 0) << round;
    ++(stored != 0 ? stored_reported : reported);
  }
  EXPECT_GT(reported, 50);
  EXPECT_GT(stored_reported, 50);
}

}  // namespace host_reads_test
}  // namespace lockstep::runtime
