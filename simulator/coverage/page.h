// The page docs/reference/ptx_coverage.md, written from what was measured.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulator/coverage/judged.h"

namespace lockstep::coverage {

// A source of tests with what it says that it judges.
struct Judge {
  std::string test;  // "bits_test"
  std::vector<Judged> rows;
};

// Asks the binaries, which are paths: their sources, in the order in which they answer. Throws
// std::runtime_error for one that does not answer.
std::vector<Judge> judges_of(std::span<const std::string> binaries);

// `recording`: the file of recorded vectors, golden/instructions/h100.zst.
std::string coverage_page(const std::string& recording, const std::vector<Judge>& judges);

}  // namespace lockstep::coverage
