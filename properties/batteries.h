// Laws for every launcher, whatever it computes, as functions of a trial. A launcher must use the
// given stream, keep no state between calls, and accept everything that its header promises.
// properties/contract_laws.h makes a family's laws from them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/property/contract.h"
#include "properties/trial.h"

namespace lockstep::properties {

// The launch must execute after earlier work of its stream. Work that writes the launcher's input
// is held up until the launcher has returned, and the result must be that of the new input. On
// silicon the default streams are drained first, so that work launched there has read old input. On
// the simulated GPU the stream of each operation is checked. A launcher without a stream must have
// waited for all its operations, also if host memory is pinned; only the simulated GPU can check
// this.
void require_stream_order(Trial& trial);

// On a stream that is being captured, nothing may execute. The graph is launched for the first
// contents and for others, each time after the call `another`, and each result must be correct. If
// the contract says that the launcher cannot be captured, CUDA must refuse the call.
void require_capture(Trial& trial, const std::function<void()>& another);

// Each launched kernel must have the grid that the contract promises. The grid is read from the
// graph of a captured launch. Values with kernels of their own (contract.h) must launch these
// kernels.
void require_grid(Trial& trial);

// Two trials of one call, on separate arrays: the results of each must depend on the contents
// alone. Before a launch there may be other contents at the same addresses, the call `another`, a
// refused call, or a call with a CUDA error; launches may be on two streams or from two host
// threads. The launcher must return that CUDA error, and leave no error pending.
void require_no_state(Trial& one, Trial& two, const std::function<void()>& another);

// Calls of one launcher with different arguments on arrays at the same addresses. Between two
// launches of `one`, the results of `other` must equal those of `fresh`, the same call on separate
// arrays. The calls must not have been allocated. With `meet`, on the simulated GPU, another host
// thread also makes the call `fresh` on its own arrays and stream while `one` is launching, between
// each two of the launcher's CUDA calls. Both must then have the same results as alone.
void require_no_state_of_arguments(const BoundCall& one, const BoundCall& other,
                                   const BoundCall& fresh, bool meet);

// With a stride or an offset far beyond 32 bits, and the array's pieces equally far apart, a launch
// must have the results of the case. The seed selects the values.
void require_far_pieces(Trial& trial, std::uint64_t seed);

// An argument that must not affect the results has values far from the case's, alone and together
// with all other such arguments. The results must be those of the case. The seed selects the
// values.
void require_no_effect_of_immaterial_arguments(Trial& trial, std::uint64_t seed);

// Each successful call must write all of its report, whatever the report's memory held before, also
// if an integer is 0 and there is no work.
void require_reports_filled(Trial& trial, std::uint64_t seed);

// A call so long that 16, 31 or 32 bits do not count its blocks, elements or bytes. The first and
// the last blocks of its grid, which alone execute on the simulated GPU, must leave the results of
// the case's blocks. Only both ends of the arrays are backed by memory. The seed selects the
// lengths. On the simulated GPU alone.
bool may_have_far_ends(const Contract& contract);  // its blocks do not share the ends
void require_far_ends(Trial& trial, std::uint64_t seed);

// Each CUDA call of the launcher fails in turn, on the simulated GPU. The launcher must return that
// error with a sentence that names the launcher, request nothing after it, and leave no error
// pending. With or without a failure, it must leave no objects behind, and must restore the host
// thread's device and capture mode.
void require_errors_returned(Trial& trial);
// The same for a function of that name, which is called repeatedly, each time after `set`. It must
// have been called before.
void require_errors_returned_by(const std::string& name, const std::function<void()>& set,
                                const std::function<Answer()>& launch);

// Under each of several schedules (on silicon, in as many runs) equal contents must give equal
// bits.
void require_no_schedule(Trial& trial);

// The same contents on two devices alternately: `one` was made on the current device, `two` on
// device kOtherDevice.
void require_no_state_between_devices(Trial& one, Trial& two);

// Makes another device current for its lifetime.
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

// The launcher may depend on its arguments and on the device properties in the contract, and on no
// other property. With the same arguments, on a stream that is being captured, its result,
// operations, settings and reports must be the same if all other properties have other values.
// Tries the case, some promises and some mistakes. On the simulated GPU alone.
void require_same_without_other_properties(const BoundCall& call, std::uint64_t seed);

// All calls of the launcher, of the case and of these promises, must set the same attributes for a
// kernel (cudaFuncSetAttribute). Otherwise another host thread's call could change them between a
// setting and its launch. Call after allocate(). On the simulated GPU alone.
void require_same_limits(const BoundCall& call, const std::vector<std::string>& promises);

// The launcher must accept each of these promises. The stream is being captured, because the arrays
// are not backed by memory. A launcher without a stream is called.
void require_promises(const BoundCall& call, const std::vector<std::string>& promises);

}  // namespace lockstep::properties
