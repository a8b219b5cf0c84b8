// Which copies a kernel may overtake.
#include "simulator/runtime/state/copies_under_way.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <random>
#include <vector>

namespace lockstep::runtime {
namespace {

constexpr StreamOrder kLegacy{1, true, true}, kA{3, false, true}, kB{4, false, true},
    kFree{5, false, false}, kOtherFree{6, false, false};

class CopiesBesideKernels : public ::testing::Test {
 protected:
  void put(const StreamOrder& stream, memory::Address to = 0x1000, bool stages = false) {
    copies.put(stream, 0, to, 64, "cudaMemcpy", stages);
  }
  // How many a kernel may overtake.
  std::size_t beside(const StreamOrder& stream, int device = 0) {
    return copies.before_kernel(stream, device).size();
  }
  CopiesUnderWay copies;
};

TEST_F(CopiesBesideKernels, AStreamIsOrderedByItself) {
  put(kFree);
  EXPECT_EQ(beside(kFree), 0u);
}

TEST_F(CopiesBesideKernels, StreamsThatTheProgramMadeAreNotOrdered) {
  put(kA);
  ASSERT_EQ(beside(kB), 1u);
  EXPECT_EQ(copies.beside_kernel()[0].begin, 0x1000u);
  EXPECT_EQ(copies.beside_kernel()[0].end, 0x1040u);
  EXPECT_EQ(copies.beside_kernel()[0].by, "cudaMemcpy");
  EXPECT_EQ(beside(kFree), 1u);
  EXPECT_EQ(beside(kB, 1), 0u) << "a kernel of another device";
}

TEST_F(CopiesBesideKernels, TheLegacyStreamIsOrderedWithBlockingOnesAlone) {
  put(kLegacy);
  EXPECT_EQ(beside(kFree), 1u);
  EXPECT_EQ(beside(kA), 0u);
  EXPECT_EQ(beside(kFree), 0u) << "the kernel in A may have signalled the host that it is done";
  put(kA);
  EXPECT_EQ(beside(kLegacy), 0u);
  put(kFree);
  EXPECT_EQ(beside(kLegacy), 1u);
}

TEST_F(CopiesBesideKernels, TheLegacyStreamStandsBetweenBlockingOnes) {
  put(kA);
  put(kLegacy, 0x2000);
  EXPECT_EQ(beside(kOtherFree), 2u);
  EXPECT_EQ(beside(kB), 0u);
}

TEST_F(CopiesBesideKernels, ACopyFromPageableMemoryWaitsForWhatItsStreamHadBefore) {
  put(kLegacy);
  put(kLegacy, 0x2000, true);
  ASSERT_EQ(beside(kFree), 1u);
  EXPECT_EQ(copies.beside_kernel()[0].begin, 0x2000u);
  put(kFree, 0x3000);
  put(kLegacy, 0x4000, true);
  EXPECT_EQ(beside(kOtherFree), 2u) << "not for other streams";
}

TEST_F(CopiesBesideKernels, WhoWaitsForSomethingEndsAll) {
  put(kFree);
  ASSERT_EQ(beside(kA), 1u);
  copies.forget();
  EXPECT_TRUE(copies.beside_kernel().empty());
  EXPECT_EQ(beside(kA), 0u);
}

TEST_F(CopiesBesideKernels, OfManyTheOldestAreLetGo) {
  for (memory::Address i = 0; i < 100; ++i) put(kFree, 0x1000 * i);
  ASSERT_EQ(beside(kA), 64u);
  EXPECT_EQ(copies.beside_kernel().back().begin, 0x1000u * 99);
}

// The same, said as plainly as can be: a graph of what comes before what in every execution. A node
// is something put into a stream, or a call that the host has waited in; there are at most 64.
class OrderOfStreams {
 public:
  // Something is put into `stream` of `device`: it comes after what the host has waited for and, by
  // the streams, after other things. Returns its node.
  std::size_t put(const StreamOrder& stream, int device) {
    const std::size_t node = put_after(before(stream, device));
    in_.push_back({stream, device, node});
    return node;
  }
  // The host waits for what `stream` has before what it puts there next.
  void wait_for(const StreamOrder& stream, int device) {
    host_ = put_after(before(stream, device));
  }
  void wait_for_all() {
    std::vector<std::size_t> all;
    for (const Put& put : in_) all.push_back(put.node);
    host_ = put_after(all);
  }
  bool is_before(std::size_t node, std::size_t other) const { return earlier_[other].test(node); }

