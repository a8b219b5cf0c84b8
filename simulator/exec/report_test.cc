#include "simulator/exec/report.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "simulator/exec/html_report.h"

namespace lockstep::exec {
namespace report_test {

using nlohmann::json;

json access(const char* file, int line, int thread = 1) {
  return {{"file", file},    {"line", line}, {"block", {0, 0, 0}},   {"thread", {thread, 0, 0}},
          {"address", 4096}, {"size", 4},    {"write", thread != 31}};
}

ProgramRun sample() {
  ProgramRun run;
  run.command = {"./program", "an argument"};
  run.exit_status = 86;
  run.record.device = "sm_90";
  run.record.kernels = {"f(int*)", "g()"};
  run.record.totals["f(int*)"] = {3, {{"atomics", 2}}};
  run.record.totals["g()"] = {1, {}};  // its process did not end normally
  json race = access("src/a file.cu", 12);
  race["kind"] = "race";
  race["severity"] = "error";
  race["kernel"] = "f(int*)";
  race["text"] = "race: st.shared.f32 ...";
  race["occurrences"] = 31;
  race["other"] = access("/abs/b.cu", 14, 31);
  json note = access("", 0);
  note["kind"] = "uninitialised";
  note["severity"] = "information";
  note["kernel"] = "g()";
  note["text"] = "uninitialised ...";
  run.record.findings = {race, note};
  run.record.suppressed = json::array({race});
  return run;
}

// Checks the properties that the SARIF 2.1.0 schema requires of the objects used here, and the
// values that it restricts.
void expect_valid_location(const json& location) {
  ASSERT_TRUE(location.is_object());
  if (location.contains("physicalLocation")) {
    const json& physical = location["physicalLocation"];
    ASSERT_TRUE(physical.contains("artifactLocation"));
    const std::string uri = physical["artifactLocation"].at("uri");
    EXPECT_EQ(uri.find_first_of(" \\<>"), uri.npos) << uri;
    if (physical.contains("region")) {
      EXPECT_GE(physical["region"].at("startLine").get<int>(), 1);
    }
  }
  for (const json& logical : location.at("logicalLocations"))
    EXPECT_TRUE(logical.at("fullyQualifiedName").is_string());
}

void expect_valid_sarif(const json& log) {
  EXPECT_EQ(log.at("version"), "2.1.0");
  ASSERT_TRUE(log.at("runs").is_array());
  for (const json& run : log["runs"]) {
    const json& driver = run.at("tool").at("driver");
    EXPECT_TRUE(driver.at("name").is_string());
    std::set<std::string> ids;
    for (const json& rule : driver.at("rules")) {
      EXPECT_TRUE(rule.at("shortDescription").at("text").is_string());
      EXPECT_TRUE(ids.insert(rule.at("id")).second) << "ids of rules are unique";
    }
    for (const json& invocation : run.at("invocations"))
      EXPECT_TRUE(invocation.at("executionSuccessful").is_boolean());
    for (const json& result : run.at("results")) {
      EXPECT_TRUE(result.at("message").at("text").is_string());
      EXPECT_TRUE(
          (std::set<std::string>{"none", "note", "warning", "error"}.count(result.at("level"))));
      const json& rule = driver["rules"].at(result.at("ruleIndex").get<std::size_t>());
      EXPECT_EQ(rule.at("id"), result.at("ruleId"));
      EXPECT_GE(result.at("occurrenceCount").get<int>(), 1);
      for (const json& location : result.at("locations")) expect_valid_location(location);
      if (result.contains("relatedLocations")) {
        for (const json& location : result["relatedLocations"]) {
          EXPECT_GE(location.at("id").get<int>(), -1);
          EXPECT_TRUE(location.at("message").at("text").is_string());
          expect_valid_location(location);
        }
      }
      if (result.contains("suppressions")) {
        for (const json& s : result["suppressions"])
          EXPECT_TRUE(s.at("kind") == "inSource" || s.at("kind") == "external");
      }
    }
  }
}

TEST(Sarif, HasWhatTheSchemaRequires) {
  expect_valid_sarif(sarif_report(sample()));
  expect_valid_sarif(sarif_report(ProgramRun{}));
}

TEST(Sarif, SaysWhatAndWhere) {
  const json log = sarif_report(sample());
  const json& results = log["runs"][0]["results"];
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]["ruleId"], "race");
  EXPECT_EQ(results[0]["level"], "error");
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "src/a%20file.cu");
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 12);
  EXPECT_EQ(results[0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///abs/b.cu");
  EXPECT_EQ(results[1]["level"], "note");
  EXPECT_FALSE(results[1]["locations"][0].contains("physicalLocation"))
      << "the source is not known";
  EXPECT_EQ(results[1]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "g()");
  EXPECT_FALSE(results[0].contains("suppressions"));
  EXPECT_TRUE(results[2].contains("suppressions"));
  EXPECT_EQ(log["runs"][0]["invocations"][0]["exitCode"], 86);
}

TEST(Json, HoldsKernelsAndFindings) {
  const json report = json_report(sample());
  EXPECT_EQ(report["exit_status"], 86);
  EXPECT_EQ(report["kernels"][0]["launches"], 3);
  EXPECT_EQ(report["kernels"][0]["atomics"], 2);
  EXPECT_EQ(report["kernels"][1]["launches"], 1);
  EXPECT_FALSE(report["kernels"][1].contains("atomics")) << "its process did not end normally";
  EXPECT_EQ(report["findings"].size(), 2u);
  EXPECT_EQ(report["suppressed"].size(), 1u);
}

TEST(Sarif, NamesBothThreadsOfARace) {
  const json result = sarif_report(sample())["runs"][0]["results"][0];
  EXPECT_EQ(result["properties"]["thread"], (std::vector<int>{1, 0, 0}));
  EXPECT_EQ(result["properties"]["other"]["thread"], (std::vector<int>{31, 0, 0}));
  EXPECT_EQ(result["locations"][0]["message"]["text"],
            "one access, a write, by block (0,0,0) thread (1,0,0)");
  EXPECT_EQ(result["relatedLocations"][0]["message"]["text"],
            "the other access, a read, by block (0,0,0) thread (31,0,0)");
}

TEST(Sarif, NamesBothOperationsOfARace) {
  ProgramRun run = sample();
  json& race = run.record.findings[0];
  race["operation"] = "f(int*) in stream 4";
  race["other"] = {
      {"block", {0, 0, 0}}, {"thread", {0, 0, 0}},
      {"write", true},      {"atomic", false},
      {"instruction", ""},  {"operation", "cudaMemcpyAsync in stream 3, a call at main.cu:21"}};
  const json result = sarif_report(run)["runs"][0]["results"][0];
  const auto name = [](const json& of) { return of["logicalLocations"][0]["fullyQualifiedName"]; };
  EXPECT_EQ(name(result["locations"][0]), "f(int*) in stream 4");
  EXPECT_EQ(name(result["relatedLocations"][0]),
            "cudaMemcpyAsync in stream 3, a call at main.cu:21");
  EXPECT_EQ(result["relatedLocations"][0]["message"]["text"], "the other access, a write")
      << "a call has no thread";
}

TEST(Sarif, CallsABarrierNoAccess) {
  ProgramRun run = sample();
  run.record.findings[0]["kind"] = "barrier-divergence";
  const json result = sarif_report(run)["runs"][0]["results"][0];
  EXPECT_EQ(result["locations"][0]["message"]["text"],
            "one barrier, by block (0,0,0) thread (1,0,0)");
  EXPECT_EQ(result["relatedLocations"][0]["message"]["text"],
            "the other barrier, by block (0,0,0) thread (31,0,0)");
}

TEST(Reports, ShowRefusedLaunches) {
  ProgramRun run = sample();
  run.record.findings = json::array({{{"kind", "refused"},
                                      {"severity", "error"},
                                      {"kernel", "f(int*)"},
                                      {"call", "cudaLaunchKernel"},
                                      {"error", "cudaErrorInvalidValue"},
                                      {"text", "refused: ..."},
                                      {"file", ""}}});
  run.record.suppressed = json::array();
  run.record.refused_launches = 1;
  EXPECT_EQ(summary(run.record),
            "4 launches of 2 kernels on a simulated sm_90, 1 launch refused: 1 error, 0 for "
            "information, 0 suppressed");
  EXPECT_EQ(json_report(run)["refused_launches"], 1);
  const json log = sarif_report(run);
  expect_valid_sarif(log);
  EXPECT_EQ(log["runs"][0]["results"][0]["ruleId"], "refused");
  EXPECT_EQ(log["runs"][0]["results"][0]["properties"]["error"], "cudaErrorInvalidValue");
}

TEST(Reports, ShowRepeatedLaunches) {
  ProgramRun run = sample();
  run.record.findings = json::array();
  run.record.suppressed = json::array();
  run.record.repeated_launches = 3;
  EXPECT_EQ(summary(run.record),
            "4 launches of 2 kernels on a simulated sm_90, 3 repeated an earlier one: 0 errors, 0 "
            "for information, 0 suppressed");
  EXPECT_EQ(json_report(run)["repeated_launches"], 3);
}

TEST(Text, EndsWithASummary) {
  EXPECT_EQ(
      text_report(sample()),
      "race: st.shared.f32 ...\n\nuninitialised ...\n\n"
      "4 launches of 2 kernels on a simulated sm_90: 1 error, 1 for information, 1 suppressed\n");
  EXPECT_EQ(text_report(ProgramRun{}), "no simulated GPU was used\n");
  ProgramRun one;
  one.record.device = "sm_90";
  EXPECT_EQ(
      summary(one.record),
      "no kernel was launched on a simulated sm_90: 0 errors, 0 for information, 0 suppressed");
  one.record.kernels = {"f(int*)"};
  one.record.library_calls = {{"cublasSgemm", 2}, {"cufftExecC2C", 1}};
  one.record.kernels.clear();
  EXPECT_EQ(summary(one.record),
            "3 calls of simulated libraries on a simulated sm_90: 0 errors, 0 for information, 0 "
            "suppressed");
  EXPECT_EQ(json_report(one)["library_calls"]["cublasSgemm"], 2);
  one.record.kernels = {"f(int*)"};
  one.record.totals["f(int*)"].launches = 1;
  EXPECT_EQ(summary(one.record),
            "1 launch of 1 kernel and 3 calls of simulated libraries on a simulated sm_90: 0 "
            "errors, 0 for information, 0 suppressed");
  one.record.library_calls.clear();
  EXPECT_EQ(summary(one.record),
            "1 launch of 1 kernel on a simulated sm_90: 0 errors, 0 for information, 0 suppressed");
}

TEST(Reports, NameTheChecksThatRan) {
  ProgramRun run = sample();
  const auto begin = [&](const std::string& checks) {
    run.record.checks = checks;
    EXPECT_EQ(json_report(run)["checks"], checks);
    const std::string text = summary(run.record);
    return text.substr(0, text.find(':'));
  };
  EXPECT_EQ(begin("all"), "4 launches of 2 kernels on a simulated sm_90");
  EXPECT_EQ(begin("all, leaks"), "4 launches of 2 kernels on a simulated sm_90");
  EXPECT_EQ(begin("none"), "4 launches of 2 kernels on a simulated sm_90 without checks");
  EXPECT_EQ(begin("bounds, races"),
            "4 launches of 2 kernels on a simulated sm_90 with the checks bounds, races");
}

// A failed call without a line of its own, and a kernel's finding about freed memory.
ProgramRun with_stacks() {
  const auto frame = [](const char* function, const char* file, int line) {
    return json{{"function", function},
                {"file", file},
                {"line", line},
                {"object", "/bin/a<b"},
                {"offset", 0x1c}};
  };
  const auto stack = [&](const char* what) {
    return json{{"what", what},
                {"frames", {frame("library", "", 0), frame("make<1>()", "src/m.cu", 7)}}};
  };
  ProgramRun run = sample();
  json call = {{"kind", "api-error"}, {"severity", "error"}, {"call", "cudaFree"}, {"text", ""}};
  call["host_stacks"] = json::array({stack("called")});
  json freed = run.record.findings[0];
  freed["kind"] = "use-after-free";
  freed["host_stacks"] = {stack("launched"), stack("allocated by cudaMalloc")};
  run.record.findings = {call, freed};
  return run;
}

TEST(HostStacks, AreStacksAndPlacesOfSarif) {
  const json log = sarif_report(with_stacks());
  expect_valid_sarif(log);
  const json &call = log["runs"][0]["results"][0], &freed = log["runs"][0]["results"][1];
  const auto line = [](const json& at) { return at["physicalLocation"]["region"]["startLine"]; };
  EXPECT_EQ(line(call["locations"][0]), 7);
  ASSERT_EQ(freed["stacks"].size(), 2u);
  EXPECT_EQ(freed["stacks"][1]["message"]["text"], "allocated by cudaMalloc");
  const json& frames = freed["stacks"][1]["frames"];
  EXPECT_EQ(frames[0]["location"]["physicalLocation"]["address"]["relativeAddress"], 0x1c);
  EXPECT_EQ(frames[1]["location"]["logicalLocations"][0]["fullyQualifiedName"], "make<1>()");
  EXPECT_EQ(line(frames[1]["location"]), 7);
  EXPECT_EQ(line(freed["locations"][0]), 12) << "the kernel's line";
  ASSERT_EQ(freed["relatedLocations"].size(), 3u) << "the other side, the launch, the allocation";
  EXPECT_EQ(freed["relatedLocations"][2]["message"]["text"], "allocated by cudaMalloc");
  EXPECT_EQ(line(freed["relatedLocations"][2]), 7);
}

TEST(HostStacks, AreTablesOfTheHtmlReport) {
  const std::string page = html_report(with_stacks());
  for (const char* part :
       {"<summary>allocated by cudaMalloc</summary>", "<td>make&lt;1&gt;()</td><td>src/m.cu:7</td>",
        "<td>library</td><td>/bin/a&lt;b+0x1c</td>", "<h2>use-after-free</h2>",
        "<td>f(int*)</td><td>3 launches</td>", "exit status 86", "race (suppressed)"})
    EXPECT_NE(page.find(part), page.npos) << part << "\n" << page;
}

TEST(Reports, ShowWhatCouldNotBeRecorded) {
  ProgramRun run = sample();
  EXPECT_EQ(json_report(run)["complete"], true);
  run.record.lossy = true;
  EXPECT_EQ(json_report(run)["complete"], false);
  EXPECT_NE(text_report(run).find("NOT ALL COULD BE RECORDED"), std::string::npos);
  run.record.device.clear();
  EXPECT_EQ(summary(run.record), "nothing that the simulated GPU found could be recorded");
}

TEST(Files, AreOfTheKindThatTheirNamesSay) {
  const auto written = [](const std::string& name) {
    const std::string path = testing::TempDir() + "/" + name;
    std::string error;
    EXPECT_TRUE(write_report(sample(), path, &error)) << error;
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  EXPECT_TRUE(json::parse(written("a.json")).contains("findings"));
  EXPECT_TRUE(json::parse(written("a.sarif")).contains("runs"));
  EXPECT_EQ(written("a.txt"), text_report(sample()));
  EXPECT_EQ(written("a.html"), html_report(sample()));
  std::string error;
  EXPECT_FALSE(write_report(sample(), "/nonexistent/a.txt", &error));
  EXPECT_NE(error.find("/nonexistent/a.txt"), error.npos);
  // A full disk.
  EXPECT_FALSE(write_report(sample(), "/dev/full", &error));
  EXPECT_NE(error.find("No space left"), error.npos) << error;
}

// A failed write must keep the earlier report and leave no partial one.
TEST(Files, ThatCannotBeWrittenWholeAreAsTheyWere) {
  const std::string path = testing::TempDir() + "/whole.txt";
  std::ofstream(path) << "an earlier one";
  const pid_t child = fork();
  if (child == 0) {
    const rlimit few{16, 16};
    setrlimit(RLIMIT_FSIZE, &few);
    std::string error;
    _exit(!write_report(sample(), path, &error) && error.find("File too large") != error.npos ? 7
                                                                                              : 8);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "a signal ended it";
  EXPECT_EQ(WEXITSTATUS(status), 7);
  std::ifstream file(path);
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(file), {}}), "an earlier one");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testing::TempDir()))
    files += entry.path().filename().string().starts_with("whole.txt");
  EXPECT_EQ(files, 1) << "nothing else is left";
}

}  // namespace report_test
}  // namespace lockstep::exec
