// Compares texture fetches recorded on an NVIDIA H100 (golden/textures/h100.txt) with our results,
// bit for bit.
//
// A line "set ..." describes a texture and the instruction. Each following line has four numbers,
// x, y, z and the layer, then a colon and the returned channels. All numbers are hexadecimal: the
// bits of floats, or integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "simulator/memory/image.h"

namespace lockstep::memory {
namespace texture_samples_test {

// The recorder filled its arrays with these values.
std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}
constexpr std::uint32_t kSpecial[16] = {
    0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x80000000, 0x00000001, 0x7f7fffff, 0xbf800000,
    0x00800000, 0x7fc12345, 0xff7fffff, 0x007fffff, 0x40000000, 0x80000001, 0x7f800001, 0x00000000};

struct Set {
  std::string name;
  int op = 0, shape[4] = {}, kind[3] = {}, fill = 0, hot = 0, linear = 0, norm = 0, nread = 0,
      srgb = 0, channels = 1;
  char mode[16] = {};
  float border[4] = {};
};

std::vector<std::byte> contents(const Set& s) {
  const int texels = s.shape[0] * std::max(s.shape[1], 1) * std::max(s.shape[2], 1),
            bits = s.kind[1], count = texels * s.kind[2];
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * static_cast<std::size_t>(bits) /
                               8);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t r = mix(static_cast<std::uint32_t>(i) + 77);
    std::uint32_t v = r;
    if (s.kind[0] == 2) {
      const float f = s.fill == 0   ? static_cast<float>(r >> 8) * 0x1p-24f
                      : s.fill == 1 ? static_cast<float>(i)
                      : i == s.hot  ? 1.0f
                                    : 0.0f;
      v = std::bit_cast<std::uint32_t>(f);
      if (s.fill == 3) v = (r & 0x807fffffu) | ((127 - 12 + (r >> 23) % 24) << 23);
      if (s.fill == 4) v = kSpecial[i % 16];
      if (bits == 16) v = s.fill == 5 ? static_cast<std::uint32_t>(i) & 0xffff : to_half(v);
    } else if (s.fill == 1) {
      v = static_cast<std::uint32_t>(i);
    } else if (s.fill == 2) {
      v = i == s.hot ? 0xffffffffu >> (s.kind[0] == 0 ? 33 - bits : 32 - bits) : 0;
    }
    std::memcpy(&bytes[static_cast<std::size_t>(i) * static_cast<std::size_t>(bits) / 8], &v,
                static_cast<std::size_t>(bits) / 8);
  }
  return bytes;
}

Texture texture_of(const Set& s, const std::vector<std::byte>& bytes) {
  Texture t;
  Image& i = t.image;
  i.base = reinterpret_cast<Address>(bytes.data());
  i.format = {s.kind[0] == 0   ? ChannelKind::kSigned
              : s.kind[0] == 1 ? ChannelKind::kUnsigned
                               : ChannelKind::kFloat,
              s.kind[1], s.kind[2]};
  i.width = static_cast<std::uint32_t>(s.shape[0]);
  i.height = static_cast<std::uint32_t>(std::max(s.shape[1], 1));
  i.depth = static_cast<std::uint32_t>(std::max(s.shape[2], 1));
  i.layered = s.shape[3] != 0;
  i.dimensions = !i.layered && s.shape[2] != 0 ? 3 : s.shape[1] != 0 ? 2 : 1;
  i.pitch = std::uint64_t{i.width} * static_cast<std::uint64_t>(i.format.bytes());
  i.slice = i.pitch * i.height;
  const std::string mode = s.mode;
  t.address.fill(mode == "wrap"     ? AddressMode::kWrap
                 : mode == "clamp"  ? AddressMode::kClamp
                 : mode == "mirror" ? AddressMode::kMirror
                                    : AddressMode::kBorder);
  t.linear = s.linear != 0;
  t.normalized_coordinates = s.norm != 0;
  t.normalized_read = s.nread != 0;
  std::copy_n(s.border, 4, t.border);
  return t;
}

