// Writing files, and noticing when that fails: a disk that is full, a limit of file sizes, a folder
// that is read-only or gone. Each function returns an empty string, or a sentence that names the
// file and the reason.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::command {

// What is at `path` is either all of `text` or what was there before: a disk that is full, or an
// end in between, leaves no cut-off file. What is no ordinary file (a terminal, a pipe) is written
// to as it is.
std::string save_file(const std::string& path, std::string_view text);

// Writes `text` over the file, or behind what is there. What fails may leave a part of it.
std::string write_file(const std::string& path, std::string_view text);
std::string append_to_file(const std::string& path, std::string_view text);

// Whether save_file() would find a place for a file at `path`, which is left as it is: for what
// takes long before there is anything to save.
std::string try_to_save(const std::string& path);

// To be called before a program ends with success: what it printed may still wait for a disk that
// is full.
std::string flush_stdout();

}  // namespace lockstep::command
