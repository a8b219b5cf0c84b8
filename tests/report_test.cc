// report.html: one self-contained file that shows every failure and escapes all text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "harness/report/html.h"
#include "harness/report/report_html.h"
#include "tests/end_to_end/run.h"
#include "tests/made_passport.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string page(const MadeRun& run, const std::vector<Picture>& pictures = {}) {
  ReportAssets assets;
  EXPECT_EQ(read_assets(assets), "");
  Passport p;
  std::string error;
  EXPECT_TRUE(parse_passport(run.json(), p, error)) << error;
  ReportContext context;
  context.pictures = pictures;
  return report_html(p, context, assets);
}

// The page without its scripts and styles.
std::string visible(const std::string& page) {
  std::string text = page;
  for (const char* element : {"style", "script"}) {
    const std::string begin = "<" + std::string(element) + ">",
                      end = "</" + std::string(element) + ">";
    for (auto at = text.find(begin); at != text.npos; at = text.find(begin))
      text.erase(at, text.find(end, at) - at);
  }
  return text;
}

TEST(Report, OfAGreenRunSaysSo) {
  const std::string text = visible(page({}));
  EXPECT_THAT(text, AllOf(HasSubstr("<span class=\"verdict green\">GREEN</span>"),
                          HasSubstr("NVIDIA H100 80GB HBM3"),
                          HasSubstr("Every ledger closes and all is green."),
                          Not(HasSubstr("id=\"failures\""))));
}

TEST(Report, ShowsEveryFailureWithItsCaseAndItsReplay) {
  MadeRun run;
  run.fail(0, "y[32] is 1.5, not 1.25");
  run.fail(1, "y[33] is 2.5, not 2.25");
  const std::string text = visible(page(run));
  EXPECT_THAT(text, HasSubstr("<span class=\"verdict red\">NOT GREEN</span>"));
  for (const char* part :
       {"y[32] is 1.5, not 1.25", "y[33] is 2.5, not 2.25", "n=33 poison=nan",
        "./lockstep run --suite=made &#39;--case=Made.Rounds: n=33 poison=nan&#39;"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Report, LetsNoTextBecomeMarkup) {
  MadeRun run;
  run.fail(0, "</pre><script>alert(1)</script>");
  run.records[1].notes["table.<b>title</b>"] = "head\n<i>cell</i>";
  run.records[1].notes["golden.\"><img>"] = "<u>other</u>";
  run.device["name"] = "<em>GPU</em>";
  const std::string text = page(run);
  for (const char* markup :
       {"<script>alert", "<b>title", "<i>cell", "\"><img>", "<u>other", "<em>GPU"})
    EXPECT_THAT(text, Not(HasSubstr(markup)));
  EXPECT_THAT(text, HasSubstr("&lt;/pre&gt;&lt;script&gt;alert(1)"));
  EXPECT_EQ(html::script("a = '</script>'"), "a = '<\\/script>'");
}

TEST(Report, NeedsNothingFromElsewhere) {
  const std::string text = visible(page({}, {{"field", "png bytes"}}));
  EXPECT_FALSE(std::regex_search(text, std::regex("(src|href)=\"(?!#|data:)")))
      << "a link out of the page";
  EXPECT_THAT(page({}), AllOf(Not(HasSubstr("@import")), HasSubstr("name=\"viewport\""),
                              HasSubstr("@media print"), HasSubstr("d3")));
}

TEST(Report, HasPicturesChartsAndTables) {
  MadeRun run;
  run.records[0].notes["golden.field"] = "same";
  run.records[0].notes["golden.ring"] = "another picture";
  run.records[0].notes["table.Transactions"] =
      "pattern\tlines\tequal\nstride 2\t2\tyes\nstride 4\t4\tNO";
  run.records[2].notes["timing_verdict.copy"] =
      R"({"name": "b against a", "verdict": "SLOWER", "ratio": 1.3, "low": 1.2, "high": 1.4, )"
      R"("minimum_effect": 0.02})";
  const std::string text = visible(page(run, {{"field", "png bytes"}}));
  EXPECT_THAT(text, HasSubstr("data:image/png;base64," + html::base64("png bytes")));
  EXPECT_THAT(text, AllOf(HasSubstr("equal, pixel for pixel"), HasSubstr("another picture")));
  EXPECT_THAT(text, AllOf(HasSubstr("data-kind=\"budget\""), HasSubstr("data-kind=\"ratio\""),
                          HasSubstr("data-kind=\"duration\"")));
  EXPECT_THAT(text, AllOf(HasSubstr("<tr class=\"bad\"><td>stride 4</td>"),
                          HasSubstr("<tr><td>stride 2</td>")));
  EXPECT_THAT(text, AllOf(HasSubstr("b against a"), HasSubstr("SLOWER")));
}

TEST(Report, DrawsMatrixUnitsAndLetsThoseThatComputeAlikeShareARow) {
  MadeRun run;
  for (const char* form : {"mma m16n8k8 f16 to f32", "mma m16n8k16 f16 to f32", "<i>mma</i>"}) {
    const std::string bits = form[0] == '<' ? "13" : "25";
    run.records[1].notes[std::string("measurement.") + form] =
        R"({"kind": "matrix_unit", "name": ")" + std::string(form) +
        R"(", "terms": 17, "values": [["products at once", "16"], ["bits below the largest", ")" +
        bits + R"("], ["bits of a sum", "23"], ["NaN", "7fffffff"]]})";
  }
  run.records[1].notes["measurement.integers"] =
      R"({"kind": "matrix_unit", "name": "mma m8n8k16 s8 to s32", "terms": 17, )"
      R"("values": [["factors", "signed"], ["overflow", "wraps"]]})";
  const std::string text = visible(page(run));
  EXPECT_THAT(text, AllOf(HasSubstr("<h2>Matrix units</h2>"), HasSubstr("data-kind=\"kept\"")));
  EXPECT_THAT(
      text,
      HasSubstr(
          "<td>mma m16n8k16 f16 to f32<br>mma m16n8k8 f16 to f32</td><td>16</td><td>25</td>"));
  EXPECT_THAT(text, HasSubstr("<td>&lt;i&gt;mma&lt;/i&gt;</td><td>16</td><td>13</td>"));
  EXPECT_THAT(text,
              HasSubstr("<td>mma m8n8k16 s8 to s32</td><td>signed</td><td></td><td>wraps</td>"));
  EXPECT_THAT(text, HasSubstr("<td>NaN</td><td>7fffffff</td>"))
      << "all that was measured stands below";
  EXPECT_THAT(visible(page({})), Not(HasSubstr("Matrix units")));
}

