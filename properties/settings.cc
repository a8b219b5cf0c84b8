// Batteries for the device properties that a launcher queries, and the attributes that it sets for
// its kernels.
#include <algorithm>
#include <map>
#include <tuple>

#include "harness/device/device.h"
#include "harness/property/compare.h"
#include "properties/batteries.h"
#include "properties/streams.h"

namespace lockstep::properties {
namespace {

constexpr std::size_t kOthers = 6;  // promises, and as many mistakes, besides the case itself

// All observable behaviour of a launcher, as text; its work becomes a graph.
std::string behaviour_of(const BoundCall& call, const Stream& stream) {
  std::string text;
  for (const Report& report : call.contract->reported()) report.hand_over(0x5a);
  const Captured captured(stream, cudaStreamCaptureModeRelaxed, call.launch);
  const Answer& answer = captured.answer();
  text += fmt::format("{} ({})", cudaGetErrorName(answer.error), answer.message);
  for (const lockstepOperation& o : captured.operations()) text += fmt::format(", {}", o.call);
  for (const LaunchedGrid& grid : captured.grids())
    text +=
        fmt::format(", {} blocks of {} in clusters of {}", grid.blocks, grid.threads, grid.cluster);
  for (const Report& report : call.contract->reported())
    text += fmt::format(", {}: {}", report.name, report.text());
  return text;
}

template <class T>
std::vector<T> some_of(std::vector<T> all, std::uint64_t seed) {
  Bits bits(seed);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[bits.below(i)]);
  if (all.size() > kOthers) all.resize(kOthers);
  return all;
}

}  // namespace

void require_same_without_other_properties(const BoundCall& call, std::uint64_t seed) {
  if (!call.takes_stream || extension().set_property == nullptr) return;
  Contract& contract = *call.contract;
  contract.allocate();
  const auto restore = call.keep();
  const Stream stream;
  const auto require_same_behaviour = [&](const std::string& with,
                                          const std::function<void()>& change) {
    const auto behaviour = [&] {
      change();
      std::string text;
      const std::vector<lockstepLimit> limits =
          limits_of([&] { text = behaviour_of(call, stream); });
      restore();
      for (const lockstepLimit& limit : limits)
        text += fmt::format(", attribute {} of {} becomes {}", limit.attribute, limit.kernel,
                            limit.value);
      return text;
    };
    const std::string own = behaviour();
    for (const bool more : {false, true}) {
      std::string other;
      {
        const OtherProperties others(contract.properties_read(), more);
        other = behaviour();
      }
      REQUIRE_LAW(other == own,
                  "{}{}: depends on a property of the device that its contract does not name "
                  "(call.reads): answers {}, and where the other properties are {} {}",
                  contract.launcher(), with, own, more ? "more" : "less", other);
    }
  };
  require_same_behaviour("", [] {});
  for (const std::string& promise : some_of(contract.promises(), mix(seed)))
    require_same_behaviour(" with " + promise, [&] { contract.make_promise(promise); });
  for (const std::string& mistake : some_of(contract.mistakes(), mix(seed + 1)))
    require_same_behaviour(" with " + mistake, [&] { contract.make(mistake); });
}

void require_same_limits(const BoundCall& call, const std::vector<std::string>& promises) {
  if (!call.takes_stream || extension().read_limits == nullptr) return;
  Contract& contract = *call.contract;
  const auto restore = call.keep();
  const Stream stream;
  // Key: kernel, device and attribute. Value: the attribute's value, and the promise that set it.
  std::map<std::tuple<const void*, int, int>, std::pair<int, std::string>> set;
  const auto look = [&](const std::string& with) {
    const std::vector<lockstepLimit> limits = limits_of(
        [&] { const Captured ignored(stream, cudaStreamCaptureModeRelaxed, call.launch); });
    cudaGetLastError();
    restore();
    for (const lockstepLimit& limit : limits) {
      const auto [at, fresh] =
          set.try_emplace({limit.function, limit.device, limit.attribute}, limit.value, with);
      REQUIRE_LAW(at->second.first == limit.value,
                  "{} sets attribute {} of {} to {} {}, and to {} {}: while one host thread is "
                  "about to launch, another may set less than it needs",
                  contract.launcher(), limit.attribute, limit.kernel, at->second.first,
                  at->second.second, limit.value, with);
    }
  };
  look("in the case");
  for (const std::string& promise : promises) {
    contract.make_promise(promise);
    look("with " + promise);
  }
}

}  // namespace lockstep::properties
