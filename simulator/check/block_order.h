// What each thread of one block knows: the accesses that are ordered before whatever it does next
// (base causality order, PTX ISA 8.9.5).
//
// The barriers of the whole block cut its time into epochs: an access of an earlier epoch is
// ordered before every access of this one. Within an epoch each warp has a clock, which its smaller
// synchronisations advance. An access has the epoch and the clock of its time as its stamp.
//
// Knowledge is stored by warp. A lane that has learnt more than its warp has a store of its own
// until the warp's lanes meet. Lock-step execution, votes and shuffles order nothing.
//
// Release patterns (8.8): a release operation, or a fence and then a strong write, leaves a Message
// at the location that it writes (story.h). Acquire patterns: an acquire operation that reads
// there, or a strong read and then a fence, adds it to what the thread knows. Both scopes must
// include the other thread.
//
// Three rules order more than the manual does, since correct-looking programs, among them the
// last-block example of the CUDA C++ Programming Guide, rely on them:
// - The fences of other threads of the block, before a barrier with them, also stand before the
// strong
//   writes of this thread after the barrier: `__threadfence(); __syncthreads(); if (t == 0) flag =
//   1;`.
// - So do the fences that the other lanes of its warp execute in the same instruction.
// - A barrier of the block is a fence for the strong reads before it: `if (t == 0) last =
// atomicInc(...)
//   == n - 1; __syncthreads(); if (last) ...`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/check/knowledge.h"
#include "simulator/check/scope.h"
#include "simulator/check/thread_clocks.h"

namespace lockstep::check {

class GridOrder;

class BlockOrder {
 public:
  static constexpr std::uint32_t kClockMax = ThreadClocks::kMax;

  BlockOrder();
  ~BlockOrder();
  BlockOrder(BlockOrder&&) = delete;

  // Epochs are numbered over all blocks that this object serves.
  std::uint32_t epoch() const { return epoch_number_; }
  std::uint32_t clock(std::uint32_t warp) const { return clock_[warp]; }
  std::uint32_t block() const { return block_; }
  // Whether a block is of the launch of this one.
  bool is_of_launch(std::uint32_t other) const { return other - first_block_ < blocks_; }

  // Whether the access of thread `other` of this block, stamped `clock` in this epoch, is ordered
  // before what `thread` does now. Threads are numbered in the block.
  bool ordered(std::uint32_t other, std::uint32_t clock, std::uint32_t thread) const {
    const std::uint32_t w = thread >> 5, v = other >> 5;
    if (clock == kClockMax) return true;  // the clock has run out
    if (v == w &&
        (all_lanes_[w] > clock ||
         (lanes_used_ && lane_clock_[(w * 32 + (thread & 31)) * 32 + (other & 31)] > clock)))
      return true;
    return partial_ &&
           (known_[w].cover(v, other & 31, clock) ||
            ((apart_[w] >> (thread & 31) & 1) && known_to_lane(other, clock, thread)) ||
            (knows_others_ && knows(thread, block_, epoch_number_, v, other & 31, clock)));
  }
  // The same of an access of another block.
  bool ordered_after_block(std::uint32_t thread, std::uint32_t block, std::uint32_t epoch,
                           std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
    return knows_others_ && knows(thread, block, epoch, warp, lane, clock);
  }
  // The same of a block of another launch: also where the thread knows of a launch that comes after
  // that one.
  bool ordered_after_launch(std::uint32_t thread, std::uint32_t block) const;
  // Whether the thread knows of a launch that comes after the `sequence`-th operation of a lane:
  // then the operation is ordered before whatever the thread does next.
  bool ordered_after_operation(std::uint32_t thread, std::uint32_t lane,
                               std::uint32_t sequence) const;
  // Whether some thread of the block knows of other blocks.
  bool knows_of_others() const { return knows_others_; }
  // Whether threads of warp `w` may differ in what they know of warp `v` of `block`, or may know of
  // some of its lanes and not of others.
  bool knows_lanes_apart(std::uint32_t w, std::uint32_t block, std::uint32_t v) const;
  // Whether, in this epoch, warp `w` has been ordered after anything that its lanes, or other
  // warps, did.
  bool partly_ordered(std::uint32_t w) const {
    return partial_ || lanes_used_ || all_lanes_[w] != 0;
  }
  // What is ordered before whatever `lanes` of warp `w` do now, and what they themselves have done
  // before the present clock. `all`: these are all lanes that the warp has ever had.
  ThreadClocks clocks_known_to(std::uint32_t w, std::uint32_t lanes, bool all) const;
  Knowledge known_to(std::uint32_t w, std::uint32_t lanes, bool all) const;

