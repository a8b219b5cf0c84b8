// The kernel mutants that a server judges by comparing launches, and the state of each.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/run/mutable_code.h"
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
  // those that do not compile. After the last it returns nullptr, and memory is as before. `trying`
  // is set to the id of the candidate whose code runs, and to 0 otherwise.
  void begin(Runtime& runtime, FatBinary& binary, const engine::Kernel& kernel,
             const engine::LaunchConfig& config, std::uint64_t part, std::atomic<int>* trying);
  Candidate* next();
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
  };
  struct Code {
    std::string hash;
    std::map<std::string, std::vector<Entry>> by_kernel;  // "": of functions that kernels call
  };
  Code& code_of(FatBinary& binary, int device);
  void gather(std::vector<Entry>& entries, std::uint64_t part);
  bool came_to(const Entry& entry) const;

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
  bool comparable_ = false;
  std::vector<const Entry*> entries_;
  std::size_t next_ = 0;
};

}  // namespace lockstep::runtime