Passport passport_of(const MadeRun& run) {
  Passport p;
  std::string error;
  EXPECT_TRUE(parse_passport(run.json(), p, error)) << error;
  return p;
}

std::string page(const Passport& p, const ReportContext& context) {
  ReportAssets assets;
  EXPECT_EQ(read_assets(assets), "");
  return visible(report_html(p, context, assets));
}

TEST(Report, OfOneCaseOrOfAPartDoesNotLookLikeAWholeRun) {
  MadeRun run;
  EXPECT_THAT(page(passport_of(run), {}), Not(HasSubstr("verdict part")));
  run.options["case"] = "Made.Rounds: n=33";
  EXPECT_THAT(page(passport_of(run), {}),
              AllOf(HasSubstr("<span class=\"verdict part\">ONE CASE</span>"),
                    HasSubstr("This is a replay of one case, <code>Made.Rounds: n=33</code>"),
                    Not(HasSubstr("Every ledger closes"))));
  run.options = {{"pattern", "<Rounds>"}, {"scale", "0.1"}};
  EXPECT_THAT(
      page(passport_of(run), {}),
      AllOf(HasSubstr(">A PART</span>"), HasSubstr("of properties with <code>&lt;Rounds&gt;</code> "
                                                   "in their names, with 0.1 times the cases")));
  run.options = {{"work", "30000000"}};
  EXPECT_THAT(page(passport_of(run), {}),
              HasSubstr("with at most 30000000 steps of each property"));
  run.options = {};
  Passport p = passport_of(run);
  p.partial = "interrupted by SIGINT";
  p.not_begun = {"sort"};
  EXPECT_THAT(
      page(p, {}),
      AllOf(
          HasSubstr(">PARTIAL</span>"),
          HasSubstr("This run was interrupted by SIGINT: what is here is partial, without sort.")));
}

