// Runs conform on each simulated device. The properties reported as not applicable must be exactly
// those of docs/reference/capabilities.md.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/ledger/runfiles.h"
#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace {

using Properties = std::set<std::string>;

// Splits a row of a table: "| a | b |" -> {"a", "b"}.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) {
    const auto first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
    out.push_back(first == cell.npos ? "" : cell.substr(first, last - first + 1));
  }
  return out;
}

struct Table {
  Properties listed;
  std::map<std::string, Properties> not_applicable;  // by device
};

// Reads the table of properties: one column for each device, with "yes" or "no" in each cell.
Table read_table(const std::string& page) {
  Table table;
  std::vector<std::string> header;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("| property |")) {
      header = cells(line);
      for (const std::string& column : header) {
        if (column.starts_with("sm_")) table.not_applicable[column];
      }
      continue;
    }
    if (header.empty() || line.starts_with("| ---")) continue;
    if (!line.starts_with("|")) break;
    const std::vector<std::string> row = cells(line);
    EXPECT_EQ(row.size(), header.size()) << line;
    EXPECT_TRUE(table.listed.insert(row[0]).second) << row[0] << " stands in the table twice";
    for (std::size_t i = 0; i < std::min(row.size(), header.size()); ++i) {
      if (!header[i].starts_with("sm_")) continue;
      EXPECT_TRUE(row[i] == "yes" || row[i] == "no") << line;
      if (row[i] == "no") table.not_applicable[header[i]].insert(row[0]);
    }
  }
  return table;
}

