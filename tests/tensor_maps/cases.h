// Calls of cuTensorMapEncode* and copies through tensor maps, each a line of text: what silicon is
// asked, and what it answered.
//
// A line is "name=1,2,3" words, one a field, in any order; a recorded one ends with " : " and the
// answer. Fields that a line leaves out are as in Case.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::tensor_maps {

// What a case asks. The reductions stand in the order of REDUCTIONS in run.cu.
enum class Kind : int {
  kEncode,     // only whether the driver takes the arguments
  kLoad,       // global to shared memory
  kStore,      // shared to global memory
  kReduce,     // the same with an operation
  kMulticast,  // to two blocks of a cluster
  kReplace,    // a load through a map whose fields tensormap.replace all wrote (sm_90a)
};

struct Case {
  Kind kind = Kind::kEncode;
  // Arguments of cuTensorMapEncodeTiled, or of ...Im2col.
  bool im2col = false;
  int type = 0, interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  std::uint32_t rank = 0;
  std::uint64_t address =
      0;  // of an encoding; else the distance of the tensor from the beginning of its buffer
  std::vector<std::uint64_t> sizes, strides;
  std::vector<std::uint32_t> box, steps;  // box: tiled; steps: elementStrides
  std::vector<std::int32_t> lower, upper;
  std::uint32_t channels = 0, pixels = 0;
  std::uint32_t map = 0;  // how far the map is from a multiple of 64
  // Pointers that are null: 1 the map, 2 sizes, 4 strides, 8 box or lower, 16 steps, 32 upper.
  std::uint32_t null = 0;
  // A copy.
  std::vector<std::int32_t> at;        // coordinates, innermost first
  std::vector<std::uint32_t> offsets;  // of im2col
  std::uint32_t to = 0;                // place in shared memory, from a multiple of 1024
  int reduction = 0;
  std::uint32_t mask = 0;  // of the blocks of a multicast
  std::uint64_t seed = 0;  // of the data; 0: each word of four bytes is its own number

  std::string text() const;
};

// A word without meaning ends the program.
Case parse_case(const std::string& line);

// Arguments of every kind, right and wrong: about 2500.
std::vector<Case> encode_cases();
// `count` copies of random maps that the driver takes.
std::vector<Case> copy_cases(int count, std::uint64_t seed);
// Maps in which one thing is out of the ordinary, over data that says where it came from.
std::vector<Case> revealing_cases();

// Each reduction on each type of element.
std::vector<Case> reduction_cases();

// Copies that a GPU refuses.
std::vector<Case> fault_cases();
// Encodings of large boxes.
std::vector<Case> size_cases();
// Encodings with a pointer that is null.
std::vector<Case> null_cases();

// Bytes of an element, 0 for the packed types.
std::uint32_t element_bytes(int type);
// From a tensor's first byte to its last.
std::uint64_t tensor_bytes(const Case& c);
// What a copy moves, and the bytes of shared memory from its first to the end of its last row: rows
// shorter than what is swizzled lie that far apart.
std::uint32_t copied_bytes(const Case& c);
std::uint32_t covered_bytes(const Case& c);

}  // namespace lockstep::tensor_maps
