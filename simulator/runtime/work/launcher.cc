#include "simulator/runtime/work/launcher.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/engine/launch/certificate.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/state/occupancy.h"
#include "simulator/runtime/state/output_signals.h"
#include "simulator/runtime/work/closed.h"
#include "simulator/runtime/work/concurrency.h"
#include "simulator/runtime/work/device_launches.h"
#include "simulator/runtime/work/pending.h"
#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {
namespace {

check::Dim3 convert(dim3 d) { return {d.x, d.y, d.z}; }

std::string show(dim3 d) {
  return "{" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + "}";
}

std::uint64_t count(dim3 d) { return std::uint64_t{d.x} * d.y * d.z; }

// "dimension is zero" or "exceeds {..}" for a grid or block; empty when it is fine.
std::string shape_fault(const char* what, dim3 d, const check::Dim3& most) {
  if (count(d) == 0) return std::string("the ") + what + " " + show(d) + " is empty";
  if (d.x > most.x || d.y > most.y || d.z > most.z) {
    return std::string("the ") + what + " " + show(d) + " exceeds the device's limit " +
           show(dim3(most.x, most.y, most.z));
  }
  return {};
}

cudaError_t check_cluster(Runtime& runtime, const char* function,
                          const KernelEntry::Attributes& attributes, LaunchRequest& request) {
  const dim3 c = request.cluster;
  if (count(c) == 1) return cudaSuccess;
  if (!runtime.settings.profile->clusters) {
    runtime.explain(function, std::string(runtime.settings.profile->name) +
                                  " has no thread block clusters; they need sm_90");
    return cudaErrorNotSupported;
  }
  if (count(c) == 0) {
    runtime.explain(function, "the cluster " + show(c) + " is empty");
    return cudaErrorInvalidClusterSize;
  }
  const int largest = runtime.settings.profile->largest_cluster();
  const auto most = static_cast<std::uint64_t>(
      attributes.non_portable_cluster ? largest : Profile::kPortableClusterSize);
  if (count(c) > most) {
    runtime.explain(function,
                    "a cluster of " + std::to_string(count(c)) + " blocks; the limit is " +
                        std::to_string(most) +
                        (most == static_cast<std::uint64_t>(largest)
                             ? ""
                             : " (" + std::to_string(largest) +
                                   " with cudaFuncAttributeNonPortableClusterSizeAllowed)"));
    return cudaErrorInvalidClusterSize;
  }
  if (request.grid.x % c.x != 0 || request.grid.y % c.y != 0 || request.grid.z % c.z != 0) {
    runtime.explain(function,
                    "the grid " + show(request.grid) + " is no multiple of the cluster " + show(c));
    return cudaErrorInvalidClusterSize;
  }
  return cudaSuccess;
}

std::vector<std::byte> pack(const engine::Kernel& kernel, void** arguments) {
  const auto offsets = kernel.parameter_offsets();
  const auto sizes = kernel.parameter_sizes();
  std::vector<std::byte> packed(offsets.empty() ? 0 : offsets.back());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    std::memcpy(packed.data() + offsets[i], arguments[i], sizes[i]);
  return packed;
}

// The kinds of finding that are suppressed in a kernel. Demangled names are long to make: only
// where something is suppressed at all.
std::uint32_t suppressed_kinds(const Runtime& runtime, const engine::Kernel& kernel) {
  return runtime.settings.suppressions.empty()
             ? 0
             : runtime.settings.suppressions.kinds_in(demangled(kernel.name()));
}

// What nobody has written may have been put, and not been executed.
void name_what_waits(Runtime& runtime, const Operation& at, std::vector<check::Finding>& findings) {
  if (std::none_of(findings.begin(), findings.end(),
                   [](const check::Finding& f) { return f.kind == check::Kind::kUninitialised; }))
    return;
  std::string first;
  std::size_t others = 0;
  for (const auto& entry : runtime.queue.entries()) {
    const auto& p = static_cast<const Pending&>(*entry);
    const bool ordered =
        at.before.covers(p.at.lane, p.at.sequence) || p.at.before.covers(at.lane, at.sequence);
    const auto* const kernel = std::get_if<KernelWork>(&p.work);
    const bool writes = kernel != nullptr || std::holds_alternative<LibraryWork>(p.work) ||
                        !accesses_of(runtime, p.work).written.empty();
    if (ordered || p.for_host || !writes) continue;
    if (!first.empty()) {
      ++others;
      continue;
    }
    const KernelEntry* const launched =
        kernel == nullptr ? nullptr : runtime.modules.find_kernel(kernel->function);
    first = launched != nullptr ? demangled(launched->name) + p.at.stream.in()
                                : with_place(p.api_name + p.at.stream.in(), p.caller);
  }
  if (first.empty()) return;
  for (check::Finding& f : findings) {
    if (f.kind != check::Kind::kUninitialised) continue;
    f.detail += std::string(f.detail.empty() ? "" : "\n  ") + "Not executed yet, and not ordered " +
                "before this kernel: " + first +
                (others == 0 ? "" : ", and " + std::to_string(others) + " more") + ".";
  }
}

void keep_outcome(Runtime& runtime, Device& device, const engine::Kernel& kernel,
                  const Operation& at, engine::Outcome outcome) {
  name_what_waits(runtime, at, outcome.findings);
  ++device.launches;
  device.counters.add(outcome.counters);
  runtime.record.launched(kernel.name(), device.ordinal, outcome.counters);
  for (const check::Finding& f : outcome.findings) {
    // What ended the kernel has ended it, suppressed or not; but nothing is said of it.
    if (f.severity != check::Severity::kError || f.survived) continue;
    device.error = static_cast<cudaError_t>(check::cuda_error(f.kind));
    break;
  }
  for (check::Finding& f : outcome.findings) {
    // A call of the host: its address is where the program made it.
    if (f.other && f.other->site.instruction.empty() && !f.other->operation.empty())
      f.other->operation = with_place(std::move(f.other->operation),
                                      reinterpret_cast<const void*>(f.other->address));
  }
  runtime.host_reads.remember(std::move(outcome.unwritten_stores), *runtime.memory);
  runtime.leaks.allocated(std::move(outcome.heap), *runtime.memory);
  runtime.report(std::move(outcome.findings));
}

// Whether the launch may be one that others repeat, or may itself repeat an earlier one, if it is
// closed.
bool may_repeat(const Runtime& runtime, const KernelWork& work,
                const engine::LaunchConfig& config) {
  using Config = engine::LaunchConfig;
  return runtime.repeats.mode() != Repeats::Mode::kOff && config.schedule_seed == 0 &&
         config.proof != Config::Proof::kCompare &&
         config.translate != Config::Translate::kCompare && config.coverage == nullptr &&
         !config.certified && config.running_grids.empty() && !work.request.programmatic &&
         config.concurrent.empty() && work.by_kernel.empty();
}

}  // namespace

