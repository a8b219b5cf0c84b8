// Laws that every launcher owes whatever it computes, as functions of a trial: work goes to the
// stream that was given, nothing is kept from one call to the next, what the header promises is
// taken. properties/contract_laws.h makes laws of a family of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/property/contract.h"
#include "properties/trial.h"

namespace lockstep::properties {

// The launch comes after the work that its stream already holds. Work that writes the launcher's
// input is held up until the launcher has returned; the result must be that of the new input. On
// silicon the default streams are drained first: work that went there has read old input. On the
// simulated GPU the stream of each operation is checked. A launcher that takes no stream has waited
// for all that it requested, whatever memory of the host it was given, pinned memory too: only the
// simulated GPU shows this.
void require_stream_order(Trial& trial);

// On a stream that is being captured nothing runs; the graph, launched for the first contents and
// again for others, gives the right result each time, though `another` call comes before each. A
// launcher that says it cannot be captured is refused by CUDA.
void require_capture(Trial& trial, const std::function<void()>& another);

// Each kernel that is launched has the grid that the contract promises: of a launch that is
// captured, whose graph has it. Values that have kernels of their own (contract.h) launch them.
void require_grid(Trial& trial);

// Two trials of one call, on arrays of their own: what either gives follows from the contents
// alone, whatever went before: the same pointers with other contents, `another` call in between,
// two streams, two host threads, a refused call, a call that CUDA refused. The launcher must return
// that last error, and leave none pending.
void require_no_state(Trial& one, Trial& two, const std::function<void()>& another);

// Calls of one launcher on arrays in the same places whose arguments differ: what `other` gives
// between two launches of `one` is what `fresh`, the same call, gives on arrays of its own. Neither
// has been allocated. With `meet`, on the simulated GPU, another host thread then makes the call
// `fresh` on arrays and a stream of its own while `one` is being launched: between each two of the
// calls of CUDA that the launcher makes. Both give what they give alone.
void require_no_state_of_arguments(const BoundCall& one, const BoundCall& other,
                                   const BoundCall& fresh, bool meet);

// Where a stride or an offset is far beyond 32 bits, and the array's pieces lie as far apart, a
// launch gives what it gives with the case's own. Which values are tried follows from the seed.
void require_far_pieces(Trial& trial, std::uint64_t seed);

// An argument that no result depends on, far from the case's value too, gives the case's result;
// all of these arguments at once as well. Which values are tried follows from the seed.
void require_no_effect_of_immaterial_arguments(Trial& trial, std::uint64_t seed);

// What a launcher says that it did does not depend on what stood there before: the whole of it is
// filled in by each call that succeeds, also where an integer is 0 and there may be nothing to do.
void require_reports_filled(Trial& trial, std::uint64_t seed);

// A call that is so long that 16, 31 or 32 bits do not count its blocks, elements or bytes: the
// first and the last blocks of its grid, which alone run on the simulated GPU, leave what those of
// the case leave, in arrays that have only both ends backed. Which lengths follow from the seed.
// On the simulated GPU alone.
bool may_have_far_ends(const Contract& contract);  // its blocks have both ends to themselves
void require_far_ends(Trial& trial, std::uint64_t seed);

// Each call of CUDA that the launcher makes fails in turn, on the simulated GPU: the launcher
// returns that error, with a sentence that has its name, requests nothing after it, and leaves no
// error pending. Nothing that it made stays behind, whether it has failed or not, and the host
// thread's device and capture mode are what they were.
void require_errors_returned(Trial& trial);
// The same of a function of that name, which is called again and again, each time after `set`. It
// has been called before.
void require_errors_returned_by(const std::string& name, const std::function<void()>& set,
                                const std::function<Answer()>& launch);

// Under each of some schedules (on silicon, in as many runs) the same contents give the same bits.
void require_no_schedule(Trial& trial);

// The same contents on devices in turn: `one` was made on the current device, `two` on device
// kOtherDevice.
void require_no_state_between_devices(Trial& one, Trial& two);

// Another device is the current one meanwhile.
inline constexpr int kOtherDevice = 1;
class OnOtherDevice {
 public:
  OnOtherDevice();
  ~OnOtherDevice();
  OnOtherDevice(const OnOtherDevice&) = delete;
  OnOtherDevice& operator=(const OnOtherDevice&) = delete;

 private:
  int before_ = 0;
};

// What the launcher does follows from its arguments, and from no other property of the device than
// those that the contract names: with the same arguments, on a stream that is being captured, it
// answers, requests, sets and reports the same where all other properties have other values. For
// the case itself, some of the promises and some of the mistakes. On the simulated GPU alone.
void require_same_without_other_properties(const BoundCall& call, std::uint64_t seed);

// What the launcher sets for a kernel (cudaFuncSetAttribute) is the same in each of its calls:
// those of the case and of these promises. It may be that another host thread makes a call between
// what one sets and what it launches. After allocate(). On the simulated GPU alone.
void require_same_limits(const BoundCall& call, const std::vector<std::string>& promises);

// Each of these promises is taken: on a stream that is being captured, since the arrays are where
// nothing is. A call without a stream is made.
void require_promises(const BoundCall& call, const std::vector<std::string>& promises);

}  // namespace lockstep::properties
