#include "command/config_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "command/command_line.h"

namespace lockstep::command {
namespace {

namespace fs = std::filesystem;

std::string error_in(const std::string& text) {
  const auto parsed = parse_config(text);
  const auto* const error = std::get_if<std::string>(&parsed);
  return error == nullptr ? "" : *error;
}

TEST(ConfigFile, HasTablesAndKeys) {
  const auto parsed = parse_config(
      "# a comment\n"
      "[exec]\n"
      "check = [\"all\", 'leaks']  # two\n"
      "schedule = 7\n"
      "require-kernels = true\r\n"
      "\n"
      "[judge]\n"
      "task = \"a \\\"b\\\" # c\"\n");
  ASSERT_TRUE(std::holds_alternative<ConfigFile>(parsed)) << std::get<std::string>(parsed);
  const ConfigFile& file = std::get<ConfigFile>(parsed);
  ASSERT_EQ(file.entries.size(), 4u);
  EXPECT_EQ(file.entries[0].table, "exec");
  EXPECT_EQ(file.entries[0].values, (std::vector<std::string>{"all", "leaks"}));
  EXPECT_TRUE(file.entries[0].is_array);
  EXPECT_EQ(file.entries[1].values, std::vector<std::string>{"7"});
  EXPECT_EQ(file.entries[2].values, std::vector<std::string>{"true"});
  EXPECT_EQ(file.entries[3].table, "judge");
  EXPECT_EQ(file.entries[3].line, 8);
  EXPECT_EQ(file.entries[3].values, std::vector<std::string>{"a \"b\" # c"});
}

TEST(ConfigFile, NamesTheLineThatIsWrong) {
  EXPECT_EQ(error_in("[exec]\ncheck = all\n"),
            "line 2: 'all' is no value: a string stands in quotes");
  EXPECT_EQ(error_in("check = \"all\"\n"), "line 1: a key stands below a table, such as [exec]");
  EXPECT_EQ(error_in("[exec]\ncheck \"all\"\n"), "line 2: '=' must follow the key check");
  EXPECT_EQ(error_in("[exec]\ncheck = \"all\n"), "line 2: a string does not end on its line");
  EXPECT_EQ(error_in("[exec]\nstop = true false\n"), "line 2: more than one statement in a line");
  EXPECT_EQ(error_in("[exec]\nstop = true\nstop = false\n"), "line 3: stop stands in line 2 too");
  EXPECT_EQ(error_in("[exec\n"), "line 1: a table is [COMMAND]");
  EXPECT_EQ(error_in("[exec]\nreport = [\"a\"\n"),
            "line 2: an array ends with ], on the line on which it begins");
}

// A project's folder with a file lockstep.toml.
class ConfiguredProject : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "project";
    fs::create_directories(folder_ / "build" / "deep");
    before_ = fs::current_path();
    fs::current_path(folder_ / "build" / "deep");
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  void write(const std::string& text) { std::ofstream(folder_ / "lockstep.toml") << text; }
  CommandLine parsed(const std::vector<std::string>& words) {
    return parse(whole_offer(false), words);
  }

  fs::path folder_, before_;
};

TEST_F(ConfiguredProject, OptionsOfTheFileCountAndTheCommandLineWins) {
  write(
      "[exec]\ncheck = [\"races\", \"bounds\"]\nschedule = 7\nquiet = true\nstop = false\n"
      "report = [\"a.json\", \"b.sarif\"]\nsuppressions = \"known.txt\"\n");
  const CommandLine line = parsed({"exec", "--schedule=9", "--", "./program", "--check=none"});
  ASSERT_FALSE(line.status);
  EXPECT_EQ(fs::canonical(line.config), fs::canonical(folder_ / "lockstep.toml"));
  EXPECT_EQ(line.config.find("/./"), std::string::npos) << line.config;
  EXPECT_EQ(line.exec.set.at("LOCKSTEP_CHECKS"), "races,bounds");
  EXPECT_EQ(line.exec.set.at("LOCKSTEP_SCHEDULE"), "9");
  EXPECT_TRUE(line.exec.quiet);
  EXPECT_FALSE(line.exec.stop);
  const std::string here = fs::path(line.config).parent_path().string();
  EXPECT_EQ(line.exec.reports, (std::vector<std::string>{here + "/a.json", here + "/b.sarif"}));
  EXPECT_EQ(line.exec.set.at("LOCKSTEP_SUPPRESSIONS"), here + "/known.txt")
      << "a file is named from the folder of lockstep.toml";
  EXPECT_EQ(line.program, (std::vector<std::string>{"./program", "--check=none"}));
  // A tool gets the options as words, and reads no file again.
  const CommandLine again = parsed(line.words);
  ASSERT_FALSE(again.status);
  EXPECT_EQ(again.config, "");
  EXPECT_EQ(again.exec.set, line.exec.set);
  EXPECT_EQ(again.exec.reports, line.exec.reports);
}

TEST_F(ConfiguredProject, ATableIsOfItsCommandAlone) {
  write("[judge]\ncases = 3\n\n[exec]\nschedule = 7\n");
  const CommandLine line = parsed({"judge", "--task=t.py", "a.cu"});
  ASSERT_FALSE(line.status);
  EXPECT_EQ(line.judge.cases, 3);
  EXPECT_TRUE(line.exec.set.empty());
  EXPECT_EQ(parsed({"inspect", "program"}).config, "") << "it has no options from the file";
}

TEST_F(ConfiguredProject, WhatNobodyKnowsIsAnErrorWithTheNearestName) {
  const auto refused = [&](const std::string& text) {
    write(text);
    testing::internal::CaptureStderr();
    const CommandLine line = parsed({"exec", "--", "./program"});
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(line.status.value_or(0), 2) << text;
    return said.substr(0, said.find('\n'));
  };
  const std::string at = (folder_ / "lockstep.toml").string();
  EXPECT_EQ(refused("[exec]\n\nchek = \"races\"\n"),
            "lockstep: " + at + ":3: exec has no option chek; did you mean check?");
  EXPECT_EQ(refused("[exce]\n"),
            "lockstep: " + at + ":1: there is no command exce with options; did you mean exec?");
  EXPECT_EQ(refused("[judge]\ncase = 3\n"),
            "lockstep: " + at + ":2: judge has no option case; did you mean cases?")
      << "tables of other commands are read too";
  EXPECT_EQ(refused("[exec]\nstop = 3\n"), "lockstep: " + at + ":2: stop is true or false");
  EXPECT_EQ(refused("[exec]\nschedule = true\n"), "lockstep: " + at + ":2: schedule needs a value");
  EXPECT_EQ(refused("[exec]\ncheck = \"racs\"\n"),
            "lockstep: --check: there is no check 'racs'; did you mean races? The checks are all, "
            "none, bounds, initialisation, races, synchronisation, leaks, strict-barriers, "
            "strict-libraries, strict-proxies, strict-writes");
}

TEST_F(ConfiguredProject, TheFileCanBeNamedOrLeftOut) {
  write("[exec]\nschedule = 7\n");
  std::ofstream(folder_ / "other.toml") << "[exec]\nschedule = 8\n";
  EXPECT_EQ(parsed({"exec", "--config=../../other.toml", "./p"}).exec.set.at("LOCKSTEP_SCHEDULE"),
            "8");
  EXPECT_TRUE(parsed({"exec", "--config", "none", "./p"}).exec.set.empty());
  testing::internal::CaptureStderr();
  EXPECT_EQ(parsed({"exec", "--config=missing.toml", "./p"}).status.value_or(0), 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("missing.toml cannot be read"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep::command
