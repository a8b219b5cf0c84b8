// Writing a file whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::command {

// What is at `path` is either all of `text` or what was there before: a disk that is full, or an end in between, leaves
// no cut-off file. What is no ordinary file (a terminal, a pipe) is written to as it is. Empty, or a sentence.
std::string save_file(const std::string& path, std::string_view text);

}  // namespace lockstep::command
