// Operations on texture and surface objects (PTX ISA 9.7.10 and 9.7.11).
//
// src[0] is the object's handle, 64 bits. Program::slots[src[3] ..] lists the layer's register and
// those of three coordinates; kNoSlot for a missing one. ListedFields: the registers of the
// elements, even if there is only one. immediate: an ImageForm.
#pragma once

#include <bit>
#include <cstdint>

#include "simulator/isa/opcode.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

// The modifiers that the handlers use.
struct ImageForm {
  isa::Geometry geometry = isa::Geometry::kNone;
  isa::Type type = isa::Type::kNone;        // of an element in a register
  isa::Border border = isa::Border::kNone;  // surfaces
  std::uint8_t component = 0;               // tld4
  bool gathers = false;                     // tld4
  bool float_coordinates = false;           // textures
  bool formatted = false;                   // sust.p, sured.p
  std::uint8_t unused = 0;

  std::int64_t packed() const { return std::bit_cast<std::int64_t>(*this); }
  static ImageForm of(const Op& op) { return std::bit_cast<ImageForm>(op.immediate); }
};
static_assert(sizeof(ImageForm) == 8);

inline constexpr int kImageSlots = 4;  // layer, x, y, z

class ImageQueryFields : public Fields {
 public:
  explicit ImageQueryFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a == Action::kImageQuery; }
  bool of_surface() const { return what() != 0; }
  void set_of_surface(bool surface) { what() = surface; }
};

}  // namespace lockstep::program
