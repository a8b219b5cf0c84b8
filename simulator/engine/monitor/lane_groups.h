// Text for findings: where the lanes of blocks are and what they wait for.
#pragma once

#include <string>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// A list of groups of lanes with the source lines where they are, for the details of a finding.
class LaneGroups {
 public:
  // Adds all groups of the block's warps. `who`: a prefix for each, to distinguish several blocks.
  void add(const Block& b, const std::string& who = {});
  // One indented line for each group, each after a line break. Lists the first kMax groups and the
  // number of the others.
  std::string text() const;

 private:
  static constexpr int kMax = 24;
  std::string text_;
  int count_ = 0;
};

}  // namespace lockstep::engine