cudaError_t unknown_kernel(const void* function) {
  return function == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle;
}

std::size_t dynamic_shared_limit(const Runtime& runtime, const KernelEntry& entry,
                                 const engine::Kernel& kernel, int device) {
  const auto it = entry.attributes.find(device);
  if (it != entry.attributes.end() && it->second.max_dynamic_shared >= 0)
    return static_cast<std::size_t>(it->second.max_dynamic_shared);
  const std::uint32_t fixed = kernel.static_shared_bytes();
  return fixed >= runtime.limits.shared_per_block ? 0 : runtime.limits.shared_per_block - fixed;
}

cudaError_t check_launch(Runtime& runtime, Device& device, const char* function,
                         const KernelEntry& entry, const engine::Kernel& kernel,
                         LaunchRequest& request) {
  const engine::Limits& limits = runtime.limits;
  const auto refuse = [&](cudaError_t error, const std::string& why) {
    runtime.explain(function, why, demangled(kernel.name()));
    return error;
  };
  const Stream* stream = runtime.streams.find_stream(request.stream, device.ordinal);
  if (stream == nullptr) return refuse(cudaErrorInvalidResourceHandle, "the stream does not exist");
  if (stream->device != device.ordinal)
    return refuse(cudaErrorInvalidResourceHandle, "the stream belongs to another device");
  if (const std::string fault = shape_fault("block", request.block, limits.max_block);
      !fault.empty()) {
    return refuse(cudaErrorInvalidValue, fault);
  }
  const std::uint64_t threads = count(request.block);
  if (threads > limits.max_threads_per_block) {
    return refuse(cudaErrorInvalidValue, "a block of " + std::to_string(threads) +
                                             " threads; the limit is " +
                                             std::to_string(limits.max_threads_per_block));
  }
  if (threads > kernel.max_threads_per_block()) {
    return refuse(cudaErrorInvalidValue, "a block of " + std::to_string(threads) +
                                             " threads; the kernel's launch bounds allow " +
                                             std::to_string(kernel.max_threads_per_block()));
  }
  if (request.has_cluster && count(request.cluster) == 0)
    return refuse(cudaErrorInvalidClusterSize,
                  "the cluster " + show(request.cluster) + " is empty");
  if (const std::string fault = shape_fault("grid", request.grid, limits.max_grid);
      !fault.empty()) {
    return refuse(cudaErrorInvalidValue, fault);
  }
  const auto attributes = entry.attributes.find(device.ordinal);
  const KernelEntry::Attributes defaults;
  const KernelEntry::Attributes& set =
      attributes == entry.attributes.end() ? defaults : attributes->second;
  // Set by cudaFuncSetAttribute, for every launch. One size alone makes no cluster.
  const auto& wanted = set.required_cluster;
  if ((wanted[0] | wanted[1] | wanted[2]) != 0) {
    const dim3 own(static_cast<unsigned>(wanted[0]), static_cast<unsigned>(wanted[1]),
                   static_cast<unsigned>(wanted[2]));
    if (request.has_cluster && !(convert(request.cluster) == convert(own)))
      return refuse(cudaErrorInvalidClusterSize, "a cluster " + show(request.cluster) +
                                                     "; cudaFuncSetAttribute set " + show(own));
    request.cluster = own;
  }
  const check::Dim3 required = kernel.required_cluster();
  if (required.count() != 0) {
    const dim3 own(required.x, required.y, required.z);
    if (!request.has_cluster) {
      request.cluster = own;
    } else if (!(convert(request.cluster) == required)) {
      return refuse(cudaErrorInvalidClusterSize, "a cluster " + show(request.cluster) +
                                                     "; the kernel was compiled for " + show(own));
    }
  }
  if (const cudaError_t error = check_cluster(runtime, function, set, request);
      error != cudaSuccess)
    return error;
  const std::size_t dynamic_limit = dynamic_shared_limit(runtime, entry, kernel, device.ordinal);
  if (request.dynamic_shared > dynamic_limit) {
    return refuse(request.cooperative ? cudaErrorCooperativeLaunchTooLarge : cudaErrorInvalidValue,
                  std::to_string(request.dynamic_shared) +
                      " bytes of dynamic shared memory; the limit is " +
                      std::to_string(dynamic_limit) + " (more, up to " +
                      std::to_string(limits.shared_per_block_optin) +
                      " with static, after "
                      "cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize))");
  }
  if (kernel.static_shared_bytes() + request.dynamic_shared > limits.shared_per_block_optin) {
    return refuse(cudaErrorLaunchOutOfResources,
                  std::to_string(kernel.static_shared_bytes() + request.dynamic_shared) +
                      " bytes of shared memory; the device has " +
                      std::to_string(limits.shared_per_block_optin));
  }
  if (request.cooperative) {
    const int blocks =
        blocks_per_multiprocessor(*runtime.settings.profile, kernel, static_cast<int>(threads),
                                  request.dynamic_shared, dynamic_limit);
    const std::uint64_t resident = static_cast<std::uint64_t>(blocks) * limits.multiprocessors;
    if (count(request.grid) > resident) {
      return refuse(cudaErrorCooperativeLaunchTooLarge,
                    "a cooperative grid of " + std::to_string(count(request.grid)) + " blocks; " +
                        std::to_string(resident) + " fit on the device at once");
    }
  }
  return cudaSuccess;
}