TEST(Report, SecondsAddUp) {
  Passport p = passport_of(MadeRun());
  p.seconds = 3;
  p.suites[0].seconds = 5;
  p.suites[0].properties.at("Made.Holds").seconds = 1.25;
  p.suites[0].properties.at("Made.Rounds").seconds = 2.5;
  const std::string text = page(p, {});
  EXPECT_THAT(
      text,
      HasSubstr(
          "starting, ending, and between properties</span></td><td></td><td class=\"n\"></td><td "
          "class=\"n\"></td><td class=\"n wide\">1.25</td>"));
  EXPECT_TRUE(std::regex_search(
      text, std::regex("<tr class=\"sum\"><td>all</td>.*<td class=\"n wide\">5.0</td></tr>")))
      << "the sum of the suites, not the time of the run";
  EXPECT_THAT(text, HasSubstr("the run took 3.0 s"));
}

TEST(Report, ShowsSentencesThatLeadToTheirSources) {
  MadeRun run;
  run.records[1].notes["source"] = "properties/made.cc:88";
  ReportContext context;
  EXPECT_THAT(page(passport_of(run), context),
              HasSubstr("rounds <span class=\"wide\">(properties/made.cc:88)</span>"));
  context.sources = "https://example.org/blob/main/";
  EXPECT_THAT(page(passport_of(run), context),
              HasSubstr("<a href=\"https://example.org/blob/main/properties/made.cc#L88\" "
                        "title=\"properties/made.cc:88\">rounds</a>"));
}

TEST(Report, SaysInWordsThatABudgetTouchesItsLimit) {
  MadeRun run;
  EXPECT_THAT(page(passport_of(run), {}), Not(HasSubstr("touches its limit")));
  run.records[1].budget = 0.96;
  EXPECT_THAT(
      page(passport_of(run), {}),
      HasSubstr(
          "<b>Made.Rounds</b> touches its limit: a little more error, and it fails (0.9600)."));
  run.records[1].budget = 1;
  EXPECT_THAT(page(passport_of(run), {}), HasSubstr("uses all of its bound"));
}

TEST(Report, ShowsFailuresOfOneCauseAsOne) {
  MadeRun run;
  for (const std::size_t i : {0, 1}) {
    run.fail(i, "race: st.shared.f32\n  by thread (" + std::to_string(i) +
                    ",0,0)\n  at kernels/made.cu:9 (st.shared.f32)");
    run.records[i].reason = "finding:race";
  }
  const std::string text = page(passport_of(run), {});
  EXPECT_THAT(text, AllOf(HasSubstr("<h3>Made.Holds <span"), HasSubstr("also, of the same cause"),
                          HasSubstr("<li>Made.Rounds<br><code>./lockstep run"),
                          Not(HasSubstr("<h3>Made.Rounds <span"))));
}

TEST(Report, ShowsWhatChangedSinceAnEarlierRun) {
  MadeRun run;
  ReportContext context;
  EXPECT_THAT(page(passport_of(run), context), Not(HasSubstr("id=\"change\"")));
  context.earlier = passport_of(run);
  EXPECT_THAT(page(passport_of(run), context), HasSubstr("<span class=\"pass\">not worse</span>"));
  run.records[1].budget = 0.9;
  EXPECT_THAT(page(passport_of(run), context),
              AllOf(HasSubstr("More of the error bound is used"),
                    HasSubstr("<span class=\"fail\">worse</span>")));
}

// Results that mutate and coverage write to the run's folder.
TEST(Report, ShowsHowGoodTheSuitesAreWhereThatIsKnown) {
  const std::string out = end_to_end::fresh_file("judged");
  fs::create_directories(out + "/mutation/made");
  fs::create_directories(out + "/coverage");
  std::ofstream(out + "/mutation/made/mutation.json")
      << R"({"files": {"a.cu": {"mutants": [{"status": "Killed"}, {"status": "Timeout"},
    {"status": "Survived"}, {"status": "NoCoverage"}, {"status": "Ignored"}]}}})";
  std::ofstream(out + "/mutation/made/mutation.html") << "page";
  std::ofstream(out + "/coverage/coverage.info")
      << "SF:kernels/made.cu\nBRF:4\nBRH:3\nLF:1000\nLH:999\nend_of_record\n";
  const std::string text = page(passport_of(MadeRun()), read_context(out));
  EXPECT_THAT(
      text,
      HasSubstr(
          "<td><a href=\"mutation/made/mutation.html\">made</a></td><td class=\"n\">66.6 %</td><td "
          "class=\"n\">2</td><td class=\"n\">1</td><td class=\"n\">1</td><td class=\"n\">1</td>"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "<td><code>kernels/made.cu</code></td><td class=\"n\">1000</td><td class=\"n\">99.9 "
          "%</td><td class=\"n\">4</td><td class=\"n\">75.0 %</td>"));
  EXPECT_THAT(page(passport_of(MadeRun()), {}), Not(HasSubstr("How good the suites are")));
}

