// Which tests a GoogleTest filter selects in all shards together. GoogleTest answers for the
// current shard alone: there an empty shard looks like a filter that matches no test at all.
#pragma once

#include <string_view>

namespace lockstep {

// `filter` as in --gtest_filter: patterns with * and ?, separated by ':', those after the first '-'
// exclude. `full_name` as "Suite.Name".
bool filter_selects(std::string_view filter, std::string_view full_name);

}  // namespace lockstep
