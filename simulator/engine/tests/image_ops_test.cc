// Texture and surface instructions: values read and written, and each check in both directions.
#include "simulator/engine/ops/memory/image_ops.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/memory/image.h"
#include "simulator/memory/planes.h"

namespace lockstep::engine {
namespace image_ops_test {

using check::Kind;
using memory::Image;
using memory::Texture;
using testing::Machine;
using testing::text;

// k(object, out): thread i has %r1 = i, %f1 = i + 0.5 and the handle %rd1; it stores %r10 to
// out[i]. The body starts on line kFirstLine + 1.
constexpr int kFirstLine = 3 + 13;
std::string kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 object, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<30>;
  .reg .f32 %f<30>;
  .reg .b64 %rd<9>;
  .reg .b16 %h<9>;
  ld.param.u64 %rd1, [object];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  add.rn.f32 %f1, %f1, 0f3F000000;
  mov.u32 %r10, 77;
)" + body +
         R"(
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd2, %rd2, %rd3;
  st.global.u32 [%rd2], %r10;
  ret;
}
)";
}

class Pictures : public ::testing::Test {
 protected:
  Pictures() { gpu_.config.images = &images_; }

  // An image of `width` x `height` elements; element (x, y) is 100 y + x.
  Image picture(std::uint32_t width, std::uint32_t height, bool written = true) {
    std::vector<std::uint32_t> values;
    for (std::uint32_t y = 0; y < height; ++y)
      for (std::uint32_t x = 0; x < width; ++x) values.push_back(100 * y + x);
    Image i;
    i.base = i.allocation =
        written ? gpu_.buffer(values, "picture") : gpu_.unwritten(values.size() * 4, "picture");
    i.format = {memory::ChannelKind::kUnsigned, 32, 1};
    i.width = width, i.height = height, i.dimensions = height > 1 ? 2 : 1;
    i.pitch = 4 * width, i.slice = i.pitch * height;
    i.for_surfaces = true;
    return i;
  }
  std::uint64_t texture(const Image& image) {
    Texture t;
    t.image = image;
    return images_.add(t);
  }
  Outcome run(std::uint64_t object, const std::string& body, std::uint32_t threads = 4) {
    gpu_.load(kernel(body));
    out_ = gpu_.unwritten(4 * threads, "out");
    return gpu_.launch("k", 1, threads, object, out_);
  }
  // The values that the threads stored; empty after a finding.
  std::vector<std::uint32_t> values(std::uint64_t object, const std::string& body,
                                    std::uint32_t threads = 4) {
    const Outcome o = run(object, body, threads);
    EXPECT_FALSE(o.failed()) << text(o);
    return o.failed() ? std::vector<std::uint32_t>{} : gpu_.fetch<std::uint32_t>(out_, threads);
  }
  void expect(const Outcome& o, Kind kind, int line, const char* part) {
    ASSERT_TRUE(o.failed()) << "nothing reported";
    EXPECT_EQ(o.findings[0].kind, kind) << text(o);
    EXPECT_EQ(o.findings[0].access.site.ptx_line, kFirstLine + line) << text(o);
    EXPECT_NE(text(o).find(part), std::string::npos) << text(o);
  }
  using Values = std::vector<std::uint32_t>;

  Machine gpu_;
  memory::Images images_;
  memory::Address out_ = 0;
};

JUDGES(Pictures, TexturesAreReadByFloatsAndByIntegers, "tex.2d.v4.u32.f32 d, [a, c]:s",
       "tex.2d.v4.u32.f32 d|q, [a, c]:s", "tex.level.2d.v4.u32.f32 d, [a, c]:s, e:s",
       "tex.grad.2d.v4.u32.f32 d, [a, c]:s, grad:f32, grad:f32");
