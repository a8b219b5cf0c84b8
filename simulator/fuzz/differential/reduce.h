// Reduces a program that shows a difference: removes statements, unwraps loops and branches, and
// shortens repetitions, as long as the difference remains.
#pragma once

#include <cstddef>
#include <functional>

#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

// `shows`: whether a smaller program still shows the difference. It is called at most `most` times.
Program reduced(const Program& program, const std::function<bool(const Program&)>& shows,
                std::size_t most = 2000);

}  // namespace lockstep::fuzz::differential
