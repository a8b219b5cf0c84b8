// The mutants of kernels that a server judges by comparing launches, and how far each has come.
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
  bool over = false;    // judged, or a process of its own goes on with it to its end
  bool whole = false;   // cannot stand beside the unchanged code
  std::string refused;  // why it cannot be compiled
  std::map<int, std::unique_ptr<engine::Exchange>> beside;  // by device
  // Parts of the program: the last that came to it, the last in which it differed, and how many
  // did.
  std::uint64_t reached = ~0ull, differed = ~0ull;
  unsigned parts_reached = 0, parts_differed = 0;
  unsigned same = 0;  // launches that left the same
  bool needs_more() const { return !over && (mutant->enough == 0 || same < mutant->enough); }
};

class Candidates {
 public:
  // `plan` must live as long.
  explicit Candidates(const Plan& plan);

  // Whether some candidate that is not over may come to something in this part.
  bool need(std::uint64_t part) const;

  // A launch is about to be made, in a part. Then next() gives the candidates of which it leaves
  // something else than unchanged, or might, one after the other, and those that cannot be
  // compiled; nullptr: no more. Memory is then as it was. `trying` is told whose code runs, by its
  // id, and 0 when none does.
  void begin(Runtime& runtime, FatBinary& binary, const engine::Kernel& kernel,
             const engine::LaunchConfig& config, std::uint64_t part, std::atomic<int>* trying);
  Candidate* next();
  // Of that launch unchanged; 0: it was not compared.
  std::uint64_t instructions() const { return comparable_ ? trial_.instructions() : 0; }

  // The candidate's code for launches on a device; nullptr: it is `whole`, `refused`, or not of
  // this binary.
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
  // Of the launch.
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
