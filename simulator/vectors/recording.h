// A file of recorded results: a readable text part, compressed with zstd as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockstep::vectors {

struct RecordedForm {
  std::uint64_t inputs = 0;           // digest() of the inputs
  std::vector<std::uint8_t> results;  // pack()ed
};

struct Recording {
  std::string device;  // "NVIDIA H100 80GB HBM3, compute capability 9.0, driver 13.0"
  std::map<std::string, RecordedForm> forms;  // by VectorForm::name
};

// Throws std::runtime_error that names the file and the error.
Recording read_recording(const std::string& path);
void write_recording(const std::string& path, const Recording& recording);

}  // namespace lockstep::vectors