  // The warp has accessed a matrix as one (ldmatrix, wgmma). PTX does not say that the lanes meet
  // there, and programs let one of them release the others' part: a release by any lane covers all
  // that the warp has done so far. The lanes are not ordered among themselves.
  void accessed_as_one(std::uint32_t warp) { as_one_[warp] = clock_[warp] + 1; }
  // Any lane's release by `warp` covers what `other` has done so far: they have read shared memory
  // as one warpgroup (wgmma), and `warp` has waited for it.
  void accessed_as_group(std::uint32_t warp, std::uint32_t other);
  // What the warp does from now on has a later clock.
  void tick(std::uint32_t warp) {
    clock_[warp] = clock_[warp] < kClockMax ? clock_[warp] + 1 : kClockMax;
  }
  // A release operation is over. A compare-and-swap that wrote nothing was none: no message has
  // been made.
  void end_release(std::uint32_t warp) {
    if (released_ >> warp & 1) tick(warp);
    released_ &= ~(1u << warp);
  }
  // bar.warp.sync of `lanes`; `all`: these are all lanes that the warp has ever had.
  void warp_sync(std::uint32_t warp, std::uint32_t lanes, bool all);
  // Lanes of a warp arrive at a barrier that not all warps take part in, and the `waiting` warps
  // leave it. `all`: these are all lanes that the warp has ever had.
  void arrive(std::uint32_t warp, int barrier, std::uint32_t lanes = ~0u, bool all = true);
  // Returns whether these may know more of other blocks now.
  bool complete(int barrier, std::uint32_t waiting);
  // Fences by `lanes`: an acquire of what their strong reads have found, a release, or both.
  void acquire_fence(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope);
  void release_fence(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope);
  void fence(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope) {
    acquire_fence(warp, lanes, all, scope);
    release_fence(warp, lanes, all, scope);
  }

  // Whether a strong write of `thread` that is no release leaves any message: a fence stands before
  // it.
  bool has_fenced(std::uint32_t thread) const {
    return block_fenced_ != 0 || (fenced_[thread >> 5] >> (thread & 31) & 1) != 0;
  }
  // Whether any thread of the warp has.
  bool has_fenced_in(std::uint32_t warp) const { return block_fenced_ != 0 || fenced_[warp] != 0; }
  // Adds the messages that a strong write of `thread` leaves: those of the fences before it.
  void leave(std::uint32_t thread, Messages& at);
  // The message of `lanes` as a release operation leaves it, with the operation's own accesses;
  // `all` as in known_to(). end_release() must follow, before the lanes access anything else.
  Message message_of(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope);
  // An acquire operation of `scope` by `thread` has read a location that carries these messages.
  // Whether it includes the threads of all of them, and they this one.
  bool acquire(std::uint32_t thread, const Messages& found, Scope scope);
  // A strong read has: a later fence, or acquire operation on the same location, makes them known.
  // `location` is any number that names it; `version` changes with its messages.
  void remember(std::uint32_t thread, std::uint64_t location, std::uint64_t version,
                const Messages& found);
  bool remembers() const { return !pending_.empty(); }
  void acquire_remembered(std::uint32_t thread, std::uint64_t location, Scope scope);
  // The same of `lanes`, which read one location together; `all`: these are all lanes that have not
  // exited.
  void acquire(std::uint32_t warp, std::uint32_t lanes, bool all, const Messages& found,
               Scope scope);
  // The thread, lanes of a warp, or all threads of the block learn this.
  void learn(std::uint32_t thread, const Knowledge& what);
  void learn(std::uint32_t warp, std::uint32_t lanes, bool all, const Knowledge& what);
  void learn(const Knowledge& what);
  // Lanes that know the same beyond what their warp knows no longer need stores of their own.
  // `lanes`: all that have not exited.
  void put_together(std::uint32_t warp, std::uint32_t lanes) {
    if (apart_[warp] != 0) put_lanes_together(warp, lanes);
  }
  const GridOrder& grid() const { return *grid_; }
  void publish(const ReleaseClock& done) const;
  // The block has ended: launches that come after this one know what it knows of others.
  void end_block();
  // What all threads of the block know of other blocks.
  const VectorClock& known_to_all() const { return others_; }
  std::uint32_t cluster() const { return cluster_; }

