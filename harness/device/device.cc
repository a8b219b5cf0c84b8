#include "harness/device/device.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lockstep {
namespace {

std::string describe(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, 0) != cudaSuccess)
    cudaGetLastError();  // an unknown attribute counts as 0
  return value;
}

std::string text_of_uuid(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex;
  }
  return text;
}

DeviceProperties make_device_properties() {
  if (const std::string error = device_error(); !error.empty())
    throw std::runtime_error("no GPU answers: " + error);
  cudaDeviceProp p{};
  if (const cudaError_t error = cudaGetDeviceProperties(&p, 0); error != cudaSuccess)
    throw std::runtime_error("cudaGetDeviceProperties: " + describe(error));
  DeviceProperties d;
  d.name = p.name;
  d.major = p.major;
  d.minor = p.minor;
  d.uuid = text_of_uuid(p.uuid);
  cudaDriverGetVersion(&d.driver_version);
  cudaRuntimeGetVersion(&d.runtime_version);
  d.global_bytes = p.totalGlobalMem;
  d.shared_bytes_per_block = p.sharedMemPerBlock;
  d.shared_bytes_per_block_optin = p.sharedMemPerBlockOptin;
  d.shared_bytes_per_sm = p.sharedMemPerMultiprocessor;
  d.constant_bytes = p.totalConstMem;
  d.sms = p.multiProcessorCount;
  d.warp_size = p.warpSize;
  d.max_threads_per_block = p.maxThreadsPerBlock;
  d.max_threads_per_sm = p.maxThreadsPerMultiProcessor;
  d.registers_per_block = p.regsPerBlock;
  // 8 is the portable size on every device with clusters. On compute capability 9.0 and 10.x a
  // kernel may opt in to 16 (CUDA C++ Programming Guide, thread block clusters). No attribute
  // reports the size.
  if (attribute(cudaDevAttrClusterLaunch))
    d.max_cluster_blocks = d.major == 9 || d.major == 10 ? 16 : 8;
  d.clock_khz = attribute(cudaDevAttrClockRate);
  d.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate);
  d.memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth);
  d.l2_bytes = p.l2CacheSize;
  d.ecc = attribute(cudaDevAttrEccEnabled);
  char pci[32];
  std::snprintf(pci, sizeof pci, "%04x:%02x:%02x.0", static_cast<unsigned>(p.pciDomainID),
                static_cast<unsigned>(p.pciBusID), static_cast<unsigned>(p.pciDeviceID));
  d.pci = pci;
  d.cooperative_launch = attribute(cudaDevAttrCooperativeLaunch);
  d.managed_memory = attribute(cudaDevAttrManagedMemory);
  d.simulated = is_simulator();
  return d;
}

template <class F>
void resolve(F& function, const char* symbol) {
  function = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, symbol));
}

Extension resolve_all() {
  Extension e;
  resolve(e.version, "lockstepExtensionVersion");
  if (!e.version || e.version() < LOCKSTEP_EXTENSION_VERSION) return Extension{};
  resolve(e.name_buffer, "lockstepNameBuffer");
  resolve(e.mark_unwritten, "lockstepMarkUnwritten");
  resolve(e.take_errors, "lockstepTakeErrors");
  // A simulator without it: take_findings() skips the findings that only inform.
  if (!e.take_errors) resolve(e.take_errors, "lockstepTakeFindings");
  resolve(e.clear_error, "lockstepClearError");
  resolve(e.reset_counters, "lockstepResetCounters");
  resolve(e.read_counters, "lockstepReadCounters");
  resolve(e.set_schedule, "lockstepSetSchedule");
  resolve(e.set_checks, "lockstepSetChecks");
  resolve(e.set_quiet, "lockstepSetQuiet");
  resolve(e.begin_part, "lockstepBeginPart");
  resolve(e.watch_operations, "lockstepWatchOperations");
  resolve(e.read_operations, "lockstepReadOperations");
  resolve(e.before_calls, "lockstepBeforeCalls");
  resolve(e.under_way, "lockstepUnderWay");
  resolve(e.sample_blocks, "lockstepSampleBlocks");
  resolve(e.set_error, "lockstepSetError");
  resolve(e.live_objects, "lockstepLiveObjects");
  resolve(e.read_limits, "lockstepReadLimits");
  resolve(e.set_limits_aside, "lockstepSetLimitsAside");
  resolve(e.set_property, "lockstepSetProperty");
  return e;
}

std::uint64_t steers = 0;

}  // namespace

std::string device_error() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return describe(error);
  }
  return count > 0 ? "" : describe(cudaErrorNoDevice);
}

int wait_for_copies() { return cudaStreamSynchronize(nullptr); }

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) cudaGetLastError(), count = 0;
  return count;
}

const DeviceProperties& device_properties() {
  static const DeviceProperties kProperties = make_device_properties();
  return kProperties;
}