TEST_F(Pictures, TexturesAreReadByFloatsAndByIntegers) {
  const std::uint64_t t = texture(picture(8, 3));
  EXPECT_EQ(values(t, "tex.2d.v4.u32.f32 {%r10, %r11, _, %r13}, [%rd1, {%f1, 0f3FC00000}];"),
            (Values{100, 101, 102, 103}));
  EXPECT_EQ(values(t, "tex.2d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%rd1, {%r1, 2}];"),
            (Values{200, 201, 202, 203}));
  EXPECT_EQ(
      values(t, "tex.level.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1, %f1}], 0f00000000;",
             3),
      (Values{0, 101, 202}));
  EXPECT_EQ(values(t,
                   "tex.grad.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1, %f1}], {%f1, "
                   "%f1}, {%f1, %f1};",
                   3),
            (Values{0, 101, 202}));
  EXPECT_EQ(values(t,
                   "tex.2d.v4.u32.f32 {%r11, %r12, %r13, %r14}|%p1, [%rd1, {%f1, %f1}];\nselp.u32 "
                   "%r10, 5, 6, %p1;",
                   3),
            (Values{5, 5, 5}))
      << "resident";
}

TEST_F(Pictures, ThereIsOneLevel) {
  const std::uint64_t t = texture(picture(8, 3));
  EXPECT_EQ(
      values(t, "tex.level.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1, %f1}], 0f40A00000;",
             3),
      (Values{0, 101, 202}));
  EXPECT_EQ(values(t, "tex.level.2d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%rd1, {5, 1}], %r1;", 3),
            (Values{105, 0, 0}));
}

JUDGES(Pictures, FormattedStoresConvert, "sust.p.1d.v4.b32.trap", "sured.p.min.1d.b32.trap",
       "sured.b.max.1d.u32.zero");
TEST_F(Pictures, FormattedStoresConvert) {
  Image i = picture(8, 1);
  i.format = {memory::ChannelKind::kUnsigned, 8, 4};
  values(images_.add(i),
         "mov.u32 %r4, 300;\nmov.u32 %r5, 7;\nsust.p.1d.v4.b32.trap [%rd1, {2}], {%r4, %r5, %r4, "
         "%r1};",
         1);
  EXPECT_EQ(gpu_.fetch<std::uint32_t>(i.base, 4), (Values{0, 1, 0x00ff07ff, 3}))
      << "x counts elements";
  i.format = {memory::ChannelKind::kSigned, 32, 1};
  const std::uint64_t s = images_.add(i);
  values(s, "sured.p.min.1d.b32.trap [%rd1, {1}], -5;", 1);
  values(s, "sured.b.max.1d.u32.zero [%rd1, {20}], 9;\nsured.b.max.1d.u32.zero [%rd1, {40}], 9;",
         1);
  EXPECT_EQ(gpu_.fetch<std::uint32_t>(i.base, 8),
            (Values{0, 0xfffffffb, 0x00ff07ff, 3, 4, 9, 6, 7}));
}

JUDGES(Pictures, GatherTakesOneComponentOfFour, "tld4.r.2d.v4.u32.f32 d, [a, c]:s");
TEST_F(Pictures, GatherTakesOneComponentOfFour) {
  const std::uint64_t t = texture(picture(8, 3));
  for (const auto& [element, value] : {std::pair{0, 101u}, {1, 102u}, {2, 2u}, {3, 1u}}) {
    std::string four[4] = {"%r11", "%r12", "%r13", "%r14"};
    four[element] = "%r10";
    EXPECT_EQ(values(t,
                     "tld4.r.2d.v4.u32.f32 {" + four[0] + ", " + four[1] + ", " + four[2] + ", " +
                         four[3] + "}, [%rd1, {0f40000000, 0f3F800000}];",
                     1),
              (Values{value}));
  }
}

TEST_F(Pictures, LayersAreChosenByTheFirstCoordinate) {
  Image i = picture(8, 3);
  i.dimensions = 1, i.layered = true;
  i.height = 1, i.depth = 3, i.slice = i.pitch;
  const std::uint64_t t = texture(i), s = images_.add(i);
  EXPECT_EQ(values(t, "tex.a1d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%r1, 0f40000000}];", 3),
            (Values{2, 102, 202}));
  EXPECT_EQ(values(s, "suld.b.a1d.b32.trap {%r10}, [%rd1, {%r1, 12}];", 3), (Values{3, 103, 203}));
}

