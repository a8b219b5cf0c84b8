#include "simulator/exec/finding_place.h"

namespace lockstep::exec {

using nlohmann::json;

const json& host_place(const json& stack) {
  static const json kNone;
  const auto frames = stack.find("frames");
  if (frames == stack.end()) return kNone;
  for (const json& frame : *frames) {
    if (!frame.value("file", "").empty()) return frame;
  }
  return kNone;
}

const json& finding_place(const json& finding) {
  const auto stacks = finding.find("host_stacks");
  if (!finding.value("file", "").empty() || stacks == finding.end()) return finding;
  const bool leak = finding.value("kind", "") == "leak";
  for (const json& stack : *stacks) {
    const json& place = host_place(stack);
    if ((leak || stack.value("what", "") == "called") && !place.is_null()) return place;
  }
  return finding;
}

}  // namespace lockstep::exec
