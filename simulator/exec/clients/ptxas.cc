// ptxas [OPTION...] FILE.ptx -o FILE: a stand-in for NVIDIA's assembler, for compilers such as
// Triton that run it as a program. It copies the PTX, and the simulated GPU loads that PTX in place
// of machine code. A zero ends the PTX, as the driver API requires.
//
// Only --version, -o and --output-file have an effect: the simulated GPU executes PTX as written.
// Exit status: 0, or 1 with a message on stderr if a file cannot be read or written, or is not PTX.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

int fail(const std::string& sentence) {
  std::fprintf(stderr, "ptxas (lockstep): %s\n", sentence.c_str());
  return 1;
}

// Whether the next argument is the option's value.
bool takes_a_word(std::string_view option) {
  for (const std::string_view one :
       {"-arch", "--gpu-name", "-O", "--opt-level", "-maxrregcount", "--maxrregcount", "-m",
        "--machine", "--def-load-cache", "-dlcm", "--def-store-cache", "-dscm"}) {
    if (option == one) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::string from, to;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--version" || word == "-V") {
      // NVIDIA's format: programs that run an assembler search for its release.
      std::printf(
          "ptxas: Lockstep's stand-in, which hands PTX through\n"
          "Cuda compilation tools, release 13.0, V13.0.0\n");
      return 0;
    }
    if ((word == "-o" || word == "--output-file") && i + 1 < argc) {
      to = argv[++i];
    } else if (word.starts_with("--output-file=")) {
      to = word.substr(std::string_view("--output-file=").size());
    } else if (takes_a_word(word)) {
      ++i;
    } else if (!word.starts_with('-')) {
      if (!from.empty()) return fail("one file of PTX is assembled at a time");
      from = word;
    }
  }
  if (from.empty()) return fail("no file of PTX was named");
  if (to.empty()) to = "elf.o";

  std::ifstream in(from, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) return fail(from + " cannot be read");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  if (text.find(".version") == text.npos) return fail(from + " is no PTX: it has no .version");
  text.push_back('\0');
  std::ofstream out(to, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  return out ? 0 : fail(to + " cannot be written");
}
