#include "simulator/runtime/state/host_access.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>

namespace lockstep::runtime {
namespace host_access_test {

using memory::Kind;

TEST(HostAccessDeathTest, TheAllocationIsNamedAndTheProcessDiesOfTheFault) {
  EXPECT_EXIT(
      {
        auto* memory = new memory::DeviceMemory;
        watch_host_access(memory);
        const auto* a = memory->allocate(4096, 256, Kind::kDevice, 0);
        reinterpret_cast<volatile int*>(a->base)[3] = 1;
      },
      testing::KilledBySignal(SIGSEGV), "12 bytes into cudaMalloc #1 \\(4096 bytes\\)");
}

TEST(HostAccessDeathTest, AFaultElsewhereIsNoneOfOurBusiness) {
  const auto fault = [] {
    auto* memory = new memory::DeviceMemory;
    watch_host_access(memory);
    volatile std::uintptr_t nowhere = 8;  // volatile: the compiler must not see through it
    *reinterpret_cast<volatile int*>(nowhere) = 1;
  };
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGSEGV), "^$");
}

TEST(HostAccessDeathTest, AHandlerThatWasThereComesNext) {
  EXPECT_EXIT(
      {
        signal(SIGSEGV, [](int) { _exit(7); });
        auto* memory = new memory::DeviceMemory;
        watch_host_access(memory);
        const auto* a = memory->allocate(64, 256, Kind::kDevice, 0);
        *reinterpret_cast<volatile int*>(a->base) = 1;
      },
      testing::ExitedWithCode(7), "host-access");
}

TEST(HostAccess, ReadsAndUseAfterFreeAreReported) {
  memory::DeviceMemory memory;
  const auto* a = memory.allocate(64, 256, Kind::kManaged, 0);
  memory.release(a->base);
  const check::Finding f = describe_host_access(memory, a->base + 4, false);
  EXPECT_EQ(f.kind, check::Kind::kHostAccess);
  EXPECT_FALSE(f.access.is_write);
  EXPECT_NE(f.where.find("freed"), std::string::npos);
  EXPECT_NE(f.detail.find("freed"), std::string::npos);
}

}  // namespace host_access_test
}  // namespace lockstep::runtime
