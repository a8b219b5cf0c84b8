// Short names for the types of simulator/program that every part of the engine uses.
//
// Plain data only: this header is compiled into every instruction-set variant of the handlers.
#pragma once

#include "simulator/program/operation.h"

namespace lockstep::engine {

using program::Action;
using program::BranchFields;
using program::ComputeFields;
using program::Handler;
using program::is_constant;
using program::kAllLanes;
using program::kNoSlot;
using program::kWarpSize;
using program::LaneMask;
using program::ListedFields;
using program::Op;
using program::OpKind;
using program::SideDataFields;
using program::Slot;

}  // namespace lockstep::engine
