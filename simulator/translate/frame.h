// The stack of translated code: what it keeps beside its registers.
#pragma once

namespace lockstep::translate {

// Of code for some lanes of a warp: which these are, where another split of the warp waits, and for
// each lane a word of ones if it is left out.
inline constexpr int kMask = 8, kLimit = 12, kLeftOut = 32;
// The processor's control of floating point as it was, and in runs that flush.
inline constexpr int kOldControl = 0, kNewControl = 4;
inline constexpr int kAnswers = 160, kAnswerBytes = 2048;  // lean.h
// All of it, and what keeps the stack aligned.
inline constexpr int kFrame = kAnswers + kAnswerBytes + 8;

}  // namespace lockstep::translate
