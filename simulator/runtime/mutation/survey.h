// An unchanged run that records the possible changes of the program's kernels and calls, and the
// first launch or call that reaches each.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "simulator/engine/run/mutable_code.h"
#include "simulator/runtime/mutation/parts.h"
#include "simulator/runtime/mutation/plan.h"
#include "simulator/runtime/state/interceptor.h"

namespace lockstep::runtime {

class Survey final : public Interceptor {
 public:
  explicit Survey(Plan plan) : plan_(std::move(plan)) {}
  bool begin_part() override;
  std::optional<engine::Outcome> before_launch(Runtime& runtime, FatBinary& binary,
                                               const engine::Kernel& kernel,
                                               engine::LaunchConfig& config) override;
  void after_launch(FatBinary& binary, const engine::Kernel& kernel,
                    const engine::Outcome& outcome) override;
  void counters_read() override { counters_.add(parts_); }
  bool before_put(Runtime& runtime, const char* api_name, cudaStream_t& stream,
                  Work& work) override;
  bool is_changed(Runtime& runtime, const char* api_name, const char* change) override;
  bool executes_late() const override { return false; }
  cudaError_t launch_answered(Runtime& runtime, const char* api_name, cudaError_t error) override;
  void found(const std::vector<check::Finding>&, const check::Suppressions&) override {}

  // Writes the file, when the process ends: one JSON object.
  //   "launches", "calls": how many there were
  //   "instructions": the most warp instructions of one launch
  //   "codes": [{"code": hash, "mutants": [{"place", "operator", "change", "function", "text",
  //     "file", "line", "column", "at", "parts"}]}], at: 0 for
  //            what no launch executed
  //   "sites": [{"site": key, "api", "object", "offset", "kernel", "changes": [{"change", "words",
  //     "at", "parts"}]}]
  //   "sets": [text of Parts]: "parts" are indices of them
  //   "parts": how many there were
  //   "counters": text of Parts: those that ask for counters
  //   "threads": whether the program had more than one at a launch
  void finish(int status);

 private:
  struct Reached {
    std::uint64_t first = 0;  // the launch or call
    Parts parts;
    std::uint64_t last = ~std::uint64_t{0};  // the part that was added last
    void by(std::uint64_t now, std::uint64_t part) {
      if (first == 0) first = now;
      if (part != last) parts.add(part);
      last = part;
    }
  };
  struct Code {
    std::unique_ptr<engine::MutableCode> parsed;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Reached>
        reached;  // by module, function, instruction
  };
  struct Site {
    std::string api, object, kernel;
    std::uint64_t offset = 0;
    std::map<std::string, Reached> changes;
  };
  Code& code_of(FatBinary& binary);
  Site& site_of(const char* api_name);

  Plan plan_;
  std::map<const FatBinary*, std::string> hashes_;
  std::map<std::string, Code> codes_;
  std::map<std::string, Site> sites_;
  std::vector<std::uint8_t> ran_;
  Parts counters_;
  std::uint64_t parts_ = 0, launches_ = 0, calls_ = 0, instructions_ = 0;
  bool threads_ = false;
  int process_ = getpid();
};

}  // namespace lockstep::runtime
