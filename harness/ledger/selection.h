// Which tests a GoogleTest filter selects, whatever the shard. GoogleTest answers that for the
// current shard only, which cannot tell an empty shard from a filter that matches nothing anywhere.
#pragma once

#include <string_view>

namespace lockstep {

// `filter` as in --gtest_filter: patterns with * and ?, separated by ':', those after the first '-'
// exclude. `full_name` as "Suite.Name".
bool filter_selects(std::string_view filter, std::string_view full_name);

}  // namespace lockstep
