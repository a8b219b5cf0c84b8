// The command `lockstep`: help, errors of usage, completions, and the search for its tools.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/ledger/runfiles.h"
#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace command_test {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const Environment kCheckout = {{"LOCKSTEP_CHECKOUT", "/a/checkout"}};

Ended lockstep(std::vector<std::string> words, Environment environment = {}) {
  return run("command/lockstep", std::move(words), std::move(environment));
}

// The commands that --help lists.
std::set<std::string> commands(const Environment& environment) {
  const Ended help = lockstep({"--help"}, environment);
  EXPECT_EQ(help.status, 0) << help.output;
  std::set<std::string> names;
  std::istringstream in(help.output);
  bool listed = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Commands")) listed = true;
    if (listed && line.starts_with("    ") && line.size() > 4 && line[4] != ' ')
      names.insert(line.substr(4, line.find(' ', 4) - 4));
  }
  return names;
}

TEST(Command, HasHelpAtEveryLevel) {
  const std::set<std::string> all = commands(kCheckout);
  for (const char* command :
       {"run", "list", "exec", "counters", "coverage", "mutate", "inspect", "diff", "report", "new",
        "completion", "test", "format", "bundle", "self-mutate"})
    EXPECT_TRUE(all.contains(command)) << command;
  for (const std::string& command : all) {
    for (const std::vector<std::string>& asked :
         {std::vector<std::string>{command, "--help"}, {"help", command}, {command, "-h"}}) {
      const Ended help = lockstep(asked, kCheckout);
      EXPECT_EQ(help.status, 0) << help.output;
      EXPECT_THAT(help.output,
                  AllOf(HasSubstr("Usage: ./lockstep " + command), HasSubstr("-h,--help")));
      // Every line must fit a terminal of 110 columns.
      std::istringstream in(help.output);
      for (std::string line; std::getline(in, line);) EXPECT_LE(line.size(), 160u) << line;
    }
  }
  const std::set<std::string> installed = commands({});
  EXPECT_TRUE(installed.contains("exec"));
  EXPECT_FALSE(installed.contains("self-mutate"))
      << "what a checkout alone can do is listed there alone";
}

TEST(Command, IsDescribedByTheScriptOfACheckoutBeforeItIsBuilt) {
  const std::string script = text_of(runfile("lockstep"));
  const auto begin = script.find("brief_help() {");
  ASSERT_NE(begin, script.npos);
  const std::string brief = script.substr(begin, script.find("\n}\n", begin) - begin);
  for (const std::string& command : commands(kCheckout))
    EXPECT_THAT(brief, ContainsRegex("  " + command + " "))
        << "missing in brief_help of ./lockstep";
}

TEST(Command, HasOneVersion) {
  std::string version = text_of(runfile("VERSION"));
  ASSERT_FALSE(version.empty());
  EXPECT_EQ(lockstep({"--version"}).output, "lockstep " + version);
  EXPECT_EQ(run("harness/conform/conform", {"--version"}).output, "lockstep " + version);
  EXPECT_EQ(run("simulator/exec/lockstep-exec", {"--version"}).output, "lockstep " + version);
}

TEST(Command, SaysWhatIsWrongAndWhatWasMeant) {
  struct Mistake {
    std::vector<std::string> words;
    std::string said;
  };
  for (const Mistake& m :
       {Mistake{{"rnu"}, "there is no command rnu; did you mean run?"},
        {{"xyzzy"}, "there is no command xyzzy\n"},
        {{"--vresion"}, "did you mean --version?"},
        {{"run", "--suit=stencil"}, "run has no option --suit; did you mean --suite?"},
        {{"run", "--randomseed", "7"}, "did you mean --random-seed?"},
        {{"run", "stencil"}, "run does not take 'stencil'"},
        {{"run", "--scale=x"}, "--scale takes a number, not 'x'"},
        {{"run", "--", "x"}, "run takes no program after --"},
        {{"exec", "--chekc=all", "--", "x"}, "exec has no option --chekc; did you mean --check?"},
        {{"exec"}, "no program: write -- PROGRAM"},
        {{"mutate", "--jobs=-1", "--", "x"}, "--jobs: -1 is below 0"},
        {{"exec", "--source-root=/nosuch", "--", "x"}, "--source-root: there is no folder /nosuch"},
        {{"diff", "a"}, "AFTER is required"},
        {{"completion", "fish"}, "fish not in {bash,zsh}"}}) {
    const Ended ended = lockstep(m.words);
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, AllOf(HasSubstr(m.said), HasSubstr("--help lists")));
  }
  EXPECT_EQ(lockstep({}).status, 2);
}

