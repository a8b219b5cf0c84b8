// The first line of a run's record (record.h): whether something could not be written to it.
//
// A disk that is full, or a limit of file sizes, takes no further line. One character of a line
// that is there can still be changed, through a mapping of the file. So the process that made the
// record learns of the loss, whichever process met it, and whatever that one's exit status was.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep::runtime {

inline constexpr std::string_view kRecordMark = "{\"lost\":0}\n";
inline constexpr std::size_t kRecordMarkAt = kRecordMark.find('0');  // '1': something is missing

}  // namespace lockstep::runtime