JUDGES(Pictures, FacesOfACubeAreChosenByADirection, "tex.cube.v4.u32.f32 d, [a, c]:s",
       "tex.level.cube.v4.u32.f32 d, [a, c]:s, e:s",
       "tex.grad.cube.v4.u32.f32 d, [a, c]:s, grad:f32, grad:f32", "tex.cube.v4.f16.f32",
       "tex.cube.v2.f16x2.f32", "tex.cube.v4.u32.f32 d|q, [a, c]:s",
       "tex.level.cube.v4.u32.f32 d|q, [a, c]:s, e:s",
       "tex.grad.cube.v4.u32.f32 d|q, [a, c]:s, grad:f32, grad:f32",
       "tld4.r.cube.v4.u32.f32 d, [a, c]:s", "tld4.r.cube.v4.u32.f32 d|q, [a, c]:s");
TEST_F(Pictures, FacesOfACubeAreChosenByADirection) {
  // Faces of 2 x 2 elements, stacked; element (x, y) of face f is 100 (2 f + y) + x.
  Image i = picture(2, 24);
  i.height = 2, i.depth = 12, i.slice = 2 * i.pitch;
  i.cube = true;
  Image cube = i;
  cube.depth = 6;
  i.layered = true;
  const std::uint64_t one = texture(cube), several = texture(i);
  // Thread n samples in the direction (n - 1, 0.1, 0.5): -x, +z, +x.
  const std::string at =
      "add.rn.f32 %f1, %f1, 0fBFC00000; mov.f32 %f2, 0f3DCCCCCD; mov.f32 %f3, 0f3F000000; ";
  const std::string direction = "{%f1, %f2, %f3, %f3}";
  const Values faces{201, 801, 0};
  for (const std::string& form :
       {std::string("tex.cube.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, ") + direction + "];",
        "tex.level.cube.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, " + direction +
            "], 0f00000000;",
        "tex.grad.cube.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, " + direction + "], " +
            direction + ", " + direction + ";"}) {
    EXPECT_EQ(values(one, at + form, 3), faces) << form;
    // The form with a predicate that returns whether the elements are resident.
    std::string resident = form + "\nselp.u32 %r10, %r10, 6, %p1;";
    resident.insert(resident.find("}, [") + 1, "|%p1");
    EXPECT_EQ(values(one, at + resident, 3), faces) << resident;
  }
  EXPECT_EQ(
      values(several,
             at + "tex.acube.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {1, %f1, %f2, %f3}];", 3),
      (Values{1401, 2001, 1200}));
  // Counterclockwise from the lower left: the third element is the upper right.
  EXPECT_EQ(
      values(one,
             at + "tld4.r.cube.v4.u32.f32 {%r11, %r12, %r10, %r13}, [%rd1, " + direction + "];", 3),
      (Values{201, 801, 1}));
  EXPECT_EQ(values(one,
                   at + "tld4.r.cube.v4.u32.f32 {%r11, %r12, %r10, %r13}|%p1, [%rd1, " + direction +
                       "];\nselp.u32 %r10, %r10, 6, %p1;",
                   3),
            (Values{201, 801, 1}));
  // Elements are floats equal to their index; the expected halves are 5, 17 and 0.
  std::vector<float> numbers(48);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  Image floats = cube;
  floats.format.kind = memory::ChannelKind::kFloat;
  floats.base = floats.allocation = gpu_.buffer(numbers, "numbers");
  const std::uint64_t f = texture(floats);
  EXPECT_EQ(values(f,
                   at + "tex.cube.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%rd1, " + direction +
                       "];\ncvt.u32.u16 %r10, %h1;",
                   3),
            (Values{0x4500, 0x4c40, 0}));
  EXPECT_EQ(values(f, at + "tex.cube.v2.f16x2.f32 {%r10, %r11}, [%rd1, " + direction + "];", 3),
            (Values{0x4500, 0x4c40, 0}));
  expect(
      run(one, at + "tex.acube.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {1, %f1, %f2, %f3}];"),
      Kind::kInvalidInstruction, 1,
      "the texture object is a cube map, the instruction wants one that is a layered cube map");
  expect(run(one, "tex.a2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {1, %f1, %f1, %f1}];"),
         Kind::kInvalidInstruction, 1, "a cube map, the instruction wants one that is 2-D layered");
}

