// Decides which tests a GoogleTest filter selects in all shards together. GoogleTest itself
// considers only the current shard, in which an empty shard looks like a filter without a match.
#pragma once

#include <string_view>

namespace lockstep {

// `filter` has the form of --gtest_filter: patterns with * and ?, separated by ':'; patterns after
// the first '-' exclude. `full_name` has the form "Suite.Name".
bool filter_selects(std::string_view filter, std::string_view full_name);

}  // namespace lockstep
