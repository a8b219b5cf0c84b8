// Where the lanes of blocks are and what they wait for, in words for a finding.
#pragma once

#include <string>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// Groups of lanes and the lines where they are, for a finding's detail.
class LaneGroups {
 public:
  // All groups of the block's warps. `who`: words in front of each, for groups of several blocks.
  void add(const Block& b, const std::string& who = {});
  // One indented line a group, each after a line break; the first kMax, and how many more there
  // are.
  std::string text() const;

 private:
  static constexpr int kMax = 24;
  std::string text_;
  int count_ = 0;
};

}  // namespace lockstep::engine