 protected:
  // A block begins. `cluster`: blocks in a cluster. Nothing is published unless there are other
  // blocks.
  void start_block(std::uint32_t block, std::uint32_t cluster, GridOrder* grid);
  // A barrier of every thread that has not exited, or the start of a block. `is_fence`: it counts
  // as one for strong reads. Whether what the block as a whole knows of other blocks has changed.
  bool next_epoch(bool is_fence = true);

  std::uint32_t epoch_number_ = 0;
  std::uint32_t clock_[32] = {};
  std::uint32_t all_lanes_[32] = {};  // clock at the last synchronisation of all lanes of the warp
  bool partial_ = false;     // some order between threads in this epoch, by other means than these
  bool lanes_used_ = false;  // some order between single lanes in this epoch

 private:
  struct Lane {
    ThreadClocks clocks;
    VectorClock others;
    bool operator==(const Lane&) const = default;
  };
  // What a fence covers: `what`, and accesses of the thread itself before `clock`.
  struct Fence {
    std::shared_ptr<const Knowledge> what;
    std::uint32_t clock = 0;
  };
  static constexpr int kScopes = 3;
  struct Fences {
    Fence of[32][kScopes];
  };
  struct Barrier {
    ThreadClocks clocks;
    VectorClock others;
    std::shared_ptr<const Knowledge> fenced[kScopes];
  };
  struct Pending {
    std::uint32_t thread;
    std::uint64_t location, version;
    Messages found;
  };
  static constexpr std::size_t kMostPending = 256;

  void use_partial();
  bool hand_on(bool is_fence);
  bool reached(const Message& m, Scope scope) const;
  bool known_to_lane(std::uint32_t other, std::uint32_t clock, std::uint32_t thread) const;
  bool knows(std::uint32_t thread, std::uint32_t block, std::uint32_t epoch, std::uint32_t warp,
             std::uint32_t lane, std::uint32_t clock) const;
  bool knows_all_of(std::uint32_t thread, const ReleaseClock& done) const;
  void put_lanes_together(std::uint32_t warp, std::uint32_t lanes);
  // What lanes of the warp know beyond it becomes known to the warp, or is joined into `clocks` and
  // `others`.
  void join_lanes(std::uint32_t warp, std::uint32_t lanes, ThreadClocks& clocks,
                  VectorClock& others) const;
  Lane& lane(std::uint32_t thread);
  VectorClock& others_of_warp(std::uint32_t warp);
  // Joins the fences of these lanes, each with its thread's own clock, into `all`.
  void join_fences(std::uint32_t warp, std::uint32_t lanes,
                   std::shared_ptr<const Knowledge> (&all)[kScopes]) const;
  void join_into(std::shared_ptr<const Knowledge>& all, std::shared_ptr<const Knowledge> k) const;
  // Joins the messages that strong reads of threads of the warp have found into `clocks` and
  // `others`.
  void join_pending(std::uint32_t warp, ThreadClocks& clocks, VectorClock& others) const;
  void set_fences(std::uint32_t warp, std::uint32_t lanes,
                  const std::shared_ptr<const Knowledge> (&all)[kScopes]);

  std::uint32_t block_ = 0, cluster_ = 1;
  std::uint32_t first_block_ = 0, blocks_ = ~0u;  // of the launch
  GridOrder* grid_ = nullptr;
  std::unique_ptr<GridOrder> own_grid_;  // of a block that is alone
  std::uint32_t as_one_[32] = {};       // any lane's release covers what was done before this clock
  std::vector<ThreadClocks> as_group_;  // by warp: what other warps did that its releases cover
  std::vector<std::uint32_t> lane_clock_;  // [warp][lane][other lane]
  std::vector<ThreadClocks> known_;        // by warp, but for what its own lanes know of each other
  std::uint32_t apart_[32] = {};           // lanes that know more than their warp
  std::unique_ptr<std::array<Lane, 32>> lanes_[32];
  bool knows_others_ = false;                // some thread knows of other blocks
  VectorClock others_;                       // what all threads know of them
  std::vector<VectorClock> others_of_warp_;  // and, beyond that, the threads of a warp
  std::vector<Barrier> barrier_;             // by barrier: what those who arrived know
  std::uint32_t released_ = 0;               // warps in a release operation
  std::uint32_t fenced_[32] = {};            // lanes that have fenced since the last barrier
  std::unique_ptr<Fences> fences_[32];
  std::shared_ptr<const Knowledge>
      fenced_before_[kScopes];  // by any thread, before a barrier of the block
  bool touched_ = false;        // anything of what follows `clock_` in next_epoch() is in use
  int block_fenced_ = 0;        // how many of these there are
  std::vector<Pending> pending_;
};

}  // namespace lockstep::check