// What a run without names runs: the suites that `list` prints, and their properties.
struct Listed {
  std::size_t families = 0;
  Properties properties;
};
Listed read_list() {
  const Ended ended = run("harness/conform/conform", {"list"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  Listed listed;
  std::istringstream in(ended.output);
  for (std::string line; std::getline(in, line);) {
    std::string name;
    std::istringstream(line) >> name;
    if (line.starts_with("  "))
      listed.properties.insert(name);
    else
      listed.families += line.find("//tests:") != std::string::npos;
  }
  EXPECT_GE(listed.families, 1u) << ended.output;
  EXPECT_GT(listed.properties.size(), 100u) << ended.output;
  return listed;
}

// Laws that most families have, about launches rather than results. They take half of the time and
// need what the family's other laws need. This test runs them as it runs kDear; with LOCKSTEP_SCALE
// (--config=nightly), on every device.
const Properties kOfMostFamilies = {
    "CanBeCaptured",
    "GivesTheSameUnderEachSchedule",
    "GoesOnFromItsResult",
    "HoldsAtItsFarEnds",
    "IsDeterministic",
    "KeepsNoState",
    "KeepsNoStateBetweenDevices",
    "KeepsNoStateOfArguments",
    "LaunchesTheGridItPromises",
    "NeedsNoOtherProperty",
    "ReachesFarElements",
    "RefusesBadArguments",
    "RepeatsItsBits",
    "ReturnsEachErrorOfCuda",
    "TakesWhatItPromises",
    "WorksOnItsStream",
};

// Properties with slow cases: a tenth of a second or more. The families' own tests run them on a
// device that has what they need. This test runs them only on devices on which the table says that
// they do not apply.
const std::vector<std::string> kDear = {
    "Histogram.HoldsOnASecondDevice",
    "Matmul.CoversFarColumns",
    "Matmul.HoldsOnASecondDevice",
    "MatrixUnitSm75.CanBeMeasured",
    "MatrixUnitSm80.CanBeMeasured",
    "MatrixUnitSm89.CanBeMeasured",
    "MatrixUnitSm89.MeasurementsExplainRandomTiles",
    "MatrixUnitSm90a.CanBeMeasured",
    "MatrixUnitSm90a.MeasurementsExplainRandomTiles",
    "MemoryAccess.HoldsOnASecondDevice",
    "MemoryAccess.KeepsNoStateBetweenDevices",
    "MemoryAccess.MovesNeighboursAtFarEnds",
    "MemorySpaces.GivesTheSameUnderEachSchedule",
    "MemorySpaces.HoldsAtItsFarEnds",
    "RayTracer.HoldsOnASecondDevice",
    "Shuffle.HoldsOnASecondDevice",
    "Shuffle.MatchesItsDefinitionForEveryOperand",
    "Staging.HoldsForImmaterialArguments",
    "Staging.HoldsOnASecondDevice",
    "Stencil.HoldsOnASecondDevice",
    "TensorCopy.GivesTheSameUnderEachSchedule",
    "TensorCopy.HoldsForImmaterialArguments",
    "TensorCopy.HoldsOnASecondDevice",
    "TensorCopy.KeepsNoStateOfArguments",
    "TensorMatmulByMma.CoversMoreTilesThanBlocks",
    "TensorMatmulByMma.CoversTilesPast16Bits",
    "TensorMatmulByMma.HoldsOnASecondDevice",
    "TensorMatmulByMma.IsExactOverManyStages",
    "TensorMatmulByMma.KeepsNoStateBetweenDevices",
    "TensorMatmulByTcgen05.CoversMoreTilesThanBlocks",
    "TensorMatmulByTcgen05.CoversTilesPast16Bits",
    "TensorMatmulByTcgen05.HoldsOnASecondDevice",
    "TensorMatmulByTcgen05.IsDeterministic",
    "TensorMatmulByTcgen05.IsExactOverManyStages",
    "TensorMatmulByTcgen05.KeepsTheSignsOfZeros",
    "TensorMatmulByTcgen05.ReachesFarElements",
    "TensorMatmulByWgmma.CoversMoreTilesThanBlocks",
    "TensorMatmulByWgmma.CoversTilesPast16Bits",
    "TensorMatmulByWgmma.HoldsOnASecondDevice",
    "TensorMatmulByWgmma.IsDeterministic",
    "TensorMatmulByWgmma.IsExactOverManyStages",
    "TensorMatmulByWgmma.KeepsNoStateBetweenDevices",
    "TensorMatmulByWgmma.KeepsTheSignsOfZeros",
    "TensorMatmulByWgmma.ReachesFarElements",
    "TensorMatmulByWmma.HoldsOnASecondDevice",
    "TensorMatmulOfFp8.IsExactOverManyStages",
    "TensorMatmulPaths.AnswersForEachPathAndElement",
    "TensorMatmulScaled.CoversTilesAndStages",
    "TensorMatmulScaled.HoldsOnASecondDevice",
    "TensorMatmulScaled.KeepsNoStateOfArguments",
};

// The properties to leave out on a device: those that apply there.
Properties left_out(const Properties& all, const Properties& not_applicable) {
  Properties dear(kDear.begin(), kDear.end());
  for (const std::string& property : all) {
    const std::string law = property.substr(property.find('.') + 1);
    if (!std::getenv("LOCKSTEP_SCALE") && kOfMostFamilies.contains(law)) dear.insert(property);
  }
  std::erase_if(dear, [&](const std::string& p) { return not_applicable.contains(p); });
  return dear;
}

TEST(Capabilities, WhatIsNotApplicableIsWhatTheTableSays) {
  const Table table = read_table(text_of(runfile("docs/reference/capabilities.md")));
  ASSERT_EQ(table.not_applicable.size(), 6u)
      << "docs/reference/capabilities.md has no table of properties and six devices";
  const Listed listed = read_list();
  EXPECT_TRUE(std::ranges::includes(listed.properties, table.listed))
      << "the table lists a property that there is not";
  std::map<std::string, Properties> red;  // by device
  for (const auto& [device, expected] : table.not_applicable) {
    const std::string out = fresh_file(device);
    const Properties dear = left_out(listed.properties, expected);
    std::string chosen = kAllButTheFar;
    for (const std::string& property : dear) chosen += "," + property;
    const Ended ended =
        run("harness/conform/conform",
            {"--device=" + device, "--cases=1", "--jobs=2", "-k", chosen, "--out=" + out},
            {{"LOCKSTEP_HOST_THREADS", "1"}}, 250);
    // The suite of an unfinished family fails: its own test reports that.
    ASSERT_TRUE(ended.status == 0 || ended.status == 1) << device << "\n" << ended.output;
    const auto passport = nlohmann::json::parse(text_of(out + "/passport.json"), nullptr, false);
    ASSERT_TRUE(passport.is_object()) << ended.output;
    ASSERT_EQ(passport["suites"].size(), listed.families) << "a suite is missing";
    Properties actual, all;
    for (const auto& suite : passport["suites"]) {
      for (const auto& property : suite["properties"]) {
        all.insert(property["property"]);
        if (property["verdict"] == "not applicable") {
          actual.insert(property["property"]);
        } else if (property["verdict"] != "pass" && property["verdict"] != "waived") {
          red[device].insert(property["property"]);
        }
      }
    }
    EXPECT_EQ(red[device].empty(), ended.status == 0) << ended.output;
    EXPECT_EQ(actual, expected) << "on " << device;
    Properties missing;
    all.insert(dear.begin(), dear.end());
    std::ranges::set_difference(table.listed, all, std::inserter(missing, missing.end()));
    EXPECT_TRUE(missing.empty()) << "not run on " << device << ": "
                                 << fmt::format("{}", fmt::join(missing, ", "));
    fmt::print("{}: {} of {} properties not applicable: {}\n", device, actual.size(), all.size(),
               fmt::join(actual, ", "));
  }
  // The families' own tests run on sm_90. A property that holds there must hold on the other
  // devices.
  ASSERT_TRUE(red.contains("sm_90"));
  for (const auto& [device, properties] : red) {
    EXPECT_TRUE(std::ranges::includes(red["sm_90"], properties))
        << "on " << device << " alone: " << fmt::format("{}", fmt::join(properties, ", "));
  }
}

}  // namespace
}  // namespace lockstep::end_to_end