Texel fetched(const Texture& t, int op, const std::uint32_t in[4]) {
  const bool gathers = op >= 30 && op < 40, integers = op >= 20 && op < 30;
  float at[3];
  std::int32_t whole[3];
  std::memcpy(at, in, sizeof at);
  std::memcpy(whole, in, sizeof whole);
  const Sample s = gathers    ? gather(t, at, in[3])
                   : integers ? fetch(t, whole, in[3])
                              : sample(t, at, in[3]);
  Texel elements[8];
  for (int i = 0; i < s.count; ++i) {
    const Sample::Tap& tap = s.taps[static_cast<std::size_t>(i)];
    if (!tap.outside)
      elements[i] = read_element(reinterpret_cast<const std::byte*>(tap.address), t.image.format,
                                 t.normalized_read);
  }
  // Operations 30 to 33, and 34 and 35, are tld4 of the components in turn. 36 is tld4 of layers.
  return gathers ? gathered(t, s, elements, op == 36 ? 0 : (op - 30) % 4) : filter(t, s, elements);
}

// The differences that docs/reference/textures.md allows: filters in three dimensions, which break
// ties of weights differently, and filters of signed bytes.
float tolerance(const Set& s) {
  if (s.linear == 0) return 0;
  const bool solid = s.shape[2] != 0 && s.shape[3] == 0, bytes = s.kind[0] == 0 && s.kind[1] == 8;
  return solid ? 2.0f / 256 : bytes ? 1.01f / 32767 : 0;
}

bool agrees(std::uint32_t ours, std::uint32_t theirs, float within) {
  return ours == theirs || (within > 0 && std::abs(std::bit_cast<float>(ours) -
                                                   std::bit_cast<float>(theirs)) <= within);
}

TEST(Silicon, FetchesWhatWeFetch) {
  std::ifstream file("golden/textures/h100.txt");
  ASSERT_TRUE(file) << "golden/textures/h100.txt is missing";
  Set set;
  std::vector<std::byte> bytes;
  Texture texture;
  int samples = 0, sets = 0, wrong = 0, channels = 0, exact = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#") || line.empty()) continue;
    if (line.starts_with("set ")) {
      char name[64];
      set = {};
      ASSERT_EQ(
          std::sscanf(line.c_str(),
                      "set %63s op=%d shape=%d,%d,%d,%d kind=%d,%d,%d fill=%d hot=%d mode=%15s "
                      "linear=%d norm=%d nread=%d srgb=%d border=%g,%g,%g,%g channels=%d",
                      name, &set.op, &set.shape[0], &set.shape[1], &set.shape[2], &set.shape[3],
                      &set.kind[0], &set.kind[1], &set.kind[2], &set.fill, &set.hot, set.mode,
                      &set.linear, &set.norm, &set.nread, &set.srgb, &set.border[0], &set.border[1],
                      &set.border[2], &set.border[3], &set.channels),
          21)
          << line;
      set.name = name;
      bytes = contents(set);
      texture = texture_of(set, bytes);
      ++sets;
      wrong = 0;
      continue;
    }
    std::uint32_t in[4], want[4] = {};
    const int got = std::sscanf(line.c_str(), "%x %x %x %x : %x %x %x %x", &in[0], &in[1], &in[2],
                                &in[3], &want[0], &want[1], &want[2], &want[3]);
    ASSERT_EQ(got, 4 + set.channels) << line;
    const Texel texel = fetched(texture, set.op, in);
    ++samples;
    for (int c = 0; c < set.channels && wrong < 5; ++c) {
      char text[16];
      std::snprintf(text, sizeof text, "%x", texel[static_cast<std::size_t>(c)]);
      const bool good = agrees(texel[static_cast<std::size_t>(c)], want[c], tolerance(set));
      exact += texel[static_cast<std::size_t>(c)] == want[c];
      channels += 1;
      EXPECT_TRUE(good) << set.name << " (op " << set.op << ", " << set.mode << "): " << line
                        << ", channel " << c << ": we have " << text;
      wrong += !good;
    }
  }
  EXPECT_GT(sets, 40);
  EXPECT_GT(samples, 4000);
  EXPECT_GT(exact, channels * 99 / 100) << exact << " of " << channels;
  RecordProperty("exact", std::to_string(exact) + " of " + std::to_string(channels));
}

}  // namespace texture_samples_test
}  // namespace lockstep::memory
