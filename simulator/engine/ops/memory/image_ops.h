// tex, tld4, suld, sust, sured and the queries: operations on texture and surface objects
// (memory/image.h). program/images.h describes how they use an Op. Source: PTX ISA 9.0, sections
// 9.7.10 and 9.7.11.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/program/images.h"

namespace lockstep::memory {
class Images;
struct Image;
}  // namespace lockstep::memory

namespace lockstep::engine {

using program::ImageForm;
using program::kImageSlots;

void run_texture(Warp& w, const Op& op, LaneMask mask);
void run_surface_load(Warp& w, const Op& op, LaneMask mask);
void run_surface_store(Warp& w, const Op& op, LaneMask mask);
void run_surface_store_formatted(Warp& w, const Op& op, LaneMask mask);
void run_surface_reduce(Warp& w, const Op& op, LaneMask mask);
void run_image_query(Warp& w, const Op& op, LaneMask mask);

// The coordinates of a lane's access, from its registers.
struct Place {
  std::uint32_t layer = 0;
  std::uint32_t at[3] = {0, 0, 0};  // integers, or the bits of floats
};
Place image_place(const Warp& w, const Op& op, int lane);

// Reports that a lane cannot use its object: the handle names no `what` ("texture"), its array has
// been freed, or its shape is not the instruction's (`image` is the object's). Always returns
// false.
bool report_no_object(Warp& w, int lane, const char* what, std::uint64_t handle);
bool check_image(Warp& w, const Op& op, int lane, const char* what, const memory::Image& image);

}  // namespace lockstep::engine