// Writes a script to `path` that prints its arguments, in place of a tool.
void stand_in(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream(path)
      << "#!/bin/sh\necho \"$0 called with: $* | $LOCKSTEP_COMMAND | $RUNFILES_DIR\"\n";
  fs::permissions(path, fs::perms::owner_all);
}

TEST(Command, FindsItsToolsBesideItselfOrWhereAVariableNamesThem) {
  const fs::path prefix = fresh_file("installed");
  fs::create_directories(prefix / "bin");
  fs::create_directories(prefix / "lib/lockstep/runfiles");
  fs::copy_file(fs::canonical(runfile("command/lockstep")), prefix / "bin/lockstep");
  for (const char* tool : {"conform", "lockstep-exec", "inspect"})
    stand_in(prefix / "libexec/lockstep" / tool);
  const fs::path link = fresh_file("link");
  fs::create_symlink(prefix / "bin/lockstep", link);
  const std::string tools = (fs::canonical(prefix) / "libexec/lockstep").string(),
                    files = (fs::canonical(prefix) / "lib/lockstep/runfiles").string();
  const auto output = [&](std::vector<std::string> words, const Environment& set = {}) {
    return run(link.string(), std::move(words), set).output;
  };
  EXPECT_EQ(output({"run", "--manifest=m", "--suite", "a", "--cases=5"}),
            tools + "/conform called with: run --manifest=m --suite a --cases=5 | lockstep run | " +
                files + "\n");
  EXPECT_EQ(output({"exec", "--quiet", "--", "prog", "--its"}),
            tools + "/lockstep-exec called with: exec --quiet -- prog --its | lockstep run | " +
                files + "\n");
  EXPECT_THAT(output({"inspect", "a", "b"}), HasSubstr("/inspect called with: a b |"));
  const fs::path named = fs::path(fresh_file("named")) / "conform";
  stand_in(named);
  EXPECT_EQ(output({"list", "--manifest=m"}, {{"LOCKSTEP_TOOL_CONFORM", named.string()},
                                              {"LOCKSTEP_COMMAND", "./lockstep run"}}),
            named.string() + " called with: list --manifest=m | ./lockstep run | " + files + "\n");
  const Ended absent = run(link.string(), {"diff", "a", "b"});
  EXPECT_EQ(absent.status, 3);
  EXPECT_THAT(absent.output, AllOf(HasSubstr("has no passport_tool"), HasSubstr("'diff' needs")));
}