namespace {

// "launched" by <<<>>>, "launched by cuLaunchKernel", "added by cudaGraphAddKernelNode".
void note_origin(std::string_view function, KernelWork* work) {
  const RunningCall* const call = RunningCall::current();
  if (call != nullptr && call->launched_from() != nullptr) {
    work->made_by = "launched";
    work->stack = call->launch_stack();
    return;
  }
  if (call != nullptr && call->called_as() != nullptr) function = call->called_as();
  const bool launches = function.find("Launch") != function.npos;
  work->made_by = (launches ? "launched by " : "added by ") + std::string(function);
  work->stack = stack_of_caller(CallStack::kMostOfLaunch);
}

}  // namespace

cudaError_t make_kernel_work(Runtime& runtime, Device& device, const char* function,
                             const void* kernel, LaunchRequest request, void** arguments,
                             KernelWork* work) {
  KernelEntry* entry = runtime.modules.find_kernel(kernel);
  if (entry == nullptr) {
    runtime.explain(function, "no kernel is registered at this address");
    return unknown_kernel(kernel);
  }
  const engine::Kernel* loaded = nullptr;
  if (const cudaError_t error = runtime.modules.get(runtime, *entry, device.ordinal, &loaded);
      error != cudaSuccess)
    return error;
  if (const cudaError_t error = check_launch(runtime, device, function, *entry, *loaded, request);
      error != cudaSuccess)
    return error;
  if (!loaded->parameter_sizes().empty() && arguments == nullptr) return cudaErrorInvalidValue;
  work->function = kernel;
  work->request = request;
  work->parameters = pack(*loaded, arguments);
  note_origin(function, work);
  return cudaSuccess;
}

