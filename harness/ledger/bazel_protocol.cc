#include "harness/ledger/bazel_protocol.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "harness/ledger/options.h"

namespace lockstep {
namespace {

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

void append(const std::string& path, std::string_view text) {
  if (!path.empty()) std::ofstream(path, std::ios::app) << text << '\n';
}

constexpr std::uint64_t kMaxShards = 100'000;

// Bazel's variable; if unset GoogleTest's, for other runners.
std::string either(const char* bazel, const char* gtest) {
  const std::string value = environment(bazel);
  return value.empty() ? environment(gtest) : value;
}

}  // namespace

BazelProtocol BazelProtocol::from_environment() {
  BazelProtocol b;
  b.target = environment("TEST_TARGET");
  b.shard_status_file = environment("TEST_SHARD_STATUS_FILE");
  b.undeclared_outputs = environment("TEST_UNDECLARED_OUTPUTS_DIR");
  b.warnings_file = environment("TEST_WARNINGS_OUTPUT_FILE");
  b.infrastructure_file = environment("TEST_INFRASTRUCTURE_FAILURE_FILE");
  b.premature_exit_file = environment("TEST_PREMATURE_EXIT_FILE");
  b.tmpdir = environment("TEST_TMPDIR");
  b.is_test = (!b.target.empty() || !environment("XML_OUTPUT_FILE").empty()) &&
              environment("BUILD_WORKSPACE_DIRECTORY").empty();

  const std::string total = either("TEST_TOTAL_SHARDS", "GTEST_TOTAL_SHARDS");
  const std::string index = either("TEST_SHARD_INDEX", "GTEST_SHARD_INDEX");
  if (total.empty() && index.empty()) return b;
  // Bazel sets 0 of 0 for a test without shards.
  const auto n = parse_number(total, 0, kMaxShards), i = parse_number(index, 0, kMaxShards);
  if (!n || !i || (*n > 0 && *i >= *n) || (*n == 0 && *i != 0)) {
    b.error = fmt::format("the environment names shard '{}' of '{}', which is none", index, total);
    return b;
  }
  b.total_shards = *n == 0 ? 1 : static_cast<int>(*n);
  b.shard_index = static_cast<int>(*i);
  return b;
}

std::string announce(const BazelProtocol& bazel) {
  if (!bazel.shard_status_file.empty() && !std::ofstream(bazel.shard_status_file, std::ios::app)) {
    return fmt::format("TEST_SHARD_STATUS_FILE={} cannot be written", bazel.shard_status_file);
  }
  if (!bazel.error.empty()) return bazel.error;
  if (bazel.sharded()) {
    setenv("GTEST_TOTAL_SHARDS", std::to_string(bazel.total_shards).c_str(), 1);
    setenv("GTEST_SHARD_INDEX", std::to_string(bazel.shard_index).c_str(), 1);
  } else {
    unsetenv("GTEST_TOTAL_SHARDS");
    unsetenv("GTEST_SHARD_INDEX");
  }
  if (!bazel.tmpdir.empty()) setenv("CUDA_CACHE_PATH", bazel.tmpdir.c_str(), /*overwrite=*/0);
  return "";
}

void warn_runner(const BazelProtocol& bazel, std::string_view text) {
  append(bazel.warnings_file, text);
}

void blame_infrastructure(const BazelProtocol& bazel, std::string_view component,
                          std::string_view text) {
  append(bazel.infrastructure_file, fmt::format("{}\n{}", component, text));
}

}  // namespace lockstep
