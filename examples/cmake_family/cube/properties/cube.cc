#include "properties/cube.h"

#include "harness/property/values.h"
#include "properties/contract_laws.h"
#include "reference/cube.h"

namespace lockstep::properties {
namespace {

struct CubeCase {
  std::int64_t n = 0;
  int block = 32;
  int max_blocks = kUnlimited;
  int x_offset = 0, y_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values values;

  // In the order in which a counterexample shrinks: shape, layout, values.
  static void fields_of(CubeCase& c, FieldVisitor& field, std::int64_t most) {
    using enum ValueKind;
    field("n", c.n, sizes(0, most));
    field("block", c.block, one_of<int>({32, 64, 128, 256, 512, 1024, 96, 1, 2, 3, 31, 33, 1000}));
    field("max_blocks", c.max_blocks,
          choice<int>({{"unlimited", kUnlimited}, {"1", 1}, {"2", 2}, {"5", 5}}));
    field("x_offset", c.x_offset, range(0, 31));
    field("y_offset", c.y_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values,
          values_of({kSmallIntegers, kIndex, kUniform, kMixed, kWide, kSpecial}));
  }
  static void fields(CubeCase& c, FieldVisitor& field) { fields_of(c, field, 1 << 17); }
  void normalise() {
    if (n <= 1 << 13) return;
    max_blocks =
        kUnlimited;  // one block and ten thousand elements show nothing that a thousand do not
    block = std::max(block, 32);
  }

  std::vector<float> x() const { return make_values<float>(values, n); }
  DeviceArray<float> launch(const Cube& f) const;
};

// Of moderate size.
struct SmallCase : CubeCase {
  static void fields(SmallCase& c, FieldVisitor& field) { fields_of(c, field, 1 << 11); }
};

// What the launcher is called with, and what its header says of it.
Call<Cube> call_of(const CubeCase& c) {
  Call<Cube> call("cube");
  auto& [x, n, y, shape] =
      call.arguments(nullptr, c.n, nullptr, kernels::CubeShape{c.block, c.max_blocks});
  call.integer("n", {0, std::numeric_limits<std::int64_t>::max() / 4}, n);
  call.integer("block", {1, 1024}, shape.block);
  call.integer("max_blocks", {1, kUnlimited}, shape.max_blocks);
  call.grid({.threads = c.block, .most_blocks = c.max_blocks});
  call.input("x", x, {.count = c.n}, {c.x_offset, c.poison}, [&c] { return c.x(); });
  call.output<float>("y", y, {.count = c.n}, {c.y_offset, c.poison});
  call.apart("x", "y");
  return call;
}

DeviceArray<float> CubeCase::launch(const Cube& f) const {
  return call_of(*this).run(f).take<float>("y");
}

void matches_its_reference(const Cube& f, const CubeCase& c) {
  REQUIRE_WITHIN_BOUND(c.launch(f), reference::cube(c.x()),
                       tiles_of_blocks(c.n, c.block, c.max_blocks));
}

}  // namespace

Laws<Cube> cube_laws() {
  return with_batteries<call_of, SmallCase>({
      no_work_law<call_of, CubeCase, &CubeCase::n>("LaunchesNothingForNoWork",
                                                   {.cases = 100, .cost = 4}),
      refusal_law<call_of, SmallCase>("RefusesBadArguments", {.cases = 300, .cost = 4}),
      law("MatchesItsReference", matches_its_reference, {.cases = 1500}),
      law("IsDeterministic", require_same_bits<SmallCase, Cube>, {.cases = 20, .cost = 50}),
  });
}

}  // namespace lockstep::properties