TEST_F(Pictures, APlaneOfFloatsIsFiltered) {
  std::vector<float> values;
  for (int layer = 0; layer < 2; ++layer)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) values.push_back(static_cast<float>(100 * layer + 10 * y + x));
  Texture t;
  t.linear = true;
  Image& i = t.image;
  i.width = 4, i.height = 3, i.depth = 2, i.dimensions = 2, i.layered = true;
  i.pitch = 16, i.slice = 48;
  i.base = i.allocation = gpu_.buffer(values, "plane");
  ASSERT_TRUE(memory::is_filtered_plane(t));
  gpu_.config.count = true;
  // Half-way between four elements of the second layer; the last thread is beyond the last column.
  const std::string place = "mov.u32 %r4, 1;\nadd.rn.f32 %f2, %f1, 0f3F000000;\n";
  const Outcome o = run(images_.add(t), place + R"(
  tex.a2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%r4, %f2, 0f3F800000, 0f3F800000}];
  add.rn.f32 %f3, %f3, %f4;
  add.rn.f32 %f5, %f5, %f6;
  add.rn.f32 %f3, %f3, %f5;
  mov.b32 %r10, %f3;)");
  ASSERT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(gpu_.fetch<float>(out_, 4), (std::vector<float>{105.5f, 106.5f, 107.5f, 108}));
  EXPECT_EQ(o.counters.global_load_requests, 0u) << "the texture unit's are not counted";
  EXPECT_EQ(this->values(images_.add(t), place + R"(
  tex.a2d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%rd1, {%r4, %f2, 0f3F800000, 0f3F800000}];
  cvt.u32.u16 %r10, %h1;)",
                         1),
            (Values{0x5698}));
  i.base = i.allocation = gpu_.unwritten(96, "plane");
  EXPECT_TRUE(run(images_.add(t), place + R"(
  tex.a2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%r4, %f2, 0f3F800000, 0f3F800000}];
  setp.lt.f32 %p1, %f3, %f1;
  @%p1 mov.u32 %r10, 5;)")
                  .failed());
}

JUDGES(Pictures, HalvesAndPairsOfHalvesAreRounded, "tex.2d.v4.f16.f32", "tex.2d.v2.f16x2.f32");
TEST_F(Pictures, HalvesAndPairsOfHalvesAreRounded) {
  Image i = picture(8, 3);
  i.format.kind = memory::ChannelKind::kFloat;
  const float v = 1.0f + 1.0f / 1024 + 1.0f / 2048;  // a tie, rounded up to even
  i.base = i.allocation = gpu_.buffer(std::vector<float>(24, v), "halves");
  const std::uint64_t t = texture(i);
  EXPECT_EQ(
      values(t,
             "tex.2d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%rd1, {%f1, %f1}];\ncvt.u32.u16 %r10, %h1;",
             1),
      (Values{0x3c02}));
  EXPECT_EQ(
      values(t,
             "tex.2d.v2.f16x2.f32 {%r10, %r11}, [%rd1, {%f1, %f1}];\nand.b32 %r10, %r10, 0xffff;",
             1),
      (Values{0x3c02}));
}

JUDGES(Pictures, QueriesTellTheShape, "txq.width.b32", "txq.level.height.b32", "suq.width.b32");
TEST_F(Pictures, QueriesTellTheShape) {
  Image i = picture(8, 3);
  const std::uint64_t t = texture(i), s = images_.add(i);
  EXPECT_EQ(values(t, "txq.width.b32 %r10, [%rd1];", 1), (Values{8}));
  EXPECT_EQ(values(t, "txq.level.height.b32 %r10, [%rd1], 0;", 1), (Values{3}));
  EXPECT_EQ(values(s, "suq.width.b32 %r10, [%rd1];", 1), (Values{8}));
  EXPECT_EQ(values(t, "txq.channel_data_type.b32 %r10, [%rd1];", 1), (Values{0x10dc}));
}

JUDGES(Pictures, SurfacesAreReadAndWrittenByBytes, "suld.b.2d.b32.trap", "sust.b.2d.b32.trap",
       "sured.b.add.2d.u32.trap");
