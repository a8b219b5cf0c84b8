// Every load path of memory_access.h must be the instruction in its name. All paths load the same
// values, so only the code shows a path that has become another.
//   memory_access_ptx_test memory_access.ptx
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

std::string ptx_path;

// The load instructions from global and constant memory, without types, in each instance of
// gather_kernel, by load path.
std::map<std::string, std::set<std::string>> loads_by_path() {
  std::ifstream file(ptx_path);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string ptx = text.str();
  std::map<std::string, std::set<std::string>> loads;
  // ..._13gather_kernelILNS0_8LoadPathE2E...
  const std::regex entry(R"(\.entry \w*gather_kernelILN\w*?LoadPathE(\d)E)"),
      load(R"(\b(ld\.(?:global|const)[.\w]*))");
  for (std::sregex_iterator e(ptx.begin(), ptx.end(), entry), end; e != end; ++e) {
    const auto begin = static_cast<std::size_t>(e->position());
    const std::string body = ptx.substr(begin, ptx.find("\n}\n", begin) - begin);
    for (std::sregex_iterator l(body.begin(), body.end(), load); l != end; ++l) {
      // Without .v4, .u32 and the like.
      loads[(*e)[1]].insert(
          std::regex_replace((*l)[1].str(), std::regex(R"(\.(v\d|[usfb]\d+)\b)"), ""));
    }
  }
  return loads;
}

TEST(MemoryAccessPtx, EveryLoadPathIsItsOwnInstruction) {
  using Loads = std::map<std::string, std::set<std::string>>;
  EXPECT_EQ(loads_by_path(), (Loads{{"0", {"ld.global"}},
                                    {"1", {"ld.global.ca"}},
                                    {"2", {"ld.global.cg"}},
                                    {"3", {"ld.global.nc"}},
                                    {"4", {"ld.const"}}}));
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) return 2;
  ptx_path = argv[1];
  return RUN_ALL_TESTS();
}
