// The implementation of launch.h's Kernel and Module.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/engine/run/translated.h"
#include "simulator/program/program.h"
#include "simulator/proof/prove.h"

namespace lockstep::engine {

using program::Function;
using program::Program;

class LoadedKernel final : public Kernel {
 public:
  LoadedKernel(const Program& program, std::size_t function, Translations& translations)
      : program_(program), function_(function), translations_(translations) {}
  const Program& program() const { return program_; }
  Translations& translations() const { return translations_; }
  const Function& function() const { return program_.functions[function_]; }
  // Call when a launch of the kernel starts, and when it has ended after `instructions` warp
  // instructions. `searched`: Worker::search_work.
  void begin_launch() const { ++under_way_; }
  void end_launch(std::uint64_t instructions, std::uint64_t searched, std::uint64_t warps) const {
    executed_ += instructions;
    searched_ += searched;
    warps_ += warps;
    --under_way_;
  }
  bool is_under_way() const { return under_way_ != 0; }
  std::uint64_t executed() const { return executed_; }
  // The warp instructions and searches of a launch of `warps` warps, judged by the launches so far.
  // nullopt if there were none.
  std::optional<std::uint64_t> expected_work(std::uint64_t warps) const {
    const std::uint64_t so_far = warps_;
    if (so_far == 0) return std::nullopt;
    return static_cast<std::uint64_t>(static_cast<double>(executed_ + searched_) /
                                      static_cast<double>(so_far) * static_cast<double>(warps));
  }
  // The certificate of a launch with this key, cached or else returned by `prove`. The latest are
  // kept.
  template <class Prove>
  std::shared_ptr<const proof::Certificate> certificate(const std::string& key, Prove prove) const {
    const std::lock_guard lock(mutex_);
    auto& known = certificates_[key];
    if (known != nullptr) return known;
    const auto made = std::make_shared<const proof::Certificate>(prove());
    if (certificates_.size() > kMostCertificates) certificates_.clear();
    return certificates_[key] = made;
  }
  // As certificate(), for a launch of about `work` warp instructions, if a proof is worth its cost.
  // A cached certificate is always returned. A new proof is made under three conditions, else the
  // result is nullptr:
  // - The kernel's instructions and searches have reached `price` for each proof, the new one
  //   included. A proof without benefit (`saves` returns false) counts as several.
  // - The launch's own work is at least `price`, or its key has come before.
  // - `may_save` returns true.
  template <class MaySave, class Prove, class Saves>
  std::shared_ptr<const proof::Certificate> certificate_worth(const std::string& key,
                                                              std::uint64_t work,
                                                              std::uint64_t price, MaySave may_save,
                                                              Prove prove, Saves saves) const {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = certificates_.find(key); known != certificates_.end())
        return known->second;
      const bool is_new = keys_.insert(std::hash<std::string>()(key)).second;
      if (keys_.size() > kMostKeys) keys_.clear();
      if (is_new && work < price) return nullptr;
      if (executed_ + searched_ + work < price * (1 + proofs_)) return nullptr;
    }
    if (!may_save()) return nullptr;
    auto made = certificate(key, prove);
    const std::uint64_t counts = saves(*made) ? 1 : 1 + kOfNoUse;
    const std::lock_guard lock(mutex_);
    proofs_ += counts;
    return made;
  }
  // Call when the kernel's code is replaced.
  void forget_certificates() const {
    const std::lock_guard lock(mutex_);
    certificates_.clear();
    keys_.clear();
    proofs_ = 0;
    executed_ = 0;
    searched_ = 0;
    warps_ = 0;
  }

  const std::string& name() const override { return function().name; }
  std::span<const std::uint32_t> parameter_offsets() const override {
    return function().parameter_offsets;
  }
  std::span<const std::uint32_t> parameter_sizes() const override {
    return function().parameter_sizes;
  }
  std::uint32_t static_shared_bytes() const override { return function().static_shared_bytes; }
  std::uint32_t local_bytes() const override { return function().local_total; }
  std::uint32_t constant_bytes() const override { return program_.const_space_bytes; }
  int registers() const override { return function().registers; }
  std::uint32_t max_threads_per_block() const override;
  Dim3 required_cluster() const override {
    return {function().required_cluster[0], function().required_cluster[1],
            function().required_cluster[2]};
  }
  int ptx_target() const override { return function().target; }
  bool may_poll() const override;
  const LoadError* refusal() const override {
    return function().refusal ? &*function().refusal : nullptr;
  }

 private:
  const Program& program_;
  std::size_t function_;  // index
  Translations& translations_;
  mutable std::atomic<int> under_way_{0};
  static constexpr std::size_t kMostCertificates = 16, kMostKeys = 256;
  static constexpr std::uint64_t kOfNoUse = 7;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const proof::Certificate>> certificates_;
  mutable std::unordered_set<std::size_t> keys_;  // hashes of the keys of earlier launches
  mutable std::uint64_t proofs_ = 0;
  mutable std::atomic<std::uint64_t> executed_{0}, searched_{0}, warps_{0};
};

class LoadedModule final : public Module {
 public:
  LoadedModule(std::unique_ptr<Program> program, memory::DeviceMemory& memory);
  ~LoadedModule() override;
  const Kernel* find_kernel(std::string_view name) const override;
  const memory::Allocation* find_variable(std::string_view name) const override;
  std::vector<const Kernel*> kernels() const override;
  std::vector<LoadError> refusals() const override;
  void limit(int registers, std::uint32_t threads) override;

  const Program& program() const { return *program_; }
  // replace() and exchange() put another program in place of this one. It must have the same
  // functions and variables. Both throw std::logic_error while a launch is under way.
  void replace(Program program) {
    check_idle();
    forget_code();
    *program_ = std::move(program);
  }
  void exchange(Program& program) {
    check_idle();
    forget_code();
    std::swap(*program_, program);
  }

 private:
  void check_idle() const;
  // Drops everything that was derived from the program that is replaced.
  void forget_code() {
    for (const auto& kernel : kernels_) kernel->forget_certificates();
    translations_.forget();
  }

  std::unique_ptr<Program> program_;
  Translations translations_;
  memory::DeviceMemory& memory_;
  std::vector<std::unique_ptr<LoadedKernel>> kernels_;
  std::unordered_map<std::string, const LoadedKernel*> by_name_;
};

}  // namespace lockstep::engine