 private:
  struct Put {
    StreamOrder stream;
    int device;
    std::size_t node;
  };
  // CUDA Programming Guide, "Default stream": the legacy one waits for the blocking streams of its
  // device, and they for it.
  std::vector<std::size_t> before(const StreamOrder& stream, int device) const {
    std::vector<std::size_t> nodes;
    for (const Put& put : in_) {
      const bool legacy = put.device == device && put.stream.blocking && stream.blocking &&
                          (put.stream.legacy || stream.legacy);
      if (put.stream.id == stream.id || legacy) nodes.push_back(put.node);
    }
    return nodes;
  }
  std::size_t put_after(std::vector<std::size_t> nodes) {
    if (!earlier_.empty()) nodes.push_back(host_);
    std::bitset<64> earlier;
    for (const std::size_t node : nodes) earlier |= earlier_[node], earlier.set(node);
    earlier_.push_back(earlier);
    return earlier_.size() - 1;
  }

  std::vector<std::bitset<64>> earlier_;  // by node: all nodes that come before it
  std::vector<Put> in_;
  std::size_t host_ = 0;
};

struct PutCopy {
  memory::Address to;
  int device;
  std::size_t node;
  bool let_go = false;  // a kernel came after it
};

// Random calls on `devices` devices, with six streams each. Returns how often a kernel could
// overtake a copy.
int hold_to_the_graph(std::uint32_t seed, int devices) {
  std::mt19937 random(seed);
  const auto draw = [&](std::uint32_t n) { return random() % n; };
  CopiesUnderWay copies;
  OrderOfStreams order;
  order.wait_for_all();
  std::vector<PutCopy> put;
  int overtaken = 0;
  for (memory::Address step = 1; step <= 24; ++step) {
    const int device = static_cast<int>(draw(static_cast<std::uint32_t>(devices)));
    const unsigned long long first = 10ull * static_cast<unsigned>(device);
    const StreamOrder streams[] = {{first + 1, true, true},   {first + 2, false, true},
                                   {first + 3, false, true},  {first + 4, false, true},
                                   {first + 5, false, false}, {first + 6, false, false}};
    const StreamOrder& stream = streams[draw(6)];
    const std::uint32_t what = draw(16);
    if (what == 0) {
      copies.forget();
      order.wait_for_all();
    } else if (what < 9) {
      const bool stages = what < 3;
      copies.put(stream, device, step << 12, 64, "cudaMemcpy", stages);
      if (stages) order.wait_for(stream, device);
      put.push_back({step << 12, device, order.put(stream, device)});
    } else {
      const std::size_t kernel = order.put(stream, device);
      const std::vector<engine::ArrivingData>& beside = copies.before_kernel(stream, device);
      for (PutCopy& copy : put) {
        const bool ordered = order.is_before(copy.node, kernel);
        const bool reported = std::any_of(beside.begin(), beside.end(),
                                          [&](const auto& data) { return data.begin == copy.to; });
        // Never one that is ordered. Of one device every other, but for those that a kernel came
        // after: it may have signalled the host that it is done.
        EXPECT_FALSE(reported && (ordered || copy.device != device))
            << "seed " << seed << ", step " << step << ", copy of step " << (copy.to >> 12);
        EXPECT_TRUE(reported || ordered || copy.let_go || devices > 1)
            << "seed " << seed << ", step " << step << ", copy of step " << (copy.to >> 12);
        copy.let_go |= ordered;
        overtaken += reported;
      }
    }
  }
  return overtaken;
}

TEST(CopiesBesideKernelsOfRandomPrograms, AreThoseThatNothingOrders) {
  int overtaken = 0;
  for (std::uint32_t seed = 1; seed <= 500 && !::testing::Test::HasFailure(); ++seed)
    overtaken += hold_to_the_graph(seed, 1);
  EXPECT_GT(overtaken, 2000);
}

TEST(CopiesBesideKernelsOfRandomPrograms, OnTwoDevicesNoneIsOrderedEither) {
  int overtaken = 0;
  for (std::uint32_t seed = 1; seed <= 500 && !::testing::Test::HasFailure(); ++seed)
    overtaken += hold_to_the_graph(seed, 2);
  EXPECT_GT(overtaken, 1000);
}

}  // namespace
}  // namespace lockstep::runtime
