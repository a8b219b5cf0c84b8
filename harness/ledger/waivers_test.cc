// A waiver excuses exactly the failures that it names, until its date.
#include "harness/ledger/waivers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace lockstep {
namespace waivers_test {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kGood[] = R"([{"property": "Stencil.Edges", "url": "https://example.org/7", )"
                         R"("expires": "2027-01-31", "reason": "Reads one halo too far."}])";

Record record(Verdict v, std::string reason) {
  Record r;
  r.property = "Stencil.Edges";
  r.verdict = v;
  r.reason = std::move(reason);
  return r;
}

std::vector<Waiver> good() { return parse_waivers(kGood, "w.json").waivers; }

TEST(Waivers, ReadsAFileOfOne) {
  const Waivers w = parse_waivers(kGood, "w.json");
  EXPECT_THAT(w.errors, IsEmpty());
  ASSERT_THAT(w.waivers, SizeIs(1));
  EXPECT_EQ(w.waivers[0].property, "Stencil.Edges");
  EXPECT_EQ(w.waivers[0].expires, "2027-01-31");
}

TEST(Waivers, ReadsAnEmptyArray) { EXPECT_THAT(parse_waivers("[]", "w.json").errors, IsEmpty()); }

TEST(Waivers, RefusesWhatIsNotAWaiver) {
  const struct {
    const char* json;
    const char* says;
  } cases[] = {
      {"", "not a JSON array"},
      {"{}", "not a JSON array"},
      {"[1]", "is not an object"},
      {R"([{"property": "A.b", "url": "https://e.org/1", "expires": "2027-01-31"}])",
       "needs 'reason'"},
      {R"([{"property": "A.b", "url": "https://e.org/1", "expires": 2027, "reason": "r"}])",
       "needs 'expires'"},
      {R"([{"property": "A.b", "url": "https://e.org/1", "expires": "2027-02-30", "reason": "r"}])",
       "not a date"},
      {R"([{"property": "A.b", "url": "https://e.org/1", "expires": "never", "reason": "r"}])",
       "not a date"},
      {R"([{"property": "A.b", "url": "https://e.org/1", "expires": "2027-13-01", "reason": "r"}])",
       "not a date"},
      {R"([{"property": "A.b", "url": "https://e.org/1", "expires": "2027-00-10", "reason": "r"}])",
       "not a date"},
      {R"([{"property": "A.b", "url": "https://e.org/1", "expires": "2027-01-00", "reason": "r"}])",
       "not a date"},
      {R"([{"property": "A.b", "url": "https://e.org/1", "expires": "2027-1-031", "reason": "r"}])",
       "not a date"},
      {R"([{"property": "A.b", "url": "see chat", "expires": "2027-01-31", "reason": "r"}])",
       "not an http(s) address"},
      {R"([{"property": "A.*", "url": "https://e.org/1", "expires": "2027-01-31", "reason": "r"}])",
       "not a full property name"},
      {R"([{"property": "Ab", "url": "https://e.org/1", "expires": "2027-01-31", "reason": "r"}])",
       "not a full property name"},
      {R"([{"property": "A.b", "url": "https://e.org/1", "expires": "2027-01-31", )"
       R"("reason": "r", "sm": 90}])",
       "unknown key 'sm'"},
      {R"([{"property": "A.b", "url": "https://e.org/1", "expires": "2027-01-31", "reason": "r"},
           {"property": "A.b", "url": "https://e.org/1", "expires": "2027-01-31", "reason": "r"}])",
       "waived twice"},
  };
  for (const auto& c : cases) {
    const Waivers w = parse_waivers(c.json, "w.json");
    EXPECT_THAT(w.errors, Contains(HasSubstr(c.says))) << c.json;
    EXPECT_THAT(w.waivers, IsEmpty()) << "a file with errors must excuse nothing: " << c.json;
  }
}

TEST(Waivers, AFileThatIsNotThereIsAnError) {
  EXPECT_THAT(read_waivers("/nonexistent/waivers.json").errors,
              Contains(HasSubstr("cannot be read")));
}

TEST(Waivers, ExcuseAFailureThroughTheirLastDay) {
  const Record r = apply_waivers(record(Verdict::kFail, "mismatch"), good(), "2027-01-31");
  EXPECT_EQ(r.verdict, Verdict::kWaived);
  EXPECT_THAT(r.reason, HasSubstr("https://example.org/7 until 2027-01-31"));
  EXPECT_THAT(r.reason, HasSubstr("mismatch"));
}

TEST(Waivers, NoLongerExcuseOnceExpired) {
  const Record r = apply_waivers(record(Verdict::kFail, "mismatch"), good(), "2027-02-01");
  EXPECT_EQ(r.verdict, Verdict::kFail);
  EXPECT_THAT(r.reason, HasSubstr("expired on 2027-01-31"));
}

TEST(Waivers, TurnAnUnexpectedPassRed) {
  for (const char* today : {"2027-01-31", "2027-02-01"}) {
    const Record r = apply_waivers(record(Verdict::kPass, ""), good(), today);
    EXPECT_EQ(r.verdict, Verdict::kFail);
    EXPECT_THAT(r.message, HasSubstr("unexpected pass: remove the waiver"));
  }
}

TEST(Waivers, LeaveOtherPropertiesAndVerdictsAlone) {
  EXPECT_EQ(apply_waivers(record(Verdict::kNotRun, "out of memory"), good(), "2027-01-01").verdict,
            Verdict::kNotRun);
  EXPECT_EQ(
      apply_waivers(record(Verdict::kNotApplicable, "clusters"), good(), "2027-01-01").verdict,
      Verdict::kNotApplicable);
  Record other = record(Verdict::kFail, "mismatch");
  other.property = "Stencil.EdgesToo";
  EXPECT_EQ(apply_waivers(other, good(), "2027-01-01").verdict, Verdict::kFail);
}

TEST(Waivers, TodayIsADate) {
  EXPECT_THAT(today_utc(), SizeIs(10));
  EXPECT_GT(today_utc(), "2026-01-01");
}

std::string today_in(const char* zone) {
  setenv("TZ", zone, 1);
  tzset();
  std::string today = today_utc();
  unsetenv("TZ");
  tzset();
  return today;
}

// The dates of these two zones always differ.
TEST(Waivers, TodayIsThatOfUtcInEveryTimeZone) {
  std::string today, east, west;
  do {  // again if midnight passes
    today = today_utc();
    east = today_in("UTC-14");
    west = today_in("UTC+12");
  } while (today_utc() != today);
  EXPECT_EQ(east, today);
  EXPECT_EQ(west, today);
}

}  // namespace waivers_test
}  // namespace lockstep