// counters, coverage and mutate without a program, in a fake checkout whose tools print their
// arguments. Checks which options are passed to the run of the suites and which to the tool.
TEST(Command, HandsTheSuitesToTheSimulatedGpu) {
  const fs::path checkout = fresh_file("checkout");
  fs::create_directories(checkout / "bazel-bin/tests");
  std::ofstream(checkout / "bazel-bin/tests/suites.tsv")
      << "a\ttests/a_test\t//tests:a_test\nb\ttests/b_test\t//tests:b_test\n"
         "times\ttests/times_test\t//tests:times_test\tsilicon\n";
  const fs::path tool = checkout / "exec";
  std::ofstream(tool) << "#!/bin/sh\necho \"$*\"\nexit ${STATUS:-0}\n";
  fs::permissions(tool, fs::perms::owner_all);
  const std::string out = (checkout / "lockstep-out").string();
  const auto of = [&](std::vector<std::string> words, const std::string& status = "0") {
    return lockstep(std::move(words), {{"LOCKSTEP_CHECKOUT", checkout.string()},
                                       {"LOCKSTEP_TOOL_EXEC", tool.string()},
                                       {"LOCKSTEP_TOOL_CONFORM", "conform"},
                                       {"STATUS", status}});
  };
  const std::string run = " -- conform run --out=" + out + "/counters";
  EXPECT_EQ(of({"counters", "--suite=a", "--check=races", "--quick"}).output,
            "counters --check=races --report=" + out + "/counters/counters.json" + run +
                " --suite=a --quick\n");
  EXPECT_EQ(of({"counters", "--suite", "a", "--check", "races", "--cases", "5"}).output,
            "counters --check=races --report=" + out + "/counters/counters.json" + run +
                " --suite=a --cases=5\n");
  EXPECT_EQ(of({"counters", "--report", "mine.json"}).output,
            "counters --report=mine.json" + run + "\n");
  EXPECT_EQ(of({"counters", "--report=x", "--", "./program", "--suite", "a"}).output,
            "counters --report=x -- ./program --suite a\n");
  EXPECT_THAT(of({"coverage", "--only", "kernels/a", "--scale", ".5"}).output,
              AllOf(HasSubstr("coverage --only=kernels/a --check=all --source-root="),
                    HasSubstr(" run --out=" + out + "/coverage --scale=.5\n")));
  EXPECT_THAT(
      of({"mutate"}).output,
      AllOf(HasSubstr("suite a\n"), HasSubstr(" -- bazel-bin/tests/a_test --fail-fast\n"),
            HasSubstr(" -- bazel-bin/tests/b_test --fail-fast\n"), Not(HasSubstr("times"))));
  EXPECT_THAT(
      of({"mutate", "--suite", "b", "--first", "--cases=2", "--mutants", "7", "--operators=x,y"})
          .output,
      AllOf(ContainsRegex("mutate --files=.* --out=lockstep-out/mutation/b .*--mutants=7"),
            HasSubstr(" --first=--cases=2"), Not(HasSubstr("--cases=8")),
            ContainsRegex("--operators=x.*y"), Not(HasSubstr("a_test"))));
  const Ended unknown = of({"mutate", "--suite=c"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.output, "lockstep: there is no suite 'c'; ./lockstep list names them\n");
  const Ended survivors = of({"mutate"}, "1");
  EXPECT_EQ(survivors.status, 1);
  EXPECT_THAT(survivors.output, HasSubstr("b_test")) << "the other suites are judged too";
  const Ended broken = of({"mutate"}, "2");
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.output, Not(HasSubstr("b_test")));
}

// The completions that bash offers for these words; the last word is incomplete.
std::string completed(const std::string& words, int number) {
  const std::string script = fmt::format(
      "source <('{}' completion bash); COMP_WORDS=({}); COMP_CWORD={}; _lockstep; echo "
      "\"${{COMPREPLY[@]}}\"",
      runfile("command/lockstep"), words, number);
  const Ended ended = run("/bin/bash", {"-c", script});
  return ended.output;
}

TEST(Command, IsCompletedByBash) {
  EXPECT_EQ(completed("lockstep co", 1), "counters coverage compare completion\n");
  EXPECT_EQ(completed("lockstep run --ran", 2), "--random-seed=\n");
  EXPECT_EQ(completed("lockstep run --device = sm_1", 4), "sm_100 sm_103 sm_110 sm_120 sm_121\n");
  EXPECT_EQ(completed("lockstep run --sanitizer =", 3), "memcheck racecheck initcheck synccheck\n");
  EXPECT_EQ(completed("lockstep run --sanitizer mem", 3), "memcheck\n");
  EXPECT_EQ(completed("lockstep completion z", 2), "zsh\n");
  EXPECT_THAT(completed("lockstep exec --quiet -- /bin/bas", 4), HasSubstr("/bin/bash"))
      << "after -- come files";
  EXPECT_THAT(
      completed("lockstep exec --", 2),
      AllOf(HasSubstr("--check="), HasSubstr("--require-kernels"), Not(HasSubstr("--suite"))));
}

TEST(Command, IsCompletedByZsh) {
  const Ended ended = lockstep({"completion", "zsh"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output, AllOf(HasSubstr("#compdef lockstep"), HasSubstr("'run:"),
                                  HasSubstr("'*--sanitizer=[on a GPU\\: under"),
                                  HasSubstr(":TOOL:(memcheck racecheck initcheck synccheck)'"),
                                  HasSubstr("'*::program:_normal'")));
}

}  // namespace command_test
}  // namespace lockstep::end_to_end
