#include "tests/calls/transcripts.h"

#include <zstd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace lockstep::calls {

std::vector<Transcript> split(const std::string& text) {
  std::vector<Transcript> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("seed ", 0) == 0) {
      all.push_back({std::stoull(line.substr(5)), {}});
    } else if (!all.empty()) {
      all.back().lines.push_back(line);
    }
  }
  return all;
}

std::string read_compressed(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string compressed = content.str();
  const unsigned long long size = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  if (!file || size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    throw std::runtime_error(path + ": cannot be read, or was not written by zstd");
  std::string text(size, '\0');
  const std::size_t written =
      ZSTD_decompress(text.data(), text.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(written) != 0)
    throw std::runtime_error(path + ": " + ZSTD_getErrorName(written));
  text.resize(written);
  return text;
}

}  // namespace lockstep::calls