TEST_F(Pictures, SurfacesAreReadAndWrittenByBytes) {
  const Image i = picture(8, 3);
  const std::uint64_t s = images_.add(i);
  const std::string x = "shl.b32 %r2, %r1, 2;\n";
  EXPECT_EQ(values(s, x + "suld.b.2d.b32.trap {%r10}, [%rd1, {%r2, 2}];"),
            (Values{200, 201, 202, 203}));
  values(s, x + "sust.b.2d.b32.trap [%rd1, {%r2, 1}], {%r1};");
  EXPECT_EQ(gpu_.fetch<std::uint32_t>(i.base, 16),
            (Values{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 104, 105, 106, 107}));
  values(s, "sured.b.add.2d.u32.trap [%rd1, {0, 2}], 5;", 32);
  EXPECT_EQ(gpu_.fetch<std::uint32_t>(i.base, 17)[16], 200u + 32 * 5);
}

JUDGES(Pictures, FourElementsOfASurfaceAtOnce, "suld.b.2d.v4.b32.trap", "sust.b.2d.v4.b32.trap");
TEST_F(Pictures, FourElementsOfASurfaceAtOnce) {
  const Image i = picture(8, 3);
  const std::uint64_t s = images_.add(i);
  EXPECT_EQ(values(s, "suld.b.2d.v4.b32.trap {%r11, %r12, %r13, %r10}, [%rd1, {16, %r1}];", 3),
            (Values{7, 107, 207}));
  values(s, "add.u32 %r4, %r1, 50;\nsust.b.2d.v4.b32.trap [%rd1, {0, %r1}], {%r4, %r1, 9, %r10};",
         2);
  EXPECT_EQ(gpu_.fetch<std::uint32_t>(i.base, 16),
            (Values{50, 0, 9, 77, 4, 5, 6, 7, 51, 1, 9, 77, 104, 105, 106, 107}));
}

JUDGES(Pictures, BitsOfASurfaceAreReduced, "sured.b.and.2d.b32.trap", "sured.b.or.2d.b32.trap");
TEST_F(Pictures, BitsOfASurfaceAreReduced) {
  const Image i = picture(4, 2);
  const std::uint64_t s = images_.add(i);
  values(s,
         "shl.b32 %r2, 1, %r1;\nsured.b.or.2d.b32.trap [%rd1, {0, 0}], %r2;\nnot.b32 %r3, "
         "%r2;\nsured.b.and.2d.b32.trap [%rd1, {4, 1}], %r3;",
         6);
  EXPECT_EQ(gpu_.fetch<std::uint32_t>(i.base, 8),
            (Values{0x3f, 1, 2, 3, 100, 101 & ~0x3fu, 102, 103}));
}

// The whole image is resident: the predicate is always true.
JUDGES(Pictures, EveryElementIsResident, "tex.level.2d.v4.u32.f32 d|q, [a, c]:s, e:s",
       "tex.grad.2d.v4.u32.f32 d|q, [a, c]:s, grad:f32, grad:f32",
       "tld4.r.2d.v4.u32.f32 d|q, [a, c]:s");
TEST_F(Pictures, EveryElementIsResident) {
  const std::uint64_t t = texture(picture(8, 3));
  const std::string sum = "\nselp.u32 %r15, 5000, 6000, %p1;\nadd.u32 %r10, %r10, %r15;";
  EXPECT_EQ(
      values(
          t,
          "tex.level.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}|%p1, [%rd1, {%f1, %f1}], 0f00000000;" +
              sum,
          3),
      (Values{5000, 5101, 5202}));
  EXPECT_EQ(values(t,
                   "tex.grad.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}|%p1, [%rd1, {%f1, %f1}], {%f1, "
                   "%f1}, {%f1, %f1};" +
                       sum,
                   3),
            (Values{5000, 5101, 5202}));
  EXPECT_EQ(
      values(
          t,
          "tld4.r.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}|%p1, [%rd1, {0f40000000, 0f3F800000}];" +
              sum,
          1),
      (Values{5101}));
}