cudaError_t RunningKernel::begin(Runtime& runtime, Device& device, const KernelWork& work,
                                 const Operation& at, std::uint64_t chain, std::uint64_t family,
                                 std::unique_ptr<RunningKernel>* result) {
  KernelEntry* const entry = runtime.modules.find_kernel(work.function);
  if (entry == nullptr)
    return unknown_kernel(work.function);  // its library was unloaded since the graph was made
  const engine::Kernel* loaded = nullptr;
  engine::LaunchConfig config;
  if (const cudaError_t error =
          runtime.modules.get(runtime, *entry, device.ordinal, &loaded, &config.coverage);
      error != cudaSuccess)
    return error;
  const LaunchRequest& request = work.request;
  config.grid = convert(request.grid);
  config.block = convert(request.block);
  config.cluster = convert(request.cluster);
  config.dynamic_shared = static_cast<std::uint32_t>(request.dynamic_shared);
  config.cooperative = request.cooperative;
  config.parameters = work.parameters;
  config.suppressed = suppressed_kinds(runtime, *loaded);
  config.go_on = runtime.settings.go_on;
  config.checks = runtime.settings.checks;
  config.proof = runtime.settings.proof;
  config.translate = runtime.settings.translate;
  if (runtime.settings.time_profile) config.time_profile = &runtime.time_profile;
  if (runtime.settings.certificate) {
    config.certified = [&runtime, loaded](const engine::LaunchCertificate& c) {
      runtime.record.certified(loaded->name(), c);
    };
  }
  config.closed = [&runtime, &at] {
    const bool closed = is_closed(runtime, at);
    if (closed && runtime.settings.proof == engine::LaunchConfig::Proof::kCompare)
      runtime.order.expect_all_after(at);
    return closed;
  };
  config.launchable = [&runtime, &device, entry,
                       stream = request.stream](const engine::DeviceLaunch& l) {
    return can_launch(runtime, device, *entry, stream, l);
  };
  config.compute_capability = runtime.limits.compute_capability;
  config.schedule_seed = runtime.settings.schedule;
  config.sample = runtime.sampled_blocks;
  config.host_threads = runtime.settings.host_threads;
  config.instruction_limit = runtime.settings.instruction_limit;
  config.count = device.count_memory;
  config.images = &runtime.images;
  if (!runtime.findings.quiet())
    config.notice = [](std::string_view text) {
      const OutputSignalsHeldBack held_back;
      std::fprintf(stderr, "lockstep: %.*s\n", static_cast<int>(text.size()), text.data());
    };
  Interceptor* const interceptor = runtime.interceptor.get();
  const std::vector<engine::ConcurrentAccess> concurrent = concurrent_accesses(runtime, at);
  config.concurrent = concurrent;
  config.sees_host_writes = [&runtime](memory::Address address) {
    return runtime.host_watch.pages.sees(address, /*writes=*/true);
  };
  config.place = place_of(runtime, at);
  config.place.family = family;
  config.place.descent = work.descent;
  config.given = work.given;
  config.given_times = work.given_times;
  const std::shared_ptr<const Clock> host = runtime.order.host_now();
  config.place.host = host->values();
  runtime.dependent_launches.begin(chain);
  config.running_grids = runtime.dependent_launches.before(request.stream, request.programmatic);
  std::optional<engine::Outcome> made_before;
  if (interceptor != nullptr)
    made_before = interceptor->before_launch(runtime, *entry->binary, *loaded, config);
  runtime.record.launching(loaded->name(), device.ordinal);
  auto made = std::unique_ptr<RunningKernel>(new RunningKernel);
  made->kernel_ = loaded;
  made->entry_ = entry;
  made->stream_ = request.stream;
  made->made_by_ = work.made_by;
  made->stack_ = work.stack;
  made->by_kernel_ = work.by_kernel;
  made->host_knows_ = host;
  if (may_repeat(runtime, work, config)) {
    Repeats::Begun begun = runtime.repeats.begin(*loaded, config, device.ordinal, *runtime.memory);
    made->repeats_ = begun.outcome.has_value();
    made->outcome_ = std::move(begun.outcome);
    made->attempt_ = std::move(begun.attempt);
    // The order of the blocks is the same each time.
    if (runtime.repeats.mode() == Repeats::Mode::kCompare) config.host_threads = 1;
  }
  if (made->repeats_) {
    runtime.record.repeated_launch();
  } else if (made_before) {
    made->outcome_ = std::move(made_before);
  } else if (interceptor != nullptr && !interceptor->executes_late()) {
    // It sees whole launches.
    made->outcome_ = engine::launch(*loaded, config, *runtime.memory);
  } else {
    made->running_ = std::make_unique<engine::Running>(*loaded, std::move(config), *runtime.memory);
    made->listed_.emplace(runtime, *made->running_);
  }
  *result = std::move(made);
  return cudaSuccess;
}

