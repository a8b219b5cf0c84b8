// Registers the laws of a family as tests of its real kernels, and checks that no law is left
// out.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <source_location>
#include <string>
#include <utility>

#include "harness/property/property.h"
#include "properties/law.h"

namespace lockstep {

// Registers a test at run time, before main(), as tests/known_bad does from its tables.
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

// The number of registered tests with that name.
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
        PropertyOptions of_law = options;
        of_law.cost = law.options.cost;
        return law.judge(name, implementation, of_law);
      };
      detail::check_property(name, run, law.options.cases, law.where.file_name(),
                             static_cast<int>(law.where.line()));
    });
  }
  return true;
}

// Registers all laws of a family, and a test <family>Laws.AreAllTestsHere. That test fails if there
// is no law, or if a law is not exactly one test: with two tests of one name, one could hide the
// failure of the other. Returns true, so that a file can call it before main().
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
