// Kernels that run and get nowhere: every thread that could run only looks, again and again, at
// memory that nobody changes any more.
//
// Proved, not guessed. A turn of a warp ends, and the registers and places of its lanes are as they
// were after an earlier turn. All lanes have run, and nothing has changed in between: no memory, no
// barrier, no thread has ended, no clock was read. Such a warp repeats itself for ever. When this
// holds for all blocks that run, on all host threads at once, the launch stands still: a deadlock,
// as it would be on a GPU. Loops that change something, however useless, are
// left to LaunchConfig::instruction_limit.
//
// What they wait for is found out then: everything goes round once more, and accesses to global
// memory are noted. Then the launch pauses (launch/running.h). Another launch, or the host, may
// change what it waits for; if not, it is failed with the finding that is made here. Where some
// look at memory that the host sees, that is no deadlock but what the simulated GPU cannot do: on
// a GPU the launch would have returned, and the host would go on to write there.
#pragma once

#include <cstdint>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

// The warp has used up a turn: remembers where it is, and whether it has been there before.
void note_time_slice(Warp& w);
// Whether the block is where it was and nothing that its threads can see has changed; false when
// virtual time can still pass for some of them.
bool makes_no_progress(Block& b);
// Whether the block changes nothing and most likely waits for another: its turn may as well end.
bool seems_to_wait(const Block& b);

// One host thread's part in finding out that all stand still.
class LivelockWatch {
 public:
  LivelockWatch(Launch& launch, Worker& worker, std::size_t number)
      : launch_(launch), worker_(worker), member_(launch.quiescence, number) {}
  // This host thread has no more to run.
  void leave() { member_.leave(worker_.changes.value()); }
  // All of this thread's blocks have had a turn: `still`, they stand still and no further ones can
  // begin. `first`: the one that comes first in the schedule. Pauses the launch when this holds of
  // all threads.
  void after_time_slices(bool still, const Block& first);

 private:
  bool begins_to_watch();

  Launch& launch_;
  Worker& worker_;
  QuiescenceMember<std::atomic> member_;
};

// Of a launch that stands still, while no host thread runs it. `first`: the block that comes first
// in the schedule.

// Whether this process has threads beside the one that called for the launch.
bool others_run_here();
// Whether some look at memory that the host sees, and another thread of the host (`others`: there
// are some), or, for registered memory, another process, may write there.
bool host_may_help(Launch& launch, bool others);
// The finding to be, and the block that it is of.
struct Livelock {
  Block* block = nullptr;
  check::Finding finding;
};
Livelock livelock_of(Launch& launch, Block& first);
// Memory may have changed: all that look at it look again.
void look_again(Launch& launch);

}  // namespace lockstep::engine