// Results that `lockstep counters` writes to the run's folder.
TEST(Report, ShowsKernelsWithTheirCountersWhereTheyAreKnown) {
  const std::string out = end_to_end::fresh_file("counted");
  fs::create_directories(out + "/counters");
  std::ofstream(out + "/counters/counters.json")
      << R"json({"kernels": [{"name": "copy<4>(float*)", "launches": 12,
    "warp_instructions": 100, "thread_instructions": 3150, "global_load_sectors": 80,
    "global_load_requests": 20, "shared_load_bank_conflicts": 3, "shared_store_bank_conflicts": 4,
    "atomics": 5, "barriers": 6}, {"name": "crashed()"}]})json";
  const std::string text = page(passport_of(MadeRun()), read_context(out));
  EXPECT_THAT(
      text,
      HasSubstr("<td><code>copy&lt;4&gt;(float*)</code></td><td class=\"n\">12</td><td "
                "class=\"n\">100</td>"
                "<td class=\"n wide\">31.50</td><td class=\"n\">4.00</td><td class=\"n\"></td><td "
                "class=\"n\">7</td><td class=\"n wide\">5</td><td class=\"n wide\">6</td>"));
  EXPECT_THAT(text, Not(HasSubstr("crashed")));
  EXPECT_THAT(page(passport_of(MadeRun()), {}), Not(HasSubstr("id=\"kernels\"")));
  std::ofstream(out + "/counters/counters.json") << "cut off {";
  EXPECT_THAT(page(passport_of(MadeRun()), read_context(out)), Not(HasSubstr("id=\"kernels\"")));
}

TEST(Report, NumbersInNamesCountAsNumbers) {
  MadeRun run;
  for (const char* bins : {"1024", "256", "64"}) {
    run.records[2].notes[std::string("timing_verdict.") + bins] =
        std::string(R"({"name": "histogram, )") + bins +
        R"( bins", "verdict": "FASTER", "ratio": 0.0123, "low": 0.0122, "high": 0.0124, )"
        R"("minimum_effect": 0.02})";
  }
  const std::string text = page(run, {});
  const auto of64 = text.find("<td>histogram, 64 bins"),
             of256 = text.find("<td>histogram, 256 bins"),
             of1024 = text.find("<td>histogram, 1024 bins");
  EXPECT_LT(of64, of256);
  EXPECT_LT(of256, of1024);
  EXPECT_NE(of1024, std::string::npos);
  EXPECT_THAT(text, HasSubstr("&times;0.0123</td>"));
}

TEST(Report, Base64IsThatOfRfc4648) {
  EXPECT_EQ(html::base64(""), "");
  EXPECT_EQ(html::base64("f"), "Zg==");
  EXPECT_EQ(html::base64("fo"), "Zm8=");
  EXPECT_EQ(html::base64("foo"), "Zm9v");
  EXPECT_EQ(html::base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(html::base64("\xff\xfe"), "//4=");
}

// Runs the program as a user does.
TEST(ReportProgram, WritesThePageIntoTheRunsFolder) {
  const std::string folder = end_to_end::fresh_file("run");
  fs::create_directories(folder + "/outputs/made");
  MadeRun().write(folder + "/passport.json");
  std::ofstream(folder + "/outputs/made/golden.field.png") << "png bytes";
  const end_to_end::Ended made =
      end_to_end::run("harness/report/passport_tool", {"report", folder});
  EXPECT_EQ(made.status, 0) << made.output;
  std::ifstream in(folder + "/report.html");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_THAT(text, HasSubstr("</html>"));
  EXPECT_EQ(end_to_end::run("harness/report/passport_tool", {"report", folder + "/outputs"}).status,
            2);
}

}  // namespace
}  // namespace lockstep
