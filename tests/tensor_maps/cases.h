// Calls of cuTensorMapEncode* and copies through tensor maps, each with silicon's result, as lines
// of text.
//
// A line consists of "name=1,2,3" words, one for each field, in any order. A recorded line ends
// with " : " and the result. Missing fields have the defaults of Case.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::tensor_maps {

// The operation of a case. The reductions are in the order of REDUCTIONS in run.cu.
enum class Kind : int {
  kEncode,     // the driver's check of the arguments only
  kLoad,       // global to shared memory
  kStore,      // shared to global memory
  kReduce,     // kStore with a reduction
  kMulticast,  // to two blocks of a cluster
  kReplace,    // a load through a map whose fields tensormap.replace all wrote (sm_90a)
};

struct Case {
  Kind kind = Kind::kEncode;
  // Arguments of cuTensorMapEncodeTiled, or of ...Im2col.
  bool im2col = false;
  int type = 0, interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  std::uint32_t rank = 0;
  std::uint64_t address = 0;  // of an encoding; else the tensor's offset in its buffer
  std::vector<std::uint64_t> sizes, strides;
  std::vector<std::uint32_t> box, steps;  // box: tiled; steps: elementStrides
  std::vector<std::int32_t> lower, upper;
  std::uint32_t channels = 0, pixels = 0;
  std::uint32_t map = 0;  // the map's offset from a multiple of 64
  // Null pointers: 1 the map, 2 sizes, 4 strides, 8 box or lower, 16 steps, 32 upper.
  std::uint32_t null = 0;
  // A copy.
  std::vector<std::int32_t> at;        // coordinates, innermost first
  std::vector<std::uint32_t> offsets;  // of im2col
  std::uint32_t to = 0;                // offset in shared memory from a multiple of 1024
  int reduction = 0;
  std::uint32_t mask = 0;  // of the blocks of a multicast
  std::uint64_t seed = 0;  // of the data; 0: each 4-byte word is its index

  std::string text() const;
};

// An unknown word ends the program.
Case parse_case(const std::string& line);

// Arguments of every kind, valid and invalid: about 2500.
std::vector<Case> encode_cases();
// `count` copies through random maps that the driver accepts.
std::vector<Case> copy_cases(int count, std::uint64_t seed);
// Maps with one unusual field, over data that encodes its own position.
std::vector<Case> revealing_cases();

// Each reduction on each type of element.
std::vector<Case> reduction_cases();

// Copies that a GPU refuses.
std::vector<Case> fault_cases();
// Encodings of large boxes.
std::vector<Case> size_cases();
// Encodings with a null pointer.
std::vector<Case> null_cases();

// Bytes of an element, 0 for the packed types.
std::uint32_t element_bytes(int type);
// The number of bytes from a tensor's first byte to its last.
std::uint64_t tensor_bytes(const Case& c);
// The bytes that a copy transfers, and the bytes of shared memory from its first row to the end of
// its last row. Rows shorter than the swizzle's span are one span apart.
std::uint32_t copied_bytes(const Case& c);
std::uint32_t covered_bytes(const Case& c);

}  // namespace lockstep::tensor_maps
