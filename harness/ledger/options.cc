#include "harness/ledger/options.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <set>

namespace lockstep {
namespace {

constexpr std::uint64_t kMaxCases = 1'000'000'000;

// GoogleTest flags that would make a run prove less than its ledger says.
std::string refused_gtest_flag(std::string_view flag) {
  if (flag.starts_with("--gtest_repeat"))
    return "--gtest_repeat would record each property more than once; use bazel test "
           "--runs_per_test";
  return "";
}

void set_text(std::string& field, std::string_view flag, std::string_view value,
              std::vector<std::string>& errors) {
  if (value.empty()) errors.push_back(fmt::format("{}= needs a path", flag));
  field = value;
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t lo,
                                          std::uint64_t hi) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || value < lo || value > hi)
    return std::nullopt;
  return value;
}

std::optional<double> parse_scale(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 1e-6 && value <= 1e6))
    return std::nullopt;
  return value;
}

ParsedOptions parse_options(const std::vector<std::string>& arguments) {
  ParsedOptions out;
  Options& o = out.options;
  std::set<std::string, std::less<>> seen;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--gtest_")) {
      const std::string refused = refused_gtest_flag(argument);
      if (refused.empty()) {
        out.rest.push_back(argument);
      } else {
        out.errors.push_back(refused);
      }
      continue;
    }
    const auto equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    const bool has_value = equals != argument.npos;
    const std::string value = has_value ? argument.substr(equals + 1) : "";
    if (!seen.insert(flag).second) out.errors.push_back(fmt::format("{} is given twice", flag));
    if (flag == "--help" || flag == "--list" || flag == "--fail-fast") {
      if (has_value) out.errors.push_back(fmt::format("{} takes no value", flag));
      (flag == "--help" ? o.help : flag == "--list" ? o.list : o.fail_fast) = true;
    } else if (flag == "--seed") {
      const auto n = parse_number(value, 1, std::numeric_limits<std::uint64_t>::max());
      if (!n)
        out.errors.push_back(fmt::format("--seed={} is not an integer from 1 to 2^64-1", value));
      o.seed = n.value_or(0);
    } else if (flag == "--cases") {
      const auto n = parse_number(value, 1, kMaxCases);
      if (!n)
        out.errors.push_back(
            fmt::format("--cases={} is not an integer from 1 to {}", value, kMaxCases));
      o.cases = static_cast<int>(n.value_or(0));
    } else if (flag == "--case") {
      CaseName name;
      std::string error;
      if (parse_case_name(value, name, error)) {
        o.replay = name;
      } else {
        out.errors.push_back("--case: " + error);
      }
    } else if (flag == "--out") {
      set_text(o.out, flag, value, out.errors);
    } else if (flag == "--ledger") {
      set_text(o.ledger, flag, value, out.errors);
    } else if (flag == "--waivers") {
      set_text(o.waivers, flag, value, out.errors);
    } else {
      out.errors.push_back(
          fmt::format("'{}' is not a flag of this program; --help lists them", argument));
    }
  }
  return out;
}

std::string help_text(std::string_view program) {
  return fmt::format(R"({} checks properties and closes a ledger over them.

  --case='Suite.Name: field=value ...'  run this case of this property alone, whatever filters and
                                        shards say
  --cases=N                             cases of each property that has more than one, in place of
                                        its own number
  --seed=N                              seed of every property, in place of one from its name
  --fail-fast                           end with the first property that fails, without a search
                                        for a smaller case
  --list                                print the properties, run none
  --ledger=FILE                         write the ledger there, as JSON
  --out=DIR                             write DIR/ledger.json
  --waivers=FILE                        known failures, in place of the file beside the program
  --gtest_filter=... and the like       GoogleTest's own flags
  --help                                this text

  LOCKSTEP_GPU=auto|required|simulated|off   which device may run the kernels
  LOCKSTEP_DEVICE=sm_90                      which device the simulated GPU is
  LOCKSTEP_SCALE=X                           X times the cases of every property, such as 0.1 or 10
  LOCKSTEP_WORK=N                            at most N steps of a property's cases; 0: no limit

Exit status: 0 all planned properties ended as they must, 1 some did not, 2 wrong usage, 70 the
process left before its end.
)",
                     program);
}

}  // namespace lockstep
