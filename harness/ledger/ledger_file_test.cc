// A ledger is read back complete, whatever bytes a message contains. A file that is not a ledger is
// an error, and not an empty ledger.
#include "harness/ledger/ledger_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace lockstep {
namespace ledger_file_test {

using ::testing::HasSubstr;
using ::testing::SizeIs;

LedgerFile sample() {
  LedgerFile f;
  f.program = "stencil_test";
  f.target = "//tests:stencil_test";
  f.shard_index = 1;
  f.total_shards = 3;
  f.seed = 18446744073709551615u;
  f.device = {{"name", "Simulated sm_90"}, {"capability", "9.0"}};
  f.planned = {"Stencil.A", "Stencil.B"};
  f.running = "Stencil.B";
  Record r;
  r.property = "Stencil.A";
  r.verdict = Verdict::kFail;
  r.reason = "mismatch";
  r.cases = 41;
  r.budget = 2.5;
  r.seconds = 0.25;
  r.seed = 9223372036854775809u;
  r.minimal_case = "n=33";
  r.replay = "bazel test //tests:stencil_test '--test_arg=--case=Stencil.A: n=33'";
  r.message = "line one\nline \"two\"";
  r.notes = {{"digest", "0123"}};
  f.records = {r};
  f.problems = {"Stencil.A failed: mismatch"};
  return f;
}

// The text of each state is that of a new file, and the layout is that of the JSON library.
TEST(LedgerFile, GrowsToTheSameText) {
  GrowingLedger growing;
  LedgerFile f = sample();
  const Record record = f.records[0];
  f.records.clear();
  f.planned.clear();
  f.problems.clear();
  for (int i = 0; i < 4; ++i) {
    f.planned.push_back("Stencil." + std::to_string(i));
    f.running = i == 2 ? "" : f.planned.back();
    for (int k = 0; k < i; ++k) {
      f.records.push_back(record);
      f.records.back().cases = static_cast<std::uint64_t>(10 * i + k);
    }
    if (i == 3) f.problems = {"one", "two"};
    const std::string text = growing.text(f);
    EXPECT_EQ(text, to_json(f));
    EXPECT_EQ(text, nlohmann::ordered_json::parse(text).dump(1) + "\n");
    LedgerFile back;
    std::string error;
    ASSERT_TRUE(from_json(text, back, error)) << error;
    EXPECT_THAT(back.planned, SizeIs(f.planned.size()));
    ASSERT_THAT(back.records, SizeIs(f.records.size()));
    EXPECT_TRUE(f.records.empty() || back.records.back().cases == f.records.back().cases);
    EXPECT_THAT(back.problems, SizeIs(f.problems.size()));
  }
}

TEST(LedgerFile, ComesBackAsItWasWritten) {
  LedgerFile back;
  std::string error;
  ASSERT_TRUE(from_json(to_json(sample()), back, error)) << error;
  EXPECT_EQ(to_json(back), to_json(sample()));
  ASSERT_THAT(back.records, SizeIs(1));
  EXPECT_EQ(back.records[0].seed, 9223372036854775809u) << "a seed must not pass through a double";
  EXPECT_EQ(back.records[0].message, "line one\nline \"two\"");
  EXPECT_EQ(back.seed, 18446744073709551615u);
  EXPECT_EQ(back.running, "Stencil.B");
  EXPECT_FALSE(back.complete);
}

TEST(LedgerFile, KeepsBudgetsThatAreNoNumbers) {
  for (double budget : {std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(), std::nan("")}) {
    LedgerFile f = sample(), back;
    f.records[0].budget = budget;
    std::string error;
    ASSERT_TRUE(from_json(to_json(f), back, error)) << error;
    EXPECT_TRUE(back.records[0].budget == budget ||
                (std::isnan(budget) && std::isnan(back.records[0].budget)));
  }
}

TEST(LedgerFile, IsWrittenEvenIfAMessageIsNotUtf8) {
  LedgerFile f = sample(), back;
  f.records[0].message = "bad \xff\xfe bytes";
  std::string error;
  EXPECT_TRUE(from_json(to_json(f), back, error)) << error;
  EXPECT_THAT(back.records[0].message, HasSubstr("bytes"));
}

TEST(LedgerFile, RefusesWhatIsNoLedger) {
  const std::string good = to_json(sample());
  LedgerFile back;
  std::string error;
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("[]"), good.substr(0, good.size() / 2)}) {
    EXPECT_FALSE(from_json(bad, back, error)) << bad;
    EXPECT_THAT(error, HasSubstr("not a ledger"));
  }
  const auto with = [&](const char* pointer, nlohmann::ordered_json value) {
    auto j = nlohmann::ordered_json::parse(good);
    j[nlohmann::ordered_json::json_pointer(pointer)] = std::move(value);
    return j.dump();
  };
  for (const int schema : {-1, 0, 2})
    EXPECT_FALSE(from_json(with("/schema", schema), back, error)) << schema;
  EXPECT_FALSE(from_json(with("/records/0/verdict", "passed"), back, error));
  EXPECT_FALSE(from_json(with("/records/0/budget", "much"), back, error));
  EXPECT_FALSE(from_json(with("/complete", "yes"), back, error));
  EXPECT_FALSE(from_json(with("/planned", 3), back, error));
  EXPECT_TRUE(from_json(with("/later_addition", 3), back, error))
      << "a field that a later version adds is let pass";
}

TEST(LedgerFile, IsReplacedAtOnceAndReadBack) {
  const std::string path =
      ::testing::TempDir() + "ledger_file_test." + std::to_string(getpid()) + ".json";
  LedgerFile f = sample(), back;
  ASSERT_EQ(write_ledger(path, to_json(f)), "");
  f.complete = true;
  ASSERT_EQ(write_ledger(path, to_json(f)), "");
  std::string error;
  ASSERT_TRUE(read_ledger(path, back, error)) << error;
  EXPECT_TRUE(back.complete);
  std::filesystem::remove(path);
  EXPECT_FALSE(read_ledger(path, back, error));
  EXPECT_THAT(error, HasSubstr("cannot be read"));
  EXPECT_THAT(write_ledger("/nonexistent/folder/ledger.json", to_json(f)),
              HasSubstr("cannot be written"));
}

TEST(LedgerFile, ThatCannotBeWrittenLeavesNothing) {
  const std::string folder = ::testing::TempDir() + "ledger_file_test." + std::to_string(getpid());
  std::filesystem::create_directories(folder + "/ledger.json/in_its_place");
  EXPECT_THAT(write_ledger(folder + "/ledger.json", to_json(sample())),
              HasSubstr(folder + "/ledger.json: Is a directory"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder),
                          std::filesystem::directory_iterator()),
            1);
  std::filesystem::remove_all(folder);
}

}  // namespace ledger_file_test
}  // namespace lockstep
