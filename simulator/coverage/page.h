// Writes the page docs/reference/ptx_coverage.md from the measurements.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulator/coverage/judged.h"

namespace lockstep::coverage {

// A source of tests and the rows that it registers.
struct Judge {
  std::string test;  // "bits_test"
  std::vector<Judged> rows;
};

// Runs the binaries (paths) with --judges. Returns their sources in the same order. Throws
// std::runtime_error if a binary fails.
std::vector<Judge> judges_of(std::span<const std::string> binaries);

// `recording`: the file of recorded vectors, golden/instructions/h100.zst.
std::string coverage_page(const std::string& recording, const std::vector<Judge>& judges);

}  // namespace lockstep::coverage
