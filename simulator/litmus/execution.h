// One execution of a litmus program, step by step, and its races according to PTX ISA 8.7 to 8.9.
//
// Memory is sequentially consistent, as on the simulated GPU: a read returns the last value
// written. Every thread (lane) has a vector clock for base causality order (8.9.5). Every write
// records who has observed it (8.9.2), for the second clause of causality order.
//
//   release pattern   its writes carry a message: the thread, the scope, and the clock of the
//   pattern's first operation
//   acquire pattern   its reads find messages; its last operation accepts those for which the
//   scopes of both ends include each other (8.9.4)
//
// Written from the manual, not from the rules of the simulated GPU's search for races, which it
// judges.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/litmus/program.h"

namespace lockstep::litmus {

// Points at which the search for races is known to differ from the manual, or the manual leaves a
// choice. The defaults follow the manual. A rule that explains a difference is counted separately
// (compare.h).
struct Rules {
  // 8.9.3: fence.sc operations synchronise in the order of their execution. Otherwise they are
  // treated as fence.acq_rel.
  bool fence_sc = true;
  // A fence before a block barrier also applies to strong writes after the barrier by other threads
  // of the block: `__threadfence(); __syncthreads(); if (t == 0) flag = 1;`. The manual requires a
  // fence by the writing thread.
  bool block_fences = false;
  // 8.7: strong operations of several threads on the same bytes are morally strong whatever their
  // sizes.
  bool mixed_sizes = false;
  // An atom whose result is not read is treated as red, as ptxas compiles it.
  bool unused_atom_is_red = false;
  // 8.9.2: red observes the value that it changes, for its thread. (8.8: it is never an acquire
  // pattern.)
  bool red_observes = false;
  // A barrier of the block is a fence for earlier strong reads of its threads. The last-block
  // example of the CUDA C++ Programming Guide has no other fence.
  bool barrier_fences = false;
  // Operations on mbarrier objects have at least cluster scope: libraries arrive at other blocks'
  // objects with the default scope, .cta.
  bool mbarrier_scopes = false;
  // A strong access that is morally strong with the last write of a chain does not race with other
  // blocks' writes in the chain, even if its scope, or theirs, is too narrow. (Needs at least three
  // threads.)
  bool chain_stands = false;
  // 8.9.2: a weak read of a value that its own thread's atomic has written observes the chain
  // before that atomic. (Such a read races with the chain itself, unless something else orders
  // them.)
  bool weak_observes = true;
  // 8.9.2: a read observes a write also if it returns some of its bytes only, since a write of
  // another size has changed the others. (The manual gives mixed-size races no meaning, 8.7.2.)
  bool parts_observe = true;
  // Races on bytes that three threads or more access count, too.
  bool three_threads = true;
  bool operator==(const Rules&) const = default;
};

// Two operations that race, each by its thread and its index in the thread. The first is earlier in
// the execution.
struct Race {
  std::uint8_t thread = 0, op = 0, other_thread = 0, other_op = 0;
  auto operator<=>(const Race&) const = default;
};

// The properties of a program that do not change while it runs.
class Setting {
 public:
  Setting(const Program& program, const Rules& rules);

  const Program& program() const { return *program_; }
  const Rules& rules() const { return rules_; }
  // The threads in the scope of an operation of `thread`, one bit each.
  std::uint8_t reach(int thread, Scope scope) const {
    return reach_[thread][static_cast<int>(scope)];
  }
  std::uint8_t warp_mates(int thread) const { return warp_mates_[thread]; }
  std::uint8_t block_mates(int thread) const { return reach(thread, Scope::kCta); }
  std::uint8_t cluster_mates(int thread) const { return reach(thread, Scope::kCluster); }
  // The location's cells, one bit each. A cell is a range of bytes that every location covers
  // completely or not at all.
  std::uint16_t cells(int location) const { return cells_[location]; }
  // Whether at most two threads access some of the cells.
  bool is_of_two_threads(std::uint16_t cells) const { return (cells & ~crowded_) != 0; }
  struct Cell {
    std::uint8_t begin = 0, bytes = 0, arena = 0;
  };
  const Cell& cell(int number) const { return all_cells_[number]; }
  // The number of a block's or warp's barrier, unique among all blocks.
  int barrier(int thread, const Op& op) const;
  // The threads in a warp barrier's mask.
  std::uint8_t in_mask(int thread, std::uint32_t mask) const;
  // The number of warps with threads in the thread's block.
  int warps(int thread) const { return warps_[thread]; }

  // Whether the order of two threads' next operations makes no difference.
  bool independent(int thread, const Op& op, int other_thread, const Op& other) const;

 private:
  struct BarrierName {
    std::uint8_t block, warp, id;
    std::uint32_t mask;
    bool operator==(const BarrierName&) const = default;
  };
  static BarrierName name_of(const Thread& t, const Op& op);
  std::uint16_t cells_of_many_threads() const;

