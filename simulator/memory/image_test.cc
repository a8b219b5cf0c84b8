#include "simulator/memory/image.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "simulator/memory/planes.h"

namespace lockstep::memory {
namespace image_test {

// A texture of floats in host memory, whose element (x, y, z) is 100 z + 10 y + x.
struct Picture {
  Picture(std::uint32_t w, std::uint32_t h, std::uint32_t d, int dimensions) {
    Image& i = texture.image;
    i.width = w, i.height = h, i.depth = d, i.dimensions = dimensions;
    i.pitch = 4 * w, i.slice = i.pitch * h;
    for (std::uint32_t z = 0; z < d; ++z)
      for (std::uint32_t y = 0; y < h; ++y)
        for (std::uint32_t x = 0; x < w; ++x)
          elements.push_back(static_cast<float>(100 * z + 10 * y + x));
    i.base = reinterpret_cast<Address>(elements.data());
  }
  float filtered(const Sample& s) const {
    Texel taps[8];
    for (int i = 0; i < s.count; ++i) {
      const auto& tap = s.taps[static_cast<std::size_t>(i)];
      if (!tap.outside)
        taps[i] = read_element(reinterpret_cast<const std::byte*>(tap.address),
                               texture.image.format, texture.normalized_read);
    }
    return std::bit_cast<float>(filter(texture, s, taps)[0]);
  }
  float at(float x, float y = 0, float z = 0, std::uint32_t layer = 0) const {
    const float c[3] = {x, y, z};
    return filtered(sample(texture, c, layer));
  }
  float fetched(std::int32_t x, std::int32_t y = 0) const {
    const std::int32_t c[3] = {x, y, 0};
    return filtered(fetch(texture, c, 0));
  }
  Texture texture;
  std::vector<float> elements;
};

// The direction to a point on a face, s and t in [-1, 1]: the inverse of the table in the CUDA C++
// Programming Guide ("Cubemap Textures").
std::array<float, 3> direction(int face, float s, float t) {
  switch (face) {
    case 0: return {1, -t, -s};
    case 1: return {-1, -t, s};
    case 2: return {s, 1, t};
    case 3: return {s, -1, -t};
    case 4: return {s, -t, 1};
    default: return {-s, -t, -1};
  }
}

TEST(CubeMap, EveryElementOfEveryFaceIsMetByADirection) {
  constexpr int kSize = 4;
  for (const bool layered : {false, true}) {
    Picture p(kSize, kSize, layered ? 18 : 6, 2);
    p.texture.image.cube = true;
    p.texture.image.layered = layered;
    for (int layer = 0; layer < (layered ? 3 : 1); ++layer) {
      for (int face = 0; face < 6; ++face) {
        for (int y = 0; y < kSize; ++y) {
          for (int x = 0; x < kSize; ++x) {
            const auto d = direction(face, (2 * static_cast<float>(x) + 1) / kSize - 1,
                                     (2 * static_cast<float>(y) + 1) / kSize - 1);
            const auto expected = static_cast<float>(100 * (6 * layer + face) + 10 * y + x);
            // The length of the direction must not matter.
            for (const float length : {0.25f, 1.0f, 100.0f})
              EXPECT_EQ(p.at(length * d[0], length * d[1], length * d[2],
                             static_cast<std::uint32_t>(layer)),
                        expected)
                  << "face " << face;
          }
        }
      }
    }
    EXPECT_EQ(p.at(1, 0, 0, 99), layered ? 1222 : 22) << "layers are clamped";
  }
}

TEST(CubeMap, IsFilteredWithinAFace) {
  Picture p(4, 4, 6, 2);
  p.texture.image.cube = true;
  p.texture.linear = true;
  const auto d = direction(3, 0, -0.25f);  // between elements 1 and 2 of row 1
  EXPECT_EQ(p.at(d[0], d[1], d[2]), 311.5f);
  const auto corner = direction(5, -1, -1);
  EXPECT_EQ(p.at(corner[0], corner[1], corner[2] * 1.001f), 500);
}

TEST(Nearest, TakesTheElementThatTheCoordinateLiesIn) {
  const Picture p(4, 3, 1, 2);
  EXPECT_EQ(p.at(0, 0), 0);
  EXPECT_EQ(p.at(0.99f, 0), 0);
  EXPECT_EQ(p.at(1, 2.5f), 21);
  EXPECT_EQ(p.at(3.5f, 1), 13);
}

TEST(AddressMode, SaysWhatIsOutside) {
  Picture p(4, 1, 1, 1);
  p.texture.border[0] = -5;
  EXPECT_EQ(p.at(-3), 0);
  EXPECT_EQ(p.at(100), 3);
  p.texture.address.fill(AddressMode::kBorder);
  EXPECT_EQ(p.at(-0.1f), -5);
  EXPECT_EQ(p.at(4), -5);
  EXPECT_EQ(p.at(3.9f), 3);
  p.texture.address.fill(AddressMode::kWrap);
  EXPECT_EQ(p.at(5), 3) << "wrapping needs normalised coordinates";
  p.texture.normalized_coordinates = true;
  EXPECT_EQ(p.at(1.25f), 1);
  EXPECT_EQ(p.at(-0.25f), 3);
  p.texture.address.fill(AddressMode::kMirror);
  EXPECT_EQ(p.at(1.0f), 3);
  EXPECT_EQ(p.at(1.25f), 2);
  EXPECT_EQ(p.at(-0.1f), 0);
  EXPECT_EQ(p.at(2.3f), 1);
}

TEST(Linear, WeighsNeighboursByEightBits) {
  Picture p(4, 3, 2, 3);
  p.texture.linear = true;
  EXPECT_EQ(p.at(0.5f, 0.5f, 0.5f), 0);
  EXPECT_EQ(p.at(1, 0.5f, 0.5f), 0.5f);
  EXPECT_EQ(p.at(1.75f, 0.5f, 0.5f), 1.25f);
  EXPECT_EQ(p.at(2, 2, 1), 1.5f + 15 + 50);
  EXPECT_EQ(p.at(0, 0.5f, 0.5f), 0) << "clamped on the left";
  EXPECT_EQ(p.at(4, 0.5f, 0.5f), 3);
  EXPECT_EQ(p.at(0.5f + 1.0f / 1024, 0.5f, 0.5f), 0) << "less than half a step of 1/256";
  EXPECT_EQ(p.at(0.5f + 1.0f / 256, 0.5f, 0.5f), 1.0f / 256);
}

TEST(Linear, OfAPlaneIsThatOfAnyImage) {
  constexpr float kValues[] = {1.5f, -2.25f, 0.0f, -0.0f, 1e-40f, 3e38f, INFINITY, NAN};
  constexpr float kPlaces[] = {0,    0.5f,  0.7f,  1,    1.25f,    2.7f,   3.99f,  4,
                               5.3f, -0.6f, -7.2f, 1e9f, INFINITY, -1e30f, 1e-41f, NAN};
  std::uint32_t state = 1;
  const auto next = [&](std::uint32_t n) {
    return (state = state * 1664525u + 1013904223u) >> 16 & (n - 1);
  };
  int fetches = 0;
  for (int round = 0; round < 4000; ++round) {
    Picture p(4, 2, 2, 2);
    Texture& t = p.texture;
    t.linear = true;
    t.image.layered = next(2) != 0;
    t.normalized_coordinates = next(2) != 0;
    constexpr AddressMode kModes[] = {AddressMode::kClamp, AddressMode::kWrap, AddressMode::kMirror,
                                      AddressMode::kBorder};
    t.address = {kModes[next(4)], kModes[next(4)], AddressMode::kClamp};
    // Of alike size, so that sums cancel; or any at all.
    for (float& e : p.elements) {
      e = next(4) == 0 ? kValues[next(8)] : next(2) == 0 ? e / 7 : e / -7;
      if (round % 4 == 3) e = std::bit_cast<float>(next(0x10000) << 16 | next(0x10000));
    }
    const bool border =
        t.address[0] == AddressMode::kBorder || t.address[1] == AddressMode::kBorder;
    ASSERT_EQ(is_filtered_plane(t), !border);
    if (border) continue;
    const float scale = t.normalized_coordinates ? 0.25f : 1.0f;
    float x[kPlaneLanes], y[kPlaneLanes], elements[4][kPlaneLanes];
    std::uint32_t layers[kPlaneLanes], results[kPlaneLanes];
    for (int i = 0; i < kPlaneLanes; ++i) {
      x[i] = kPlaces[next(16)] * scale, y[i] = kPlaces[next(16)] * scale;
      if (next(4) == 0) x[i] += static_cast<float>(next(256)) / 256 * scale;
      if (next(4) == 0) y[i] += static_cast<float>(next(256)) / 1024 * scale;
      layers[i] = next(4);
      for (auto& of_lanes : elements) of_lanes[i] = kValues[next(8)];  // not read by all
    }
    const std::uint32_t lanes = next(2) == 0 ? ~0u : next(0x10000) * 0x10001u + 7;
    const PlaneSamples s = sample_plane(t, x, y, layers, lanes);
    for (int n = 0; n < 4; ++n) {
      EXPECT_EQ(s.reading[n] & ~lanes, 0u);
      for (int i = 0; i < kPlaneLanes; ++i)
        if (s.reading[n] >> i & 1)
          std::memcpy(&elements[n][i], reinterpret_cast<const void*>(s.address[n][i]), 4);
    }
    filter_plane(t, s, elements, results);
    for (int i = 0; i < kPlaneLanes; ++i) {
      if ((lanes >> i & 1) == 0) continue;
      EXPECT_EQ(results[i], std::bit_cast<std::uint32_t>(p.at(x[i], y[i], 0, layers[i])))
          << x[i] << ' ' << y[i] << ' ' << layers[i];
      const float at[3] = {x[i], y[i], 0};
      const Sample one = sample(t, at, layers[i]);
      for (int n = 0; n < 4; ++n) {
        const auto tap = static_cast<std::size_t>(n);
        ASSERT_EQ(s.reading[n] >> i & 1, n < one.count) << x[i] << ' ' << y[i];
        ASSERT_EQ(s.weight[n][i], n < one.count ? one.taps[tap].weight : 0);
        if (n < one.count) {
          ASSERT_EQ(s.address[n][i], one.taps[tap].address);
        }
      }
      ++fetches;
    }
  }
  EXPECT_GT(fetches, 1000);
}

TEST(Linear, OfOneDimensionOrHalvesIsNoPlane) {
  Picture p(4, 2, 1, 2);
  p.texture.linear = true;
  EXPECT_TRUE(is_filtered_plane(p.texture));
  const auto without = [&](auto change) {
    Texture t = p.texture;
    change(t);
    return !is_filtered_plane(t);
  };
  EXPECT_TRUE(without([](Texture& t) { t.linear = false; }));
  EXPECT_TRUE(without([](Texture& t) { t.linear_memory = true; }));
  EXPECT_TRUE(without([](Texture& t) { t.image.cube = true; }));
  EXPECT_TRUE(without([](Texture& t) { t.image.dimensions = 3; }));
  EXPECT_TRUE(without([](Texture& t) { t.image.format.bits = 16; }));
  EXPECT_TRUE(without([](Texture& t) { t.image.format.channels = 2; }));
  EXPECT_TRUE(without([](Texture& t) { t.image.format.kind = ChannelKind::kSigned; }));
}

TEST(Linear, MixesTheBorderIn) {
  Picture p(2, 1, 1, 1);
  p.texture.linear = true;
  p.texture.address[0] = AddressMode::kBorder;
  p.texture.border[0] = 8;
  EXPECT_EQ(p.at(2), 0.5f * 1 + 0.5f * 8);
  p.texture.address[1] = AddressMode::kBorder;
  EXPECT_EQ(p.at(2), 0.5f * 4.5f + 0.5f * 8) << "one dimension is filtered as two";
}

TEST(Fetch, IsByIntegersAndZeroOutside) {
  const Picture p(4, 3, 1, 2);
  EXPECT_EQ(p.fetched(3, 2), 23);
  EXPECT_EQ(p.fetched(-1), 0);
  EXPECT_EQ(p.fetched(4), 0);
}

TEST(Layers, AreClamped) {
  Picture p(2, 2, 3, 2);
  p.texture.image.layered = true;
  EXPECT_EQ(p.at(1, 1, 0, 2), 211);
  EXPECT_EQ(p.at(1, 1, 0, 7), 211);
}

TEST(NotANumber, IsTheFirstElement) {
  Picture p(4, 1, 1, 1);
  EXPECT_EQ(p.at(std::nanf("")), 0);
  EXPECT_EQ(p.at(std::numeric_limits<float>::infinity()), 3);
  p.texture.linear = true;
  EXPECT_EQ(p.at(-std::numeric_limits<float>::infinity()), 0);
}

TEST(Elements, AreExtendedOrNormalised) {
  const std::uint8_t bytes[4] = {0, 255, 128, 127};
  const auto* at = reinterpret_cast<const std::byte*>(bytes);
  EXPECT_EQ(read_element(at, {ChannelKind::kUnsigned, 8, 4}, false), (Texel{0, 255, 128, 127}));
  EXPECT_EQ(read_element(at, {ChannelKind::kSigned, 8, 4}, false),
            (Texel{0, 0xffffffffu, 0xffffff80u, 127}));
  const Texel u = read_element(at, {ChannelKind::kUnsigned, 8, 4}, true),
              s = read_element(at, {ChannelKind::kSigned, 8, 4}, true);
  EXPECT_EQ(std::bit_cast<float>(u[1]), 1.0f);
  EXPECT_EQ(std::bit_cast<float>(u[2]), static_cast<float>(128 / 255.0));
  EXPECT_EQ(std::bit_cast<float>(s[2]), -1.0f) << "-128 is no less than -127";
  EXPECT_EQ(std::bit_cast<float>(s[3]), 1.0f);
  const std::uint16_t half = 0xc100;  // -2.5
  EXPECT_EQ(std::bit_cast<float>(read_element(reinterpret_cast<const std::byte*>(&half),
                                              {ChannelKind::kFloat, 16, 1}, false)[0]),
            -2.5f);
  EXPECT_EQ(read_element(at, {ChannelKind::kUnsigned, 16, 2}, false), (Texel{0xff00, 0x7f80, 0, 0}))
      << "channels that are not there are 0";
}

TEST(Images, AreFoundByHandlesThatAreNeverUsedAgain) {
  Images images;
  const std::uint64_t a = images.add(Texture{}), b = images.add(Image{});
  EXPECT_NE(images.texture(a), nullptr);
  EXPECT_EQ(images.surface(a), nullptr);
  EXPECT_NE(images.surface(b), nullptr);
  EXPECT_TRUE(images.remove_texture(a));
  EXPECT_FALSE(images.remove_texture(a));
  EXPECT_EQ(images.texture(a), nullptr);
  EXPECT_NE(images.add(Texture{}), a);
}

}  // namespace image_test
}  // namespace lockstep::memory
