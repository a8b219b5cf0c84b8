// Filters select the same tests as in GoogleTest. recorder.cc also compares the two on every run
// without shards.
#include "harness/ledger/selection.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace selection_test {

TEST(Selection, AgreesWithGoogleTestsFilters) {
  const struct {
    const char *filter, *name;
    bool selected;
  } cases[] = {
      {"*", "Stencil.Matches", true},
      {"Stencil.Matches", "Stencil.Matches", true},
      {"Stencil.Match", "Stencil.Matches", false},
      {"Stencil.*", "Stencil.Matches", true},
      {"stencil.*", "Stencil.Matches", false},
      {"*tche*", "Stencil.Matches", true},
      {"S?encil.M*s", "Stencil.Matches", true},
      {"S??encil.*", "Stencil.Matches", false},
      {"A.*:Stencil.*", "Stencil.Matches", true},
      {"A.*:B.*", "Stencil.Matches", false},
      {"*-Stencil.*", "Stencil.Matches", false},
      {"-Stencil.*", "Stencil.Matches", false},
      {"-Stencil.*", "Matmul.Matches", true},
      {"Stencil.*-*.Matches:*.Other", "Stencil.Third", true},
      {"Stencil.*-*.Matches:*.Other", "Stencil.Other", false},
      {"a*a*b", "aaaab", true},
      {"a*a*b", "aaaac", false},
      {"", "Stencil.Matches", false},
      {":", "Stencil.Matches", false},
  };
  for (const auto& c : cases)
    EXPECT_EQ(filter_selects(c.filter, c.name), c.selected) << c.filter << " on " << c.name;
}

}  // namespace selection_test
}  // namespace lockstep
