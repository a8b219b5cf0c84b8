#include "simulator/runtime/work/device_launches.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/work/launcher.h"

namespace lockstep::runtime {
namespace {

dim3 convert(const engine::Dim3& d) { return {d.x, d.y, d.z}; }

// A kernel of the same code as another, by its name.
const void* kernel_named(Runtime& runtime, const KernelEntry& other, const std::string& name) {
  FatBinary& binary = *other.binary;
  for (const KernelEntry& k : binary.kernels)
    if (k.name == name) return &k;
  return runtime.modules.add_kernel(&binary, nullptr, name.c_str());
}

// What a launch of the host would ask for.
LaunchRequest request_of(const engine::DeviceLaunch& launch, cudaStream_t stream) {
  LaunchRequest request;
  request.grid = convert(launch.grid);
  request.block = convert(launch.block);
  request.dynamic_shared = launch.dynamic_shared;
  request.stream = stream;
  return request;
}

}  // namespace

void DeviceLaunches::add(std::vector<engine::DeviceLaunch> launches, const KernelWork& parent) {
  if (launches.empty()) return;
  Family family;
  family.parent = parent;
  for (engine::DeviceLaunch& l : launches)
    (l.descent->tail ? family.tail : family.children).push_back(std::move(l));
  families_.push_back(std::move(family));
}

bool can_launch(Runtime& runtime, Device& device, const KernelEntry& parent, cudaStream_t stream,
                const engine::DeviceLaunch& launch) {
  KernelEntry* const entry =
      runtime.modules.find_kernel(kernel_named(runtime, parent, launch.kernel));
  const engine::Kernel* kernel = nullptr;
  LaunchRequest request = request_of(launch, stream);
  return runtime.modules.get(runtime, *entry, device.ordinal, &kernel) == cudaSuccess &&
         check_launch(runtime, device, "a launch in a kernel", *entry, *kernel, request) ==
             cudaSuccess;
}

std::uint64_t DeviceLaunches::family() {
  static std::atomic<std::uint64_t> last{0};
  if (number_ == 0) number_ = ++last;
  return number_;
}

std::optional<KernelWork> DeviceLaunches::next(Runtime& runtime) {
  while (!families_.empty()) {
    Family& family = families_.back();
    auto& launches = family.children.empty() ? family.tail : family.children;
    const KernelEntry* const parent = runtime.modules.find_kernel(family.parent.function);
    if (launches.empty() || parent == nullptr) {
      families_.pop_back();
      continue;
    }
    engine::DeviceLaunch launch = std::move(launches.front());
    launches.pop_front();
    KernelWork work;
    work.function = kernel_named(runtime, *parent, launch.kernel);
    work.request = request_of(launch, family.parent.request.stream);
    work.parameters = std::move(launch.parameters);
    work.made_by = family.parent.made_by;
    work.by_kernel = demangled(parent->name);
    launch.descent->executed = ++executed_;
    work.descent = std::move(launch.descent);
    work.given = std::move(launch.known);
    work.given_times = launch.known_times;
    work.stack = family.parent.stack;
    return work;
  }
  return std::nullopt;
}

}  // namespace lockstep::runtime
