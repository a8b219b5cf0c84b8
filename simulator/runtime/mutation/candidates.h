// The kernel mutants that a server judges by comparing launches, and the state of each.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/run/mutable_code.h"
#include "simulator/runtime/mutation/parts.h"
#include "simulator/runtime/mutation/plan.h"
#include "simulator/runtime/mutation/trial.h"

namespace lockstep::runtime {

class Runtime;
struct FatBinary;

struct Candidate {
  const PlannedMutant* mutant = nullptr;
  bool over = false;    // judged, or continued to its end by a process of its own
  bool whole = false;   // cannot be loaded beside the unchanged code
  std::string refused;  // why it does not compile
  std::map<int, std::unique_ptr<engine::Exchange>> beside;  // by device
  // About parts of the program: the last that reached it, the last in which it differed, and the
  // number of each.
  std::uint64_t reached = ~0ull, differed = ~0ull;
  unsigned parts_reached = 0, parts_differed = 0;
  unsigned same = 0;  // launches that left the same results
  // The parts in which a thread had another value than the unchanged code, or may have had.
  Parts felt;
  bool unwatchable = false;  // its values cannot be computed beside those of the unchanged code
  bool needs_more() const { return !over && (mutant->enough == 0 || same < mutant->enough); }
};

class Candidates {
 public:
  // `plan` must outlive the object.
  explicit Candidates(const Plan& plan);

  // Whether some undecided candidate may still matter in this part.
  bool need(std::uint64_t part) const;

  // Call begin() before each launch of a part. next() then returns the launch's candidates one by
  // one: those whose launch leaves other results than the unchanged launch, those that might, and
  // those that do not compile. Memory is then as before the launch. After the last it returns
  // nullptr. `trying` is set to the id of the candidate whose code runs, and to 0 otherwise.
  void begin(Runtime& runtime, FatBinary& binary, const engine::Kernel& kernel,
             const engine::LaunchConfig& config, std::uint64_t part, std::atomic<int>* trying);
  Candidate* next();
  // Call after the last. If the unchanged launch has been made, and need not be repeated, returns
  // its outcome. Otherwise memory is as before the launch.
  std::optional<engine::Outcome> adopt();
  // Warp instructions of the unchanged launch; 0: it was not compared.
  std::uint64_t instructions() const { return comparable_ ? trial_.instructions() : 0; }

  // The candidate's code for launches on a device. nullptr if it is `whole` or `refused`, or
  // belongs to another binary.
  engine::Exchange* beside(Candidate& candidate, Runtime& runtime, FatBinary& binary, int device);

  std::vector<Candidate>& all() { return candidates_; }

 private:
  struct Entry {
    Candidate* candidate = nullptr;
    std::vector<std::uint32_t> pcs;
    bool of_kernel = true;  // false: of a function that kernels call
  };
  // Candidates of a kernel that have survived some launches: one launch shows which of them differ.
  struct Watch {
    std::vector<Candidate*> of;
    std::optional<engine::WatchedKernel> kernel;
  };
  struct Code {
    std::string hash;
    std::map<std::string, std::vector<Entry>> by_kernel;  // "": of functions that kernels call
    std::map<std::string, Watch> watches;                 // by kernel
  };
  Code& code_of(FatBinary& binary, int device);
  void gather(std::vector<Entry>& entries, std::uint64_t part);
  Candidate* undone(Candidate& candidate);
  Watch* watch(Code& code, const std::string& kernel);
  void note_reached();
  bool came_to(const Entry& entry) const;
  // nullptr: the candidate was not watched in this launch.
  const engine::WatchedKernel::Mutant* watched(const Candidate& candidate) const;
  bool has_signal(const engine::WatchedKernel::Mutant& mutant) const;

  const Plan& plan_;
  std::vector<Candidate> candidates_;
  std::map<std::string, std::unique_ptr<engine::MutableCode>> parsed_;  // by hash
  std::map<std::pair<const FatBinary*, int>, Code> codes_;
  Trial trial_;
  // The state of the present launch.
  Runtime* runtime_ = nullptr;
  FatBinary* binary_ = nullptr;
  std::atomic<int>* trying_ = nullptr;
  std::uint64_t part_ = 0;
  int device_ = 0;
  bool comparable_ = false, checks_initialisation_ = false;
  Watch* watch_ = nullptr;             // whose kernel has run in place of the unchanged one
  std::vector<std::uint8_t> reached_;  // with a watch: by instruction of the kernel
  std::vector<const Entry*> entries_;
  std::size_t next_ = 0;
};

}  // namespace lockstep::runtime
