#include "simulator/exec/preflight.h"

#include <elf.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

#include "simulator/exec/child.h"
#include "simulator/exec/vendor_libraries.h"
#include "simulator/runtime/inspect/inspect.h"

namespace lockstep::exec {
namespace {

namespace fs = std::filesystem;
using runtime::Inspection;
using runtime::StaticRuntime;

constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";
constexpr std::string_view kRuntime = "libcudart.so.13";

Inspection inspect_file(const std::string& path, int compute_capability) {
  // One read: a library may have hundreds of megabytes.
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  const std::size_t bytes = error ? 0 : size;
  const auto contents = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(contents.get()), static_cast<std::streamsize>(bytes));
  return runtime::inspect({contents.get(), static_cast<std::size_t>(file.gcount())},
                          compute_capability);
}

// Whether execve() can start it.
bool may_be_started(const std::string& path) {
  return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path);
}

// Why an existing file cannot be started, and what to do.
std::string about_no_program(const std::string& path) {
  const fs::path file(path);
  if (fs::is_directory(file)) return "is a folder and no program";
  if (file.extension() == ".cu")
    return "is a source file: compile it first, as in nvcc -arch=sm_90 -lineinfo -o " +
           file.stem().string() + " " + path;
  if (file.extension() == ".ptx" || file.extension() == ".cubin")
    return "is device code and no program: run the program that loads it";
  return "may not be executed; chmod +x makes a file a program";
}

// Whether an ELF file is for another processor than this one.
bool is_for_another_processor(const std::string& path) {
  std::array<char, offsetof(Elf64_Ehdr, e_machine) + 2> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  std::uint16_t machine = 0;
  std::memcpy(&machine, head.data() + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
  return std::memcmp(head.data(), ELFMAG, SELFMAG) == 0 &&
         (head[EI_CLASS] != ELFCLASS64 || head[EI_DATA] != ELFDATA2LSB || machine != EM_X86_64);
}

// System libraries contain no device code, and reading all of them would take longer than many a
// program runs.
bool is_system_library(const std::string& path) {
  return path.starts_with("/lib/") || path.starts_with("/lib64/") ||
         path.starts_with("/usr/lib/") || path.starts_with("/usr/lib64/");
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != name.npos) return may_be_started(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (may_be_started(candidate)) return candidate;
  }
  return {};
}

std::string about_library(const std::string& soname, bool found) {
  if (is_vendor_library(soname)) {
    return "needs " + soname + (found ? ". " : ", which is not on this machine. ") +
           (found ? "Its kernels run where it has PTX for the simulated device; the others are "
                    "refused by name. Check"
                  : "Most of its kernels are machine code, which the simulated GPU does not run. "
                    "Build") +
           " the program's own kernels without it. Of NVIDIA's libraries of CUDA 13, "
           "libcublas.so.13, libcublasLt.so.13, libcufft.so.12 and libcurand.so.10 are simulated.";
  }
  if (!found)
    return "needs " + soname +
           ", which is not found: install it, or add its folder to LD_LIBRARY_PATH.";
  return {};
}

std::vector<Needed> parse_library_list(const std::string& text) {
  std::vector<Needed> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find(" => ");
    if (arrow == line.npos) continue;
    Needed one;
    one.soname = line.substr(0, arrow);
    one.soname.erase(0, one.soname.find_first_not_of(" \t"));
    const std::string rest = line.substr(arrow + 4);
    if (!rest.starts_with("not found")) one.path = rest.substr(0, rest.find(" ("));
    result.push_back(std::move(one));
  }
  return result;
}

Preflight look_at(const std::string& name, const std::string& library_folder,
                  int compute_capability) {
  Preflight result;
  result.program = find_program(name);
  const auto refuse = [&](const std::string& sentence) {
    result.verdict = Preflight::Verdict::kRefused;
    result.sentences.push_back(name + ": " + sentence);
  };
  if (std::error_code none;
      result.program.empty() && name.find('/') != name.npos && fs::exists(name, none)) {
    refuse(about_no_program(name));
    return result;
  }
  if (result.program.empty()) {
    result.verdict = Preflight::Verdict::kNotFound;
    result.sentences.push_back((name.empty() ? "''" : name) + ": no such program" +
                               (may_be_started(name) ? " on PATH; here is one: ./" + name : ""));
    return result;
  }
  if (is_for_another_processor(result.program)) {
    refuse("is not a 64-bit program for x86-64, which is all that the simulated GPU can serve");
    return result;
  }
  const Inspection own = inspect_file(result.program, compute_capability);
  // A statically linked runtime is redirected to the simulated one, which must be loaded for that.
  // This also applies to programs that a script starts and to libraries opened later. A program
  // that needs libcudart.so.13 gets no preload: AddressSanitizer, for example, must be loaded
  // first.
  result.preload = own.kind != Inspection::Kind::kSharedRuntime;
  if (own.kind == Inspection::Kind::kNotElf) return result;
  if (own.kind != Inspection::Kind::kNoDeviceCode && own.kind != Inspection::Kind::kLibrary &&
      !own.runnable)
    refuse(own.sentence);
  if (own.needed.empty()) {
    if (own.kind == Inspection::Kind::kStaticRuntime && own.runnable)
      refuse(
          "is linked without any shared library, so that nothing can be led to the simulated GPU: "
          "link it without -static");
    return result;
  }

  // Like ldd: with this variable the loader lists the libraries and runs nothing.
  const std::string list =
      output_of({kLoader, result.program},
                {{"LD_TRACE_LOADED_OBJECTS", "1"},
                 {"LD_LIBRARY_PATH", with_first("LD_LIBRARY_PATH", library_folder)}});
  std::vector<std::string> warnings;
  for (const Needed& library : parse_library_list(list)) {
    const bool found = !library.path.empty();
    if (library.soname == kRuntime) {
      std::error_code error;
      // An RPATH may lead the program to another runtime.
      result.preload =
          found &&
          !fs::equivalent(library.path, library_folder + "/" + std::string(kRuntime), error);
      continue;
    }
    if (const std::string sentence = about_library(library.soname, found); !sentence.empty()) {
      found ? warnings.push_back(name + ": " + sentence) : refuse(sentence);
    } else if (found && !is_system_library(library.path)) {
      const Inspection there = inspect_file(library.path, compute_capability);
      const bool has_code = !there.ptx.empty() || !there.machine_code.empty();
      if (there.kind == Inspection::Kind::kStaticRuntime &&
          (there.static_runtime == StaticRuntime::Kind::kStripped ||
           there.static_runtime == StaticRuntime::Kind::kOlder)) {
        result.verdict = Preflight::Verdict::kRefused;
        result.sentences.push_back(library.path + ": " + there.sentence);
      } else if (has_code && there.kind != Inspection::Kind::kLibrary && !there.runnable) {
        warnings.push_back(library.path + ": " + there.sentence);
      }
    }
  }
  if (result.verdict == Preflight::Verdict::kGo) result.sentences = std::move(warnings);
  return result;
}

}  // namespace lockstep::exec
