// The laws of a family as the tests of its real kernels. A law that no test states would be proved
// by nobody.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <source_location>
#include <string>
#include <utility>

#include "harness/property/property.h"
#include "properties/law.h"

namespace lockstep {

// Registers a test in the way of known_bad's court: from a table, before main().
inline void register_test(const std::string& suite, const std::string& name,
                          std::source_location where, std::function<void()> body) {
  class Test : public ::testing::Test {
   public:
    explicit Test(std::function<void()> body) : body_(std::move(body)) {}
    void TestBody() override { body_(); }

   private:
    const std::function<void()> body_;
  };
  ::testing::RegisterTest(
      suite.c_str(), name.c_str(), nullptr, nullptr, where.file_name(),
      static_cast<int>(where.line()),
      [body = std::move(body)]() -> ::testing::Test* { return new Test(body); });
}

// How many tests there are of that name.
inline int tests_named(const std::string& suite, const std::string& name) {
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  int count = 0;
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& candidate = *all.GetTestSuite(s);
    for (int t = 0; candidate.name() == suite && t < candidate.total_test_count(); ++t) {
      count += candidate.GetTestInfo(t)->name() == name;
    }
  }
  return count;
}

// Registers a property `suite`.<law> for each law. Returns true, so that a file can call it before
// main().
template <class Implementation>
bool register_laws(const std::string& suite, const properties::Laws<Implementation>& laws,
                   const Implementation& implementation) {
  for (const auto& law : laws) {
    register_test(suite, law.name, law.where, [name = suite + "." + law.name, law, implementation] {
      const auto run = [&](const PropertyOptions& options) {
        return law.judge(name, implementation, options);
      };
      detail::check_property(name, run, law.options.cases, law.where.file_name(),
                             static_cast<int>(law.where.line()));
    });
  }
  return true;
}

// The same for all laws of a family, with a test <family>Laws.AreAllTestsHere: there are some, and
// each is one test, for of two of one name a failure could hide behind the other. Returns true, so
// that a file can call it before main().
template <class Implementation>
bool prove(const std::string& suite, const properties::Laws<Implementation>& laws,
           const Implementation& implementation, const std::string& family = "") {
  register_laws(suite, laws, implementation);
  const auto where = std::source_location::current();
  register_test((family.empty() ? suite : family) + "Laws", "AreAllTestsHere", where,
                [suite, laws] {
                  EXPECT_FALSE(laws.empty());
                  for (const auto& law : laws)
                    EXPECT_EQ(tests_named(suite, law.name), 1) << suite << "." << law.name;
                });
  return true;
}

}  // namespace lockstep
