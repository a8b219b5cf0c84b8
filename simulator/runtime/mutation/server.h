// A run of the program that forks processes which continue as mutants.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/mutation/time_limit.h"
#include "simulator/runtime/mutation/candidates.h"
#include "simulator/runtime/mutation/plan.h"
#include "simulator/runtime/state/interceptor.h"

namespace lockstep::runtime {

class MutationServer final : public Interceptor {
 public:
  // Throws std::runtime_error if the plan's output file cannot be opened.
  explicit MutationServer(Plan plan);
  bool begin_part() override;
  std::optional<engine::Outcome> before_launch(Runtime& runtime, FatBinary& binary,
                                               const engine::Kernel& kernel,
                                               engine::LaunchConfig& config) override;
  void after_launch(FatBinary&, const engine::Kernel&, const engine::Outcome&) override;
  void counters_read() override {}
  bool before_put(Runtime& runtime, const char* api_name, cudaStream_t& stream,
                  Work& work) override;
  bool is_changed(Runtime& runtime, const char* api_name, const char* change) override;
  bool executes_late() const override;
  cudaError_t launch_answered(Runtime& runtime, const char* api_name, cudaError_t error) override;
  void found(const std::vector<check::Finding>& findings,
             const check::Suppressions& suppressions) override;

  // Call when the process ends with `status`. A mutant reports it; the parent waits for its
  // mutants.
  void finish(int status);

 private:
  struct Running {
    int id = 0;
    mutation::TimeLimit limit;
    std::uint64_t part = 0;  // in which it was forked
    bool late = false;
  };
  // Forks the mutants that start here, each when there is room. In a forked process it returns the
  // process's mutant, in the parent nullptr.
  const PlannedMutant* fork_those_at(Runtime& runtime, const std::vector<PlannedMutant>& planned,
                                     std::size_t& next, std::uint64_t now,
                                     const char* api_name = nullptr);
  const PlannedMutant* fork_one(Runtime& runtime, const PlannedMutant& mutant);
  // As fork_those_at(), for mutants whose launch has a different result than the unchanged launch.
  // In a forked process, which is then the mutant, the launch has not been made.
  void compare(Runtime& runtime, FatBinary& binary, const engine::Kernel& kernel,
               const engine::LaunchConfig& config);
  void put_in_place(Runtime& runtime, FatBinary& binary, const engine::Kernel& kernel);
  void end_candidates(int status);
  void become(Runtime& runtime, const PlannedMutant& mutant);
  void mutate_code(Runtime& runtime, FatBinary& binary, int device);
  // `unchanged`: the warp instructions of the unchanged launch; 0: unknown.
  void limit(engine::LaunchConfig& config, std::uint64_t unchanged = 0) const;
  // Reaps the processes that have ended and ends those that exceed their time. Waits until fewer
  // than `fewer_than` run.
  void reap(std::size_t fewer_than);

  Plan plan_;
  std::vector<PlannedMutant> kernels_, calls_;  // from the plan, each in its order
  std::size_t next_kernel_ = 0, next_call_ = 0;
  std::uint64_t parts_ = 0, launches_ = 0, puts_ = 0;
  int lines_ = -1;
  pid_t process_ = 0;  // the id of this process: children that the program itself forks do nothing
  std::map<pid_t, Running> running_;
  const PlannedMutant* self_ = nullptr;  // in a mutant's process
  // If launches are compared.
  std::optional<Candidates> candidates_;
  Candidate* self_candidate_ = nullptr;  // in a mutant's process
  // It judges the rest of a part, and is taken back if the part ends as expected.
  bool until_part_ends_ = false;
  engine::Exchange* in_place_ = nullptr;
  struct Shared {
    // The mutant whose launch this process executes. If the launch ends the process, the command
    // can report the mutant.
    std::atomic<int> trying;
    std::atomic<int> taken_back;  // the mutant whose process has ended with its part
  };
  Shared* shared_ = nullptr;  // shared with the forked processes and the command
  std::map<const FatBinary*, std::string> hashes_;
  bool otherwise_ = false;    // the program behaves differently from the plan
  int times_ = 0;             // how often the mutant's call was made
  int findings_ = 0;          // errors of this process
  int written_findings_ = 0;  // those of them that are not suppressed
};

}  // namespace lockstep::runtime
