// The drop-in library must export the names of NVIDIA's library, under the same version node, and
// otherwise only the extension.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace lockstep::runtime {
namespace {

// The defined dynamic functions of a 64-bit ELF library, by name, with their version nodes.
class Library {
 public:
  explicit Library(const std::string& path) {
    // As a whole: iterators of a file take a second here, unoptimised.
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    bytes_.resize(std::max<std::streamoff>(file.tellg(), 0));
    file.seekg(0).read(bytes_.data(), std::ssize(bytes_));
    EXPECT_GT(bytes_.size(), sizeof(Elf64_Ehdr)) << path;
    if (bytes_.size() > sizeof(Elf64_Ehdr)) read();
  }
  std::map<std::string, std::string> functions;
  std::set<std::string> needed;  // other libraries that it needs
  std::string soname;
  bool stays = false;  // stays loaded after dlclose

 private:
  template <class T>
  T at(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::string text(const Elf64_Shdr& table, std::uint64_t offset) const {
    return bytes_.data() + table.sh_offset + offset;
  }

  void read() {
    const auto header = at<Elf64_Ehdr>(0);
    std::vector<Elf64_Shdr> sections;
    for (int i = 0; i < header.e_shnum; ++i)
      sections.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    const Elf64_Shdr *symbols = nullptr, *versions = nullptr, *definitions = nullptr,
                     *dynamic = nullptr;
    for (const auto& s : sections) {
      if (s.sh_type == SHT_DYNSYM) symbols = &s;
      if (s.sh_type == SHT_GNU_versym) versions = &s;
      if (s.sh_type == SHT_GNU_verdef) definitions = &s;
      if (s.sh_type == SHT_DYNAMIC) dynamic = &s;
    }
    ASSERT_TRUE(symbols != nullptr && versions != nullptr && definitions != nullptr &&
                dynamic != nullptr);
    for (std::uint64_t i = 0; i < dynamic->sh_size / sizeof(Elf64_Dyn); ++i) {
      const auto entry = at<Elf64_Dyn>(dynamic->sh_offset + i * sizeof(Elf64_Dyn));
      if (entry.d_tag == DT_FLAGS_1) stays = (entry.d_un.d_val & DF_1_NODELETE) != 0;
      if (entry.d_tag == DT_SONAME) soname = text(sections[dynamic->sh_link], entry.d_un.d_val);
    }
    std::map<int, std::string> nodes;
    for (std::uint64_t offset = definitions->sh_offset;;) {
      const auto d = at<Elf64_Verdef>(offset);
      nodes[d.vd_ndx] =
          text(sections[definitions->sh_link], at<Elf64_Verdaux>(offset + d.vd_aux).vda_name);
      if (d.vd_next == 0) break;
      offset += d.vd_next;
    }
    for (std::uint64_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); ++i) {
      const auto s = at<Elf64_Sym>(symbols->sh_offset + i * sizeof(Elf64_Sym));
      if (s.st_shndx == SHN_UNDEF) needed.insert(text(sections[symbols->sh_link], s.st_name));
      // The version nodes are absolute symbols; a section may have a local one.
      if (s.st_shndx == SHN_UNDEF || s.st_shndx == SHN_ABS || ELF64_ST_BIND(s.st_info) == STB_LOCAL)
        continue;
      const int version = at<std::uint16_t>(versions->sh_offset + 2 * i) & 0x7fff;
      functions[text(sections[symbols->sh_link], s.st_name)] = nodes[version];
    }
  }

  std::vector<char> bytes_;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  EXPECT_NE(value, nullptr) << name;
  return value == nullptr ? "" : value;
}

// exports.txt: name, "simulated" or "unsupported".
std::map<std::string, std::string> listed() {
  std::map<std::string, std::string> result;
  std::ifstream file(variable("EXPORTS"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, what;
    words >> name >> what;
    if (!name.empty() && name[0] != '#') result[name] = what;
  }
  return result;
}

TEST(Exports, TheListSaysOneOfTwoThingsOfEach) {
  const auto list = listed();
  EXPECT_EQ(list.size(), 422u);
  for (const auto& [name, what] : list)
    EXPECT_TRUE(what == "simulated" || what == "unsupported") << name << " " << what;
}

TEST(Exports, TheDropInExportsTheListAndTheExtension) {
  const Library ours(variable("DROP_IN"));
  EXPECT_EQ(ours.soname, "libcudart.so.13");
  const auto list = listed();
  for (const auto& [name, what] : list) {
    const auto it = ours.functions.find(name);
    ASSERT_NE(it, ours.functions.end()) << name;
    EXPECT_EQ(it->second, "libcudart.so.13") << name;
  }
  const std::set<std::string> extension = {"lockstepExtensionVersion",
                                           "lockstepMarkUnwritten",
                                           "lockstepNameBuffer",
                                           "lockstepTakeFindings",
                                           "lockstepTakeErrors",
                                           "lockstepClearError",
                                           "lockstepResetCounters",
                                           "lockstepReadCounters",
                                           "lockstepSetSchedule",
                                           "lockstepSetChecks",
                                           "lockstepSetQuiet",
                                           "lockstepWatchOperations",
                                           "lockstepReadOperations",
                                           "lockstepUnsupportedCall",
                                           "lockstepDriverEntryPoint",
                                           "lockstepUnsupportedDriverCall",
                                           "lockstepBeginPart",
                                           "lockstepCopyRows",
                                           "lockstepLibraryCallFailed",
                                           "lockstepOpenRegion",
                                           "lockstepPutLibraryWork",
                                           "lockstepStandIn",
                                           "lockstepBeforeCalls",
                                           "lockstepUnderWay",
                                           "lockstepSampleBlocks",
                                           "lockstepSetError",
                                           "lockstepLiveObjects",
                                           "lockstepReadLimits",
                                           "lockstepSetLimitsAside",
                                           "lockstepSetProperty",
                                           "lockstepTranscribe",
                                           "lockstepTakeTranscript",
                                           "lockstepPlaceMemory",
                                           "lockstepPlaceNext",
                                           "lockstepSeal",
                                           "lockstepUnseal"};
  std::set<std::string> others;
  for (const auto& [name, node] : ours.functions) {
    if (list.count(name) != 0) continue;
    others.insert(name);
    EXPECT_EQ(node, "LOCKSTEP_1") << name;
  }
  EXPECT_EQ(others, extension) << "nothing of the inside may be seen";
}

// Destructors of the program's global objects and thread variables may call CUDA, so nothing of the
// library may be destroyed before them. To ensure that, none of its variables has a destructor:
// static ones are made by `new`, thread variables by per_thread.h.
TEST(Exports, TheDropInHasNoVariableThatIsDestroyed) {
  const Library ours(variable("DROP_IN"));
  EXPECT_EQ(ours.needed.count("malloc"), 1u);
  EXPECT_EQ(ours.needed.count("__cxa_atexit"), 0u);
  EXPECT_EQ(ours.needed.count("__cxa_thread_atexit"), 0u);
}

// Functions of the library run when the process exits.
TEST(Exports, TheDropInStaysWhenItIsClosed) { EXPECT_TRUE(Library(variable("DROP_IN")).stays); }

TEST(Exports, NvidiasLibraryExportsTheSame) {
  const Library theirs(variable("NVIDIAS"));
  EXPECT_EQ(theirs.soname, "libcudart.so.13");
  std::map<std::string, std::string> expected;
  for (const auto& [name, what] : listed()) expected[name] = "libcudart.so.13";
  EXPECT_EQ(theirs.functions, expected);
}

}  // namespace
}  // namespace lockstep::runtime
