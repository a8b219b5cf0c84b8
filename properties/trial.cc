#include "properties/trial.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "harness/property/compare.h"

namespace lockstep::properties {
namespace {

std::string stream_text(const void* stream) {
  return stream == nullptr                                   ? "the default stream"
         : stream == static_cast<void*>(cudaStreamLegacy)    ? "the legacy default stream"
         : stream == static_cast<void*>(cudaStreamPerThread) ? "the thread's default stream"
                                                             : "a stream of its own";
}

}  // namespace

Trial::Trial(BoundCall judged, BoundCall first, BoundCall other)
    : judged_(std::move(judged)), first_(std::move(first)), other_(std::move(other)) {
  judged_.contract->allocate();
}

void Trial::set_arrays(Contents contents, const Stream& stream) {
  const auto& from = (contents == Contents::kFirst ? first_ : other_).contract->arrays();
  const auto& to = judged_.contract->arrays();
  for (std::size_t i = 0; i < to.size(); ++i) to[i].held->take(*from[i].held, stream);
}

void Trial::set(Contents contents, const Stream& stream) {
  set_arrays(contents, stream);
  for (const ArrayArgument& array : judged_.contract->arrays()) array.held->poison();
  set_variables(contents);
  stream.synchronise();
}

void Trial::set_variables(Contents contents) {
  const std::vector<Variable>& from = (contents == Contents::kFirst ? first_ : other_).variables;
  for (std::size_t i = 0; i < from.size(); ++i) judged_.variables[i].write(from[i].contents());
}

void Trial::launch(const Stream& stream, const char* when) {
  const std::string what = name() + ", " + when;
  const Site site = {__FILE__, __LINE__, what.c_str()};
  lockstep::detail::require_success(site, judged_.launch(stream));
  stream.synchronise();
}

Results Trial::results() const {
  Results all;
  for (const ArrayArgument& array : judged_.contract->arrays()) {
    if (array.role != Role::kInput)
      all.push_back({array.name, array.element_bytes, array.held->bytes()});
  }
  for (const Variable& variable : judged_.variables)
    all.push_back({variable.name, 1, variable.read()});
  return all;
}

Results Trial::run(Contents contents, const Stream& stream, const char* when) {
  set(contents, stream);
  launch(stream, when);
  return results();
}

void require_same(const std::string& launcher, const Results& actual, const Results& expected,
                  const char* when) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Bytes &is = actual[i].bytes, &wanted = expected[i].bytes;
    if (is.size() == wanted.size() && std::memcmp(is.data(), wanted.data(), is.size()) == 0)
      continue;
    const auto [a, e] = std::ranges::mismatch(is, wanted);
    if (e == wanted.end()) continue;
    const auto byte = static_cast<std::size_t>(e - wanted.begin());
    fail_case(
        {Reason::kMismatch, "",
         fmt::format("{}, {}: {} differs from what the same call gives otherwise, first in element "
                     "{} (byte {})",
                     launcher, when, expected[i].name, byte / expected[i].element_bytes, byte)});
  }
}

void require_all_on(const Trial& trial, const std::vector<lockstepOperation>& operations,
                    const Stream& stream, bool captured) {
  for (const lockstepOperation& o : operations) {
    REQUIRE_LAW(o.kind != LOCKSTEP_FAILED_CALL,
                "{}: {} failed with {}, and the launcher answers success", trial.name(), o.call,
                cudaGetErrorName(static_cast<cudaError_t>(o.error)));
    REQUIRE_LAW(o.stream == static_cast<cudaStream_t>(stream),
                "{}: {} went to {}, not to the one that was given", trial.name(), o.call,
                stream_text(o.stream));
    REQUIRE_LAW(o.captured == captured, "{}: {} was done while the stream was captured",
                trial.name(), o.call);
  }
}

}  // namespace lockstep::properties
