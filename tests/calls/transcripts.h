// Recorded transcripts: the lines that each seed has printed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::calls {

struct Transcript {
  std::uint64_t seed = 0;
  std::vector<std::string> lines;
};

// Splits text into transcripts, at each line "seed N".
std::vector<Transcript> split(const std::string& text);
// The content of a file that zstd compressed. Throws std::runtime_error with the file's name.
std::string read_compressed(const std::string& path);

}  // namespace lockstep::calls
