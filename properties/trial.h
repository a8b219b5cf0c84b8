// A call that is launched repeatedly on the same arrays, with contents that are exchanged in
// between: those of its case, and others of the same shape. Common to the batteries of
// properties/contract_laws.h.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "harness/property/contract.h"
#include "properties/streams.h"

namespace lockstep::properties {

enum class Contents : std::uint8_t { kFirst, kOther };

// The contents of outputs, in-out arrays and variables after a launch, with their names.
struct Result {
  std::string name;
  std::size_t element_bytes;
  Bytes bytes;
};
using Results = std::vector<Result>;

class Trial {
 public:
  // Makes arrays for `judged`. `first` and `other` are the same call with the case's contents and
  // with others; they are allocated already, and supply the contents.
  Trial(BoundCall judged, BoundCall first, BoundCall other);

  const std::string& name() const { return judged_.contract->launcher(); }
  bool takes_stream() const { return judged_.takes_stream; }
  const BoundCall& call() const { return judged_; }

  // Prepares a launch with these contents: writes inputs in stream order, and poisons outputs.
  void set(Contents contents, const Stream& stream);
  // The two parts of set(): work in stream order, and work that is complete on return.
  void set_arrays(Contents contents, const Stream& stream);
  void set_variables(Contents contents);
  // Launches, requires success, and waits.
  void launch(const Stream& stream, const char* when);
  // Waits for the device.
  Results results() const;
  // set(), launch() and results().
  Results run(Contents contents, const Stream& stream, const char* when);

 private:
  BoundCall judged_, first_, other_;
};

// Fails the case as a mismatch unless both hold the same bytes.
void require_same(const std::string& launcher, const Results& actual, const Results& expected,
                  const char* when);
inline void require_same(const Trial& trial, const Results& actual, const Results& expected,
                         const char* when) {
  require_same(trial.name(), actual, expected, when);
}
// Fails the case unless all operations used this stream and succeeded.
void require_all_on(const Trial& trial, const std::vector<lockstepOperation>& operations,
                    const Stream& stream, bool captured);

}  // namespace lockstep::properties
