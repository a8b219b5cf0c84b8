#include "simulator/runtime/state/environment.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace lockstep::runtime {
namespace environment_test {

std::variant<Settings, std::string> read(const std::map<std::string, std::string>& set) {
  return read_settings([&](const char* name) -> const char* {
    const auto it = set.find(name);
    return it == set.end() ? nullptr : it->second.c_str();
  });
}

Settings accepted(const std::map<std::string, std::string>& set) {
  const auto result = read(set);
  if (const auto* error = std::get_if<std::string>(&result)) {
    ADD_FAILURE() << *error;
    return {};
  }
  return std::get<Settings>(result);
}

std::string refused(const std::string& name, const std::string& value) {
  const auto result = read({{name, value}});
  const auto* error = std::get_if<std::string>(&result);
  if (error == nullptr) {
    ADD_FAILURE() << name << "=" << value << " was accepted";
    return {};
  }
  EXPECT_NE(error->find(name), std::string::npos) << "the sentence must name the variable";
  EXPECT_NE(error->find(value), std::string::npos) << "the sentence must quote the value";
  return *error;
}

TEST(Environment, NothingSetIsOneDeterministicSm90WithAllChecks) {
  const Settings s = accepted({});
  EXPECT_EQ(s.profile->name, "sm_90");
  EXPECT_EQ(s.devices, 1);
  EXPECT_EQ(s.checks, check::kAllChecks);
  EXPECT_EQ(s.schedule, 0u);
  EXPECT_EQ(s.host_threads, 0);
  EXPECT_EQ(s.instruction_limit, kInstructionLimit);
  EXPECT_FALSE(s.quiet);
  EXPECT_FALSE(s.launch_blocking);
}

TEST(Environment, MisspeltNamesAreRefused) {
  const auto refusal = [](const std::string& name) {
    const auto result = read_settings([](const char*) { return nullptr; }, {name});
    const auto* error = std::get_if<std::string>(&result);
    return error == nullptr ? "" : *error;
  };
  EXPECT_EQ(refusal("LOCKSTEP_CHEKS"),
            "the simulated GPU has no setting LOCKSTEP_CHEKS; did you mean LOCKSTEP_CHECKS?");
  EXPECT_EQ(refusal("LOCKSTEP_SCHEDULES"),
            "the simulated GPU has no setting LOCKSTEP_SCHEDULES; did you mean LOCKSTEP_SCHEDULE?");
  for (const char* name :
       {"LOCKSTEP_CHECKS", "LOCKSTEP_GPU", "LOCKSTEP_SCALE", "LOCKSTEP_EXEC", "LOCKSTEP_SOURCES",
        "LOCKSTEP_REPLAY", "LOCKSTEP_EXPECT_KERNELS", "LOCKSTEP_GPU_IDENTITY", "LOCKSTEP_OUT",
        "LOCKSTEP_COMMAND", "LOCKSTEP_PERF_MAP", "LOCKSTEP_TENSOR_ELEMENTS", "LOCKSTEP_MODULE"})
    EXPECT_EQ(refusal(name), "") << name;
}

// A misspelt name may be why a value is wrong.
TEST(Environment, MisspeltNamesAreReportedBeforeWrongValues) {
  const auto result = read_settings(
      [](const char* name) {
        return std::string_view(name) == "LOCKSTEP_DEVICE" ? "gpu" : nullptr;
      },
      {"LOCKSTEP_CHEKS"});
  const auto* error = std::get_if<std::string>(&result);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(*error,
            "the simulated GPU has no setting LOCKSTEP_CHEKS; did you mean LOCKSTEP_CHECKS?");
}

TEST(Environment, RegistersShareTheirPlacesUnlessAsked) {
  EXPECT_EQ(accepted({}).registers, engine::RegisterPlaces::kShared);
  EXPECT_EQ(accepted({{"LOCKSTEP_REGISTERS", "shared"}}).registers,
            engine::RegisterPlaces::kShared);
  EXPECT_EQ(accepted({{"LOCKSTEP_REGISTERS", "separate"}}).registers,
            engine::RegisterPlaces::kSeparate);
  refused("LOCKSTEP_REGISTERS", "seperate");
}

TEST(Environment, EmptyMeansNotSet) {
  EXPECT_EQ(accepted({{"LOCKSTEP_DEVICE", ""}, {"LOCKSTEP_SCHEDULE", ""}}).profile->name, "sm_90");
}

TEST(Environment, EverySettingIsRead) {
  const Settings s = accepted({{"LOCKSTEP_DEVICE", "sm_75"},
                               {"LOCKSTEP_DEVICES", "3"},
                               {"LOCKSTEP_MEMORY", "2"},
                               {"LOCKSTEP_SCHEDULE", "18446744073709551615"},
                               {"LOCKSTEP_HOST_THREADS", "7"},
                               {"LOCKSTEP_INSTRUCTION_LIMIT", "1000"},
                               {"LOCKSTEP_QUIET", "1"},
                               {"LOCKSTEP_COLOR", "1"},
                               {"CUDA_LAUNCH_BLOCKING", "1"}});
  EXPECT_EQ(s.profile->name, "sm_75");
  EXPECT_EQ(s.devices, 3);
  EXPECT_EQ(s.memory_bytes, 2ull << 30);
  EXPECT_EQ(s.schedule, ~0ull);
  EXPECT_EQ(s.host_threads, 7);
  EXPECT_EQ(s.instruction_limit, 1000u);
  EXPECT_TRUE(s.quiet);
  EXPECT_TRUE(s.colours);
  EXPECT_TRUE(s.launch_blocking);
}

// Anything but a number from 1 on means no.
TEST(Environment, LaunchesBlockWhereTheVariableSaysSo) {
  for (const char* no : {"0", "", "yes", "-1", ":"})
    EXPECT_FALSE(accepted({{"CUDA_LAUNCH_BLOCKING", no}}).launch_blocking) << no;
  for (const char* yes : {"1", "9", "2 "})
    EXPECT_TRUE(accepted({{"CUDA_LAUNCH_BLOCKING", yes}}).launch_blocking) << yes;
}

TEST(Environment, AnUnknownDeviceListsTheKnown) {
  const std::string error = refused("LOCKSTEP_DEVICE", "sm_91");
  for (const Profile& p : profiles()) EXPECT_NE(error.find(p.name), std::string::npos) << p.name;
}

TEST(Environment, ChecksAreNamed) {
  const auto checks = [](const std::string& text) {
    return accepted({{"LOCKSTEP_CHECKS", text}}).checks;
  };
  for (const char* names : {"all", "none", "races", "leaks", "bounds, races", "all, leaks",
                            "initialisation, synchronisation, leaks"}) {
    std::string list = names;
    std::erase(list, ' ');
    EXPECT_EQ(names_of_checks(checks(list)), names);
  }
  EXPECT_EQ(names_of_checks(checks("-races")), "bounds, initialisation, synchronisation");
  EXPECT_EQ(checks("all"), check::kAllChecks);
  EXPECT_EQ(checks("none"), 0u);
  EXPECT_EQ(checks("bounds"), check::kBounds);
  EXPECT_EQ(checks("bounds,races"), check::kBounds | check::kRaces);
  EXPECT_EQ(checks("-races"), check::kAllChecks & ~check::kRaces);
  EXPECT_EQ(checks("-races,-initialisation"),
            check::kAllChecks & ~check::kRaces & ~check::kInitialisation);
  EXPECT_EQ(checks("all,-bounds"), check::kAllChecks & ~check::kBounds);
  EXPECT_EQ(checks("all,leaks"), check::kAllChecks | check::kLeaks)
      << "leaks are looked for when they are named";
  EXPECT_EQ(checks("leaks"), check::kLeaks);
  EXPECT_EQ(checks("all,strict-barriers"), check::kAllChecks | check::kStrictBarriers);
  EXPECT_EQ(checks("all,strict-proxies"), check::kAllChecks | check::kStrictProxies);
  EXPECT_EQ(checks("all,strict-libraries"), check::kAllChecks | check::kStrictLibraries);
  EXPECT_EQ(checks("all,strict-writes"), check::kAllChecks | check::kStrictWrites);
  EXPECT_EQ(checks("-strict-barriers"), check::kAllChecks) << "off by default";
  for (const char* wrong : {"bound", "bounds;races", "bounds,", "ALL", "--races"})
    refused("LOCKSTEP_CHECKS", wrong);
}

TEST(Environment, NumbersOutOfRangeOrMistypedAreRefused) {
  refused("LOCKSTEP_DEVICES", "65");
  refused("LOCKSTEP_DEVICES", "-1");
  refused("LOCKSTEP_DEVICES", "two");
  refused("LOCKSTEP_MEMORY", "0");
  refused("LOCKSTEP_MEMORY", "4G");
  refused("LOCKSTEP_SCHEDULE", "0x10");
  refused("LOCKSTEP_SCHEDULE", "18446744073709551616");
  refused("LOCKSTEP_HOST_THREADS", " 2");
  refused("LOCKSTEP_QUIET", "yes");
  EXPECT_EQ(accepted({{"LOCKSTEP_DEVICES", "0"}}).devices, 0)
      << "no device is a setting that programs must handle";
}

TEST(Environment, DeviceMemoryFitsTheHostWithItsShadow) {
  Settings s;
  const std::uint64_t gib = 1ull << 30;
  EXPECT_EQ(device_memory_bytes(s, 64 * gib), 16 * gib);
  EXPECT_EQ(device_memory_bytes(s, 10000 * gib), 80 * gib) << "never more than the real part has";
  EXPECT_EQ(device_memory_bytes(s, gib / 2), gib / 4) << "but something";
  s.devices = 2;
  EXPECT_EQ(device_memory_bytes(s, 64 * gib), 8 * gib);
  s.memory_bytes = 3 * gib;
  EXPECT_EQ(device_memory_bytes(s, 64 * gib), 3 * gib);
  EXPECT_GT(host_memory_bytes(), 0u);
}

TEST(Environment, SuppressionsAreReadFromAFile) {
  const std::string path = testing::TempDir() + "/suppressions";
  std::ofstream(path) << "race f(*\n";
  const Settings s = accepted({{"LOCKSTEP_SUPPRESSIONS", path},
                               {"LOCKSTEP_COUNT", "1"},
                               {"LOCKSTEP_RECORD", "/tmp/record"}});
  EXPECT_EQ(s.suppressions.kinds_in("f(int)"), 1u << static_cast<int>(check::Kind::kRace));
  EXPECT_TRUE(s.count);
  EXPECT_EQ(s.record, "/tmp/record");
  refused("LOCKSTEP_SUPPRESSIONS", "/nonexistent/file");
  const std::string pipe = testing::TempDir() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(refused("LOCKSTEP_SUPPRESSIONS", pipe).find("more than once"), std::string::npos);
  std::ofstream(path) << "racing f(*\n";
  const auto result = read({{"LOCKSTEP_SUPPRESSIONS", path}});
  const auto* error = std::get_if<std::string>(&result);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(error->find("line 1: 'racing'"), std::string::npos) << *error;
}

TEST(Environment, GoingOnAndFailedCallsAreOffUnlessAskedFor) {
  EXPECT_FALSE(accepted({}).go_on);
  EXPECT_FALSE(accepted({}).api_errors);
  EXPECT_TRUE(accepted({{"LOCKSTEP_GO_ON", "1"}}).go_on);
  EXPECT_TRUE(accepted({{"LOCKSTEP_API_ERRORS", "1"}}).api_errors);
  EXPECT_FALSE(accepted({}).coverage);
  EXPECT_TRUE(accepted({{"LOCKSTEP_COVERAGE", "1"}}).coverage);
  EXPECT_NE(refused("LOCKSTEP_GO_ON", "yes").find("LOCKSTEP_GO_ON"), std::string::npos);
}

TEST(Environment, SaysWhenOperationsOfStreamsAreExecuted) {
  EXPECT_FALSE(accepted({}).streams_at_once);
  EXPECT_TRUE(accepted({{"LOCKSTEP_STREAMS", "at-once"}}).streams_at_once);
  EXPECT_FALSE(accepted({{"LOCKSTEP_STREAMS", "late"}}).streams_at_once);
  EXPECT_NE(refused("LOCKSTEP_STREAMS", "lazy").find("'late' or 'at-once'"), std::string::npos);
  EXPECT_TRUE(accepted({}).host_accesses);
  EXPECT_FALSE(accepted({{"LOCKSTEP_HOST_ACCESSES", "ignore"}}).host_accesses);
  EXPECT_TRUE(accepted({{"LOCKSTEP_HOST_ACCESSES", "watch"}}).host_accesses);
  EXPECT_NE(refused("LOCKSTEP_HOST_ACCESSES", "0").find("'watch' or 'ignore'"), std::string::npos);
  using Proof = engine::LaunchConfig::Proof;
  EXPECT_EQ(accepted({}).proof, Proof::kOn);
  EXPECT_EQ(accepted({{"LOCKSTEP_PROOF", "off"}}).proof, Proof::kOff);
  EXPECT_EQ(accepted({{"LOCKSTEP_PROOF", "on"}}).proof, Proof::kOn);
  EXPECT_EQ(accepted({{"LOCKSTEP_PROOF", "compare"}}).proof, Proof::kCompare);
  EXPECT_NE(refused("LOCKSTEP_PROOF", "yes").find("'off', 'on' or 'compare'"), std::string::npos);
}

TEST(Environment, Translation) {
  using Translate = engine::LaunchConfig::Translate;
  EXPECT_EQ(accepted({}).translate, Translate::kOn);
  EXPECT_EQ(accepted({{"LOCKSTEP_TRANSLATE", "off"}}).translate, Translate::kOff);
  EXPECT_EQ(accepted({{"LOCKSTEP_TRANSLATE", "on"}}).translate, Translate::kOn);
  EXPECT_EQ(accepted({{"LOCKSTEP_TRANSLATE", "always"}}).translate, Translate::kAlways);
  EXPECT_EQ(accepted({{"LOCKSTEP_TRANSLATE", "compare"}}).translate, Translate::kCompare);
  EXPECT_NE(refused("LOCKSTEP_TRANSLATE", "yes").find("'off', 'on', 'always' or 'compare'"),
            std::string::npos);
}

TEST(Environment, Repeats) {
  using Mode = Repeats::Mode;
  EXPECT_EQ(accepted({}).repeats, Mode::kOn);
  EXPECT_EQ(accepted({{"LOCKSTEP_REPEATS", "off"}}).repeats, Mode::kOff);
  EXPECT_EQ(accepted({{"LOCKSTEP_REPEATS", "on"}}).repeats, Mode::kOn);
  EXPECT_EQ(accepted({{"LOCKSTEP_REPEATS", "always"}}).repeats, Mode::kAlways);
  EXPECT_EQ(accepted({{"LOCKSTEP_REPEATS", "compare"}}).repeats, Mode::kCompare);
  EXPECT_NE(refused("LOCKSTEP_REPEATS", "yes").find("'off', 'on', 'always' or 'compare'"),
            std::string::npos);
}

}  // namespace environment_test
}  // namespace lockstep::runtime