std::map<std::string, std::string> DeviceProperties::entries() const {
  const auto flag = [](bool b) { return std::string(b ? "true" : "false"); };
  return {{"name", name},
          {"compute_capability", std::to_string(major) + "." + std::to_string(minor)},
          {"uuid", uuid},
          {"driver_version", std::to_string(driver_version)},
          {"runtime_version", std::to_string(runtime_version)},
          {"global_bytes", std::to_string(global_bytes)},
          {"shared_bytes_per_block", std::to_string(shared_bytes_per_block)},
          {"shared_bytes_per_block_optin", std::to_string(shared_bytes_per_block_optin)},
          {"shared_bytes_per_sm", std::to_string(shared_bytes_per_sm)},
          {"constant_bytes", std::to_string(constant_bytes)},
          {"sms", std::to_string(sms)},
          {"warp_size", std::to_string(warp_size)},
          {"max_threads_per_block", std::to_string(max_threads_per_block)},
          {"max_threads_per_sm", std::to_string(max_threads_per_sm)},
          {"registers_per_block", std::to_string(registers_per_block)},
          {"max_cluster_blocks", std::to_string(max_cluster_blocks)},
          {"clock_khz", std::to_string(clock_khz)},
          {"memory_clock_khz", std::to_string(memory_clock_khz)},
          {"memory_bus_bits", std::to_string(memory_bus_bits)},
          {"l2_bytes", std::to_string(l2_bytes)},
          {"ecc", flag(ecc)},
          {"pci", pci},
          {"cooperative_launch", flag(cooperative_launch)},
          {"managed_memory", flag(managed_memory)},
          {"simulated", flag(simulated)}};
}

const Extension& extension() {
  static const Extension kExtension = resolve_all();
  return kExtension;
}

bool is_simulator() { return extension().version != nullptr; }

std::vector<lockstepOperation> operations_of(const std::function<void()>& run) {
  const Extension& simulator = extension();
  if (!simulator.watch_operations || !simulator.read_operations)
    return run(), std::vector<lockstepOperation>();
  simulator.watch_operations(1);
  try {
    run();
  } catch (...) {
    simulator.watch_operations(0);
    throw;
  }
  std::vector<lockstepOperation> operations(simulator.read_operations(nullptr, 0));
  simulator.read_operations(operations.data(), operations.size());
  simulator.watch_operations(0);
  return operations;
}

std::vector<lockstepLimit> limits_of(const std::function<void()>& run) {
  const Extension& simulator = extension();
  std::vector<lockstepLimit> limits;
  if (simulator.read_limits == nullptr || simulator.set_limits_aside == nullptr) return limits;
  ++steers;
  simulator.set_limits_aside(1);
  try {
    run();
  } catch (...) {
    simulator.set_limits_aside(0);
    throw;
  }
  limits.resize(simulator.read_limits(nullptr, 0));
  simulator.read_limits(limits.data(), limits.size());
  simulator.set_limits_aside(0);
  return limits;
}

OtherProperties::OtherProperties(const std::vector<int>& kept, bool more) {
  ++steers;
  if (extension().set_property == nullptr) return;
  for (int which = cudaDevAttrMaxThreadsPerBlock; which < cudaDevAttrMax; ++which) {
    if (std::ranges::find(kept, which) != kept.end()) continue;
    const int now = attribute(static_cast<cudaDeviceAttr>(which));
    const int other = now == 0 || now == 1 ? 1 - now
                      : !more              ? 1
                      : now < (1 << 29)    ? 2 * now + 1
                                           : now - 1;
    extension().set_property(which, other);
  }
}
namespace {
void restore_properties() {
  if (extension().set_property != nullptr) extension().set_property(-1, 0);
}
}  // namespace
OtherProperties::~OtherProperties() { restore_properties(); }

OtherProperty::OtherProperty(int which, int value) {
  ++steers;
  if (extension().set_property != nullptr) extension().set_property(which, value);
}
OtherProperty::~OtherProperty() { restore_properties(); }

std::uint64_t simulator_steers() { return steers; }

SampledBlocks::SampledBlocks(std::uint64_t blocks) {
  ++steers;
  if (extension().sample_blocks != nullptr) extension().sample_blocks(blocks);
}
SampledBlocks::~SampledBlocks() {
  if (extension().sample_blocks != nullptr) extension().sample_blocks(0);
}

void run_between_calls(const std::function<void(std::size_t)>& before,
                       const std::function<void()>& run) {
  ++steers;
  if (extension().before_calls == nullptr) return run();
  // Exceptions must not pass through CUDA: an exception of `before` is kept until `run` has
  // returned.
  struct Announced {
    const std::function<void(std::size_t)>& before;
    std::size_t calls = 0;
    std::exception_ptr thrown = nullptr;
  } announced = {before};
  extension().before_calls(
      [](void* data) {
        auto& a = *static_cast<Announced*>(data);
        if (a.thrown != nullptr) return;
        try {
          a.before(a.calls++);
        } catch (...) {
          a.thrown = std::current_exception();
        }
      },
      &announced);
  try {
    run();
  } catch (...) {
    extension().before_calls(nullptr, nullptr);
    throw;
  }
  extension().before_calls(nullptr, nullptr);
  if (announced.thrown != nullptr) std::rethrow_exception(announced.thrown);
}

std::vector<ReportedFinding> take_findings() {
  std::vector<ReportedFinding> out;
  if (!extension().take_errors) return out;
  char* const json = extension().take_errors();
  if (!json) return out;
  const std::string text = json;
  std::free(json);
  if (text == "[]") return out;
  const nlohmann::json findings = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!findings.is_array()) {
    // Never lose a finding because its report is unreadable.
    out.push_back({"unreadable", "the simulator's findings are not a JSON array: " + text});
    return out;
  }
  for (const auto& finding : findings) {
    if (finding.value("severity", "error") == "information") continue;
    out.push_back({finding.value("kind", "unnamed"), finding.value("text", finding.dump())});
  }
  return out;
}

}  // namespace lockstep