  const Program* program_;
  Rules rules_;
  std::uint8_t reach_[kMaxThreads][4] = {};
  std::uint8_t warp_mates_[kMaxThreads] = {};
  int warps_[kMaxThreads] = {};
  std::uint16_t cells_[kMaxLocations] = {};
  std::uint16_t crowded_ = 0;  // cells that more than two threads access
  std::vector<Cell> all_cells_;
  std::vector<BarrierName> barriers_;
};

// The state of an execution. Small and trivially copyable: searches copy it at every step.
class Execution {
 public:
  explicit Execution(const Setting& setting);

  // The threads that can execute a step, one bit each.
  std::uint8_t enabled() const;
  bool finished() const;
  const Op& next(int thread) const { return setting_->program().threads[thread].ops[pc_[thread]]; }
  // Executes a step of an enabled thread. Adds the races of its operation with earlier ones to
  // `races`.
  void step(int thread, std::vector<Race>& races);
  // The values read by the threads' operations and the contents of global memory. Executions with
  // the same outcome cannot be distinguished.
  std::uint64_t outcome() const;
  // Whether barriers were used in a way that PTX forbids.
  bool broken() const { return broken_; }
  // Whether a thread executed a loop more often than the limit.
  bool cut() const { return cut_; }

  static constexpr int kMaxEvents = 64, kMostRounds = 3;

 private:
  using Clock = std::array<std::uint8_t, kMaxThreads>;
  static void join(Clock& to, const Clock& from) {
    for (int i = 0; i < kMaxThreads; ++i) to[i] = std::max(to[i], from[i]);
  }
  // The latest message of each thread and scope: the first operation of a release pattern.
  struct Messages {
    Clock of[kMaxThreads][4] = {};
    void join(const Messages& from) {
      for (int t = 0; t < kMaxThreads; ++t) {
        for (int s = 0; s < 4; ++s) Execution::join(of[t][s], from.of[t][s]);
      }
    }
  };
  static constexpr int kMaxCells = 16;
  static constexpr int kPlaces = kMaxLocations + kMaxObjects;
  struct Cell {
    std::uint64_t value = 0;
    std::uint64_t accesses = 0, chain = 0;  // events
    std::int8_t last = -1;                  // the last write of the chain
    Messages messages;                      // of the release patterns in the chain
  };
  struct Event {
    std::uint8_t thread, op, epoch, location;
    bool strong, reads, writes;
    Scope scope;
    Clock observed = {};  // the first operation of each thread that has observed it; 0: none
  };
  struct Barrier {
    std::uint8_t came = 0, waiting = 0, arrivals = 0, expected = 0;
    Clock clock = {};
    Messages fences;
  };
  // An mbarrier or the barrier of a cluster. Each arrival is a strong write, which a wait observes
  // if the two are morally strong. Indexed by the arriving thread and its scope, block or cluster.
  struct Phases {
    std::uint8_t arrived = 0, phase = 0;
    Messages pending[kMaxThreads][2], complete[kMaxThreads][2];
  };

  bool can_step(int thread) const;
  void access(int thread, const Op& op, std::vector<Race>& races);
  void fence(int thread, const Op& op);
  void come_to_barrier(int thread, const Op& op);
  void open(Barrier& b);
  void arrive(int thread, const Op& op);
  Messages observed(const Phases& at, int thread, Scope scope) const;
  int cluster_of(int thread) const;
  std::uint64_t read(int location) const;
  void write(int location, std::uint64_t value);
  bool is_read_in_parts(int write, std::uint16_t cells, std::uint16_t linked) const;
  bool morally_strong(const Event& a, const Event& b) const;
  bool ordered(const Event& before, int thread) const;
  void acquire(int thread, Scope scope, const Messages& messages);

  const Setting* setting_;
  std::uint8_t pc_[kMaxThreads] = {};
  std::uint8_t blocked_ = 0;  // waits at a barrier
  std::uint8_t polled_ = 0;   // the thread's await has read the current value
  bool broken_ = false;
  Clock clock_[kMaxThreads] = {};
  Messages fences_[kMaxThreads];             // carried by the thread's strong writes
  Messages released_[kMaxThreads][kPlaces];  // the same for its release operations on each place
  Messages found_[kMaxThreads][kPlaces];
  Messages sc_;
  Cell cells_[kMaxCells];
  Event events_[kMaxEvents];
  std::uint8_t event_count_ = 0;
  Barrier barriers_[8];
  Phases objects_[kMaxObjects], clusters_[kMaxBlocks];
  std::uint64_t results_[kMaxThreads][kMaxOps] = {};
  std::uint8_t rounds_[kMaxThreads] = {};
  bool cut_ = false;
};

}  // namespace lockstep::litmus