engine::Running::State RunningKernel::advance(std::uint64_t budget) {
  using State = engine::Running::State;
  if (outcome_) return State::kDone;
  const State state = running_->advance(budget);
  has_waited_ |= state == State::kStill;
  return state;
}

// Execution has changed memory.
void RunningKernel::note_execution(Runtime& runtime, const engine::Outcome& outcome) const {
  if (repeats_) return;
  if (attempt_) {
    if (runtime.repeats.ended(*attempt_, *kernel_, outcome, interrupted_, *runtime.memory))
      runtime.record.repeated_launch();
  } else {
    runtime.repeats.wrote();
  }
}

void RunningKernel::go_on(Runtime& runtime) {
  interrupted_ = true;
  if (running_->heard_host()) heard_.join(*host_knows_);
  host_knows_ = runtime.order.host_now();
  running_->host_knows(host_knows_->values());
}

cudaError_t RunningKernel::finish(Runtime& runtime, Device& device, const Operation& at) {
  engine::Outcome outcome = outcome_ ? std::move(*outcome_) : running_->finish();
  has_waited_ |= interrupted_ && running_->reads_host_flags();
  listed_.reset();
  running_ = nullptr;
  note_execution(runtime, outcome);
  if (interrupted_ || has_waited_) {
    // Others have run in between.
    runtime.dependent_launches.forget();
  } else {
    // Its name is for grids that may run beside it: long to make, where there are none.
    runtime.dependent_launches.ran(
        stream_, outcome.started_dependents ? demangled(kernel_->name()) : std::string(), outcome);
  }
  if (outcome.heard_host) heard_.join(*host_knows_);
  runtime.queue.learn_after(at, heard_);
  if (outcome.informed_host) runtime.order.host_waits_for(at.before);
  if (Interceptor* const interceptor = runtime.interceptor.get(); interceptor != nullptr)
    interceptor->after_launch(*entry_->binary, *kernel_, outcome);
  for (check::Finding& f : outcome.findings) {
    f.host_stacks.insert(f.host_stacks.begin(), host_stack(made_by_, stack_));
    if (!by_kernel_.empty())
      f.detail +=
          (f.detail.empty() ? "Launched by kernel " : " Launched by kernel ") + by_kernel_ + ".";
  }
  launches_ = std::move(outcome.launches);
  keep_outcome(runtime, device, *kernel_, at, std::move(outcome));
  return runtime.settings.launch_blocking ? device.error : cudaSuccess;
}

}  // namespace lockstep::runtime
