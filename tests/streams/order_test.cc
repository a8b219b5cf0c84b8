// Checks that calls of the simulated runtime order work as an H100 does. A kernel before the call
// and a kernel after it, in another stream, must race exactly if the call does not order them.
//
// calls.tsv holds the H100's result for each call, for a kernel in a blocking, a non-blocking and
// the legacy stream. After a semicolon: the simulated GPU's result, if it differs or no H100 was
// measured. The table has a row for every function of the runtime.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "tests/streams/run.h"

namespace lockstep::streams {
namespace {

struct Call {
  std::string name;
  // The result for each stream; the last word is ordered or unordered.
  std::vector<std::string> answers;
};

std::ostream& operator<<(std::ostream& to, const Call& c) { return to << c.name; }

const std::vector<Call>& calls() {
  static const std::vector<Call> all = [] {
    std::vector<Call> read;
    for (const auto& row : table(contents("tests/streams/calls.tsv")))
      read.push_back({row[0], {row.begin() + 1, row.end()}});
    return read;
  }();
  return all;
}

// Whether the call waits, orders or executes a kernel. For all others a proof is the same.
bool concerns_a_proof(const Call& c) {
  return has(c.name, "nothing") || has(c.name, "kernel") || has(c.name, "Launch") ||
         std::any_of(c.answers.begin(), c.answers.end(),
                     [](const std::string& answer) { return answer != "returns, unordered"; });
}

std::vector<Call> tried_calls() {
  std::vector<Call> tried;
  std::copy_if(calls().begin(), calls().end(), std::back_inserter(tried),
               [](const Call& c) { return !is_proved() || concerns_a_proof(c); });
  return tried;
}

class Order : public testing::TestWithParam<Call> {};

TEST_P(Order, IsWhatTheH100Shows) {
  const Call& c = GetParam();
  ASSERT_EQ(c.answers.size(), 3u);
  const Outcome o = run("", "order '" + c.name + "'", testing::TempDir() + "/order");
  ASSERT_TRUE(o.status == 0 || o.status == 86) << o.text();
  for (int kind = 0; kind < 3; ++kind) {
    // The kernels are templates over the kind of the stream.
    const std::string earlier = "earlier<" + std::to_string(kind) + ">";
    const std::string later = "later<" + std::to_string(kind) + ">";
    const bool raced = std::any_of(o.findings.begin(), o.findings.end(), [&](const json& f) {
      const std::string text = f.dump();
      return f["kind"] == "race" && has(text, earlier) && has(text, later);
    });
    const std::string& answer = c.answers[size_t(kind)];
    const bool ordered = answer.substr(answer.rfind(' ') + 1) == "ordered";
    EXPECT_EQ(raced, !ordered) << "kernel in stream " << kind << ": " << answer << "\n" << o.text();
  }
  for (const json& f : o.findings)
    EXPECT_TRUE(has(f.dump(), "earlier<") && has(f.dump(), "later<")) << f.dump(2);
}

INSTANTIATE_TEST_SUITE_P(Calls, Order, testing::ValuesIn(tried_calls()), [](const auto& info) {
  std::string name = std::to_string(info.index) + "_" + info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

TEST(Calls, AreAllInTheTableAndOnThePage) {
  std::string names;
  const std::string page = contents("docs/journal/streams_silicon.md");
  for (const Call& c : calls()) {
    names += c.name + "\n";
    EXPECT_TRUE(has(page, "| " + c.name + " | " + c.answers[0] + " | " + c.answers[1] + " | " +
                              c.answers[2] + " |"))
        << c.name;
  }
  EXPECT_EQ(run("", "order --list", testing::TempDir() + "/list").out, names);
}

// Functions without a row, with the reason.
const std::map<std::string, std::string>& without_a_row() {
  static const std::map<std::string, std::string> all = {
      {"cudaDeviceReset", "destroys the streams and the memory that the program asks with"},
      {"cudaDeviceCanAccessPeer", "needs two devices: a query"},
      {"cudaDeviceGetP2PAttribute", "needs two devices: a query"},
      {"cudaDeviceEnablePeerAccess", "needs two devices: cases of the kind \"devices\" make it"},
      {"cudaDeviceDisablePeerAccess", "needs two devices"},
  };
  return all;
}

// Whether the row's name contains `name` as a word.
bool has_word(const std::string& row, const std::string& name) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = row.find(name); at != row.npos; at = row.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !is_part(row[at - 1])) && (end == row.size() || !is_part(row[end])))
      return true;
  }
  return false;
}

TEST(Calls, AreAllThatTheRuntimeHas) {
  std::istringstream exports(contents("simulator/runtime/api/exports.txt"));
  int functions = 0;
  size_t excepted = 0;
  for (std::string line; std::getline(exports, line);) {
    std::istringstream words(line);
    std::string name, state;
    words >> name >> state;
    // Skips nvcc's internal functions, per-thread forms, and functions that are not supported.
    if (state != "simulated" || name.rfind("cuda", 0) != 0 || has(name, "_pt")) continue;
    ++functions;
    const bool has_row = std::any_of(calls().begin(), calls().end(),
                                     [&](const Call& c) { return has_word(c.name, name); });
    const bool excused = without_a_row().count(name) != 0;
    excepted += excused ? 1 : 0;
    EXPECT_NE(has_row, excused) << name;
  }
  EXPECT_GT(functions, 250);
  EXPECT_EQ(excepted, without_a_row().size());
}

}  // namespace
}  // namespace lockstep::streams
