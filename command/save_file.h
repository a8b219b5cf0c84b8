// Writes files and detects failures: a full disk, a limit of file sizes, a folder that is read-only
// or missing. Each function returns an empty text, or a sentence that names the file and the
// reason.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::command {

// Replaces the file atomically: afterwards it contains all of `text`, or its previous contents. A
// full disk or a killed process leaves no partial file. Writes directly to anything but a regular
// file (a terminal, a pipe).
std::string save_file(const std::string& path, std::string_view text);

// Overwrites the file with `text`, or appends to it. A failure may leave a part of `text`.
std::string write_file(const std::string& path, std::string_view text);
std::string append_to_file(const std::string& path, std::string_view text);

// Checks whether save_file() could write a file at `path`, without changing it. Call it before long
// work whose result will be saved.
std::string try_to_save(const std::string& path);

// Call before a program ends with success: on a full disk, buffered output may still fail.
std::string flush_stdout();

}  // namespace lockstep::command
