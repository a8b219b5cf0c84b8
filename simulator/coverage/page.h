// The page docs/ptx_coverage.md, written from what was measured.
#pragma once

#include <string>

namespace lockstep::coverage {

// `recording`: the file of recorded vectors, golden/instructions/h100.zst.
std::string coverage_page(const std::string& recording);

}  // namespace lockstep::coverage