TEST_F(Pictures, WhatIsOutsideOfASurfaceIsClampedZeroOrAFinding) {
  const Image i = picture(4, 2);
  const std::uint64_t s = images_.add(i);
  const std::string x = "shl.b32 %r2, %r1, 2;\nadd.u32 %r2, %r2, 8;\n";
  EXPECT_EQ(values(s, x + "suld.b.2d.b32.zero {%r10}, [%rd1, {%r2, 1}];"),
            (Values{102, 103, 0, 0}));
  EXPECT_EQ(values(s, x + "suld.b.2d.b32.clamp {%r10}, [%rd1, {%r2, 7}];"),
            (Values{102, 103, 103, 103}));
  EXPECT_EQ(values(s, "suld.b.2d.b32.clamp {%r10}, [%rd1, {-4, -1}];", 1), (Values{0}));
  expect(run(s, x + "suld.b.2d.b32.trap {%r10}, [%rd1, {%r2, 1}];"), Kind::kOutOfBounds, 3,
         "byte 16 of row 1 is outside of the surface of 4 x 2 elements of 4 bytes");
  expect(run(s, "sust.b.2d.b32.trap [%rd1, {0, -1}], {%r1};", 1), Kind::kOutOfBounds, 1,
         "byte 0 of row -1");
  values(s, x + "sust.b.2d.b32.zero [%rd1, {%r2, 1}], {%r1};");
  EXPECT_EQ(gpu_.fetch<std::uint32_t>(i.base, 8), (Values{0, 1, 2, 3, 100, 101, 0, 1}))
      << "nothing is written outside";
}

TEST_F(Pictures, MisalignedSurfaceAccessesAreFindings) {
  const std::uint64_t s = images_.add(picture(4, 2));
  expect(run(s, "suld.b.2d.b32.zero {%r10}, [%rd1, {2, 1}];", 1), Kind::kMisaligned, 1,
         "byte 2 of row 1 is no multiple of the 4 bytes of the access");
}

TEST_F(Pictures, ElementsThatNobodyWroteAreFindingsAtTheirUse) {
  const Image blank = picture(4, 2, false);
  const std::uint64_t t = texture(blank), s = images_.add(blank);
  const std::string use = "\nsetp.eq.u32 %p1, %r10, 0;\n@%p1 bra $skip;\n$skip:";
  expect(run(t, "tex.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1, %f1}];" + use, 1),
         Kind::kUninitialised, 3, "was never written");
  expect(run(s, "suld.b.2d.b32.trap {%r10}, [%rd1, {0, 0}];" + use, 1), Kind::kUninitialised, 3,
         "was never written");
  values(
      s,
      "sust.b.2d.b32.trap [%rd1, {0, 0}], {%r1};\nsuld.b.2d.b32.trap {%r10}, [%rd1, {0, 0}];" + use,
      1);
  values(s, "suld.b.2d.b32.zero {%r10}, [%rd1, {0, 5}];" + use, 1);
}

TEST_F(Pictures, CoordinatesThatNobodyWroteAreFindings) {
  const std::uint64_t t = texture(picture(8, 3));
  const std::string unwritten = "add.s64 %rd4, %rd2, 16;\nld.global.f32 %f2, [%rd2];\n";
  expect(run(t, unwritten + "tex.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f2, %f1}];", 1),
         Kind::kUninitialised, 3, "the address");
}

TEST_F(Pictures, ThreadsThatWriteAndReadOnePlaceRace) {
  const std::uint64_t s = images_.add(picture(64, 2));
  const std::string write = "shl.b32 %r2, %r1, 2;\nsust.b.2d.b32.trap [%rd1, {%r2, 0}], {%r1};\n",
                    read = "xor.b32 %r3, %r2, 128;\nsuld.b.2d.b32.trap {%r10}, [%rd1, {%r3, 0}];";
  expect(run(s, write + read, 64), Kind::kRace, 2, "Nothing orders the two threads");
  EXPECT_EQ(values(s, write + "bar.sync 0;\n" + read, 64)[1], 33u);
  expect(run(s, "sust.b.2d.b32.trap [%rd1, {0, 0}], {%r1};", 64), Kind::kRace, 1, "");
  expect(run(s, "sust.p.2d.b32.trap [%rd1, {0, 0}], {%r1};", 64), Kind::kRace, 1, "");
}

