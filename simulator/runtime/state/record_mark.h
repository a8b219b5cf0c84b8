// The first line of a run's record (record.h), which contains a mark for lost lines.
//
// If the disk is full, or a file size limit is reached, no line can be added. One character of an
// existing line can still be changed, through a mapping of the file. So the process that created
// the record learns of a loss, whichever process met it and whatever exit status that process had.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep::runtime {

inline constexpr std::string_view kRecordMark = "{\"lost\":0}\n";
inline constexpr std::size_t kRecordMarkAt = kRecordMark.find('0');  // '1': something is missing

}  // namespace lockstep::runtime
