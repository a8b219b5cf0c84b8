// Makes a program small that shows something: takes statements away, opens loops and branches,
// shortens what repeats, as long as it still shows it.
#pragma once

#include <cstddef>
#include <functional>

#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

// `shows` says whether a smaller program still does; it is asked at most `most` times.
Program reduced(const Program& program, const std::function<bool(const Program&)>& shows,
                std::size_t most = 2000);

}  // namespace lockstep::fuzz::differential