// Blocks that race read only values that were stored; the simulator itself has no data race.
TEST_F(Pictures, BlocksThatRaceTearNoElement) {
  gpu_.config.host_threads = 4;
  gpu_.config.checks = check::kAllChecks & ~check::kRaces;
  for (const auto& [bits, channels] : {std::pair{8, 1}, {16, 1}, {32, 1}, {32, 2}, {32, 4}}) {
    SCOPED_TRACE(std::to_string(channels) + " channels of " + std::to_string(bits) + " bits");
    Image i = picture(32, 8);
    i.format = {memory::ChannelKind::kUnsigned, bits, channels};
    i.height = 2, i.pitch = 32 * 16, i.slice = 2 * i.pitch;
    const std::uint64_t t = texture(i), s = images_.add(i);
    const std::string second = channels == 1 ? "%r4" : "%r5";
    gpu_.load(kernel("mov.b64 %rd5, " + std::to_string(s) + R"(;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r1, %r1, 31;
  mov.u32 %r3, 0;
$again:
  sust.p.2d.v4.b32.trap [%rd5, {%r1, 1}], {%r2, %r2, %r2, %r2};
  tex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, 1}];
  setp.ge.u32 %p1, %r4, 64;
  setp.ne.or.u32 %p1, %r4, )" +
                     second + R"(, %p1;
  @%p1 trap;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 10;
  @%p1 bra $again;)"));
    const Outcome o = gpu_.launch("k", 64, 64, t, gpu_.unwritten(4 * 32, "out"));
    EXPECT_FALSE(o.failed()) << text(o);
  }
}

TEST_F(Pictures, ATextureOfWhatTheKernelWritesRaces) {
  const Image i = picture(64, 2);
  const std::uint64_t t = texture(i);
  const std::string write =
      "mov.b64 %rd5, " + std::to_string(i.base) +
      ";\nmul.wide.u32 %rd6, %r1, 4;\nadd.s64 %rd5, %rd5, %rd6;\nst.global.u32 [%rd5], %r1;\n";
  const std::string read =
      "xor.b32 %r3, %r1, 32;\ntex.2d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%rd1, {%r3, 0}];";
  expect(run(t, write + read, 64), Kind::kRace, 4, "(tex.2d.v4.u32.s32)");
}

TEST_F(Pictures, ObjectsThatAreNoMoreAreFindings) {
  const Image i = picture(8, 3);
  const std::uint64_t t = texture(i), s = images_.add(i), other = texture(i);
  const std::string fetch = "tex.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1, %f1}];",
                    load = "suld.b.2d.b32.trap {%r10}, [%rd1, {0, 0}];";
  expect(run(999, fetch), Kind::kInvalidInstruction, 1,
         "there is no texture object of the handle 999");
  expect(run(t, load), Kind::kInvalidInstruction, 1, "there is no surface object");
  images_.remove_texture(other);
  expect(run(other, fetch), Kind::kUseAfterFree, 1, "the texture object has been destroyed");
  images_.forget(i.allocation);
  expect(run(t, fetch), Kind::kUseAfterFree, 1, "the array of the texture object has been freed");
  expect(run(s, load), Kind::kUseAfterFree, 1, "the array of the surface object has been freed");
}

TEST_F(Pictures, ObjectsOfAnotherShapeAreFindings) {
  Image i = picture(8, 3);
  const std::uint64_t t = texture(i);
  expect(run(t, "tex.1d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1}];"),
         Kind::kInvalidInstruction, 1, "is 2-D, the instruction wants one that is 1-D");
  i.for_surfaces = false;
  expect(run(images_.add(i), "suld.b.2d.b32.trap {%r10}, [%rd1, {0, 0}];"),
         Kind::kInvalidInstruction, 1, "without cudaArraySurfaceLoadStore");
}

TEST_F(Pictures, LinearMemoryIsCheckedAsMemoryIs) {
  Image i = picture(8, 1);
  Texture t;
  t.image = i;
  t.linear_memory = true;
  const std::uint64_t handle = images_.add(t);
  EXPECT_EQ(values(handle, "tex.1d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%rd1, {%r1}];"),
            (Values{0, 1, 2, 3}));
  expect(run(handle, "tex.1d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd1, {%f1}];"),
         Kind::kInvalidInstruction, 1, "fetched by integers only");
  expect(run(texture(i), "tex.1d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%rd1, {%r1}];"),
         Kind::kInvalidInstruction, 1, "fetched by floats only");
  gpu_.memory.release(i.base);
  expect(run(handle, "tex.1d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%rd1, {%r1}];"),
         Kind::kUseAfterFree, 1, "picture");
}

}  // namespace image_ops_test
}  // namespace lockstep::engine
