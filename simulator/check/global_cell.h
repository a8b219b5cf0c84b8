// The cell of a granule, four bytes of global memory: what the search for races stores of the
// accesses to it, as a value.
//
// A cell has a half for writes and one for reads. A half names one lane of a record
// (access_records.h), or two of unordered threads, and the bytes that they accessed. A half is
// empty if its record belongs to a launch that no longer counts.
//
// Both halves describe the same bytes. A cell whose bytes were accessed apart is split: each byte
// has a cell of its own. A cell whose halves cannot represent the accesses is a story (story.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lockstep::check {

// Which bytes of a granule an access touches. Accesses are aligned, so seven sets are enough.
class ByteSet {
 public:
  static constexpr ByteSet all() { return ByteSet(7); }
  static constexpr ByteSet none() { return ByteSet(0); }
  // `mask`: a bit a byte. none() if no aligned access touches these bytes.
  static constexpr ByteSet of_mask(std::uint32_t mask) {
    constexpr std::uint8_t kCodes[16] = {0, 1, 2, 5, 3, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 7};
    return ByteSet(kCodes[mask]);
  }
  constexpr std::uint32_t mask() const {
    constexpr std::uint8_t kMasks[8] = {0, 1, 2, 4, 8, 3, 12, 15};
    return kMasks[code_];
  }
  bool operator==(const ByteSet&) const = default;

 private:
  friend class CellHalf;
  constexpr explicit ByteSet(std::uint32_t code) : code_(code) {}
  std::uint32_t code_;
};

// Half of a cell: number 22 | bytes 3 | observed 1 | lane 5 | two 1.
class CellHalf {
 public:
  constexpr CellHalf() = default;
  constexpr CellHalf(std::uint32_t number, ByteSet bytes, std::uint32_t lane)
      : word_(number << kNumberShift | bytes.code_ << kBytesShift | lane << kLaneShift) {}
  static constexpr CellHalf of_word(std::uint32_t word) {
    CellHalf h;
    h.word_ = word;
    return h;
  }

  constexpr bool empty() const { return word_ == 0; }
  // The number of the record, and the lane of it that the half names.
  constexpr std::uint32_t number() const { return word_ >> kNumberShift; }
  constexpr std::uint32_t lane() const { return word_ >> kLaneShift & 31; }
  constexpr ByteSet bytes() const { return ByteSet(word_ >> kBytesShift & 7); }
  // Whether its record's number is at least `first`. An empty half has none.
  constexpr bool is_since(std::uint32_t first) const { return word_ >= first << kNumberShift; }
  // Whether it names a second, unordered thread. Then its record links to that one's.
  constexpr bool names_two() const { return (word_ & kTwo) != 0; }
  // Of strong writes: threads that are not stored may have observed them by strong reads.
  constexpr bool may_be_observed() const { return (word_ & kObserved) != 0; }

  constexpr CellHalf naming_one() const { return of_word(word_ & ~kTwo); }
  constexpr CellHalf naming_two() const { return of_word(word_ | kTwo); }
  constexpr CellHalf observed() const { return of_word(word_ | kObserved); }
  constexpr CellHalf with_number(std::uint32_t number) const {
    return of_word((word_ & ((1u << kNumberShift) - 1)) | number << kNumberShift);
  }
  // The half of the cell of a single byte that a split cell has.
  constexpr CellHalf of_byte(int byte) const {
    return bytes().mask() >> byte & 1 ? of_word(word_ | ByteSet::all().code_ << kBytesShift)
                                      : CellHalf();
  }
  bool operator==(const CellHalf&) const = default;

 private:
  friend class GlobalCell;
  static constexpr std::uint32_t kTwo = 1, kObserved = 1u << 6;
  static constexpr int kNumberShift = 10, kBytesShift = 7, kLaneShift = 1;
  std::uint32_t word_ = 0;
};

class GlobalCell {
 public:
  constexpr GlobalCell() = default;
  constexpr GlobalCell(CellHalf write, CellHalf read)
      : bits_(std::uint64_t{write.word_} << 32 | read.word_) {}
  // Number `i` of a launch's split cells and stories. `first`: a number that no record has, of the
  // launch to which the cell belongs.
  static constexpr GlobalCell split(std::uint32_t first, std::uint32_t i) {
    return {CellHalf(first, ByteSet::none(), kSplitLane), CellHalf::of_word(i)};
  }
  static constexpr GlobalCell story(std::uint32_t first, std::uint32_t i) {
    return {CellHalf(first, ByteSet::none(), kStoryLane), CellHalf::of_word(i)};
  }

  constexpr CellHalf write() const {
    return CellHalf::of_word(static_cast<std::uint32_t>(bits_ >> 32));
  }
  constexpr CellHalf read() const { return CellHalf::of_word(static_cast<std::uint32_t>(bits_)); }
  // Whether it is a split cell or a story, of whatever launch; index(): the number of it.
  constexpr bool is_apart() const { return !write().empty() && write().bytes() == ByteSet::none(); }
  constexpr bool is_split() const { return is_apart() && write().lane() == kSplitLane; }
  constexpr bool is_story() const { return is_apart() && write().lane() == kStoryLane; }
  constexpr std::uint32_t index() const { return static_cast<std::uint32_t>(bits_); }
  // The cell without what launches before the number `first` have left.
  constexpr GlobalCell since(std::uint32_t first) const {
    const bool wr = write().is_since(first);
    if (is_apart()) return wr ? *this : GlobalCell();
    return {wr ? write() : CellHalf(), read().is_since(first) ? read() : CellHalf()};
  }

  // How the cells of lanes side by side differ: each names the next lane, in the halves that are
  // not empty.
  class LaneStep {
   public:
    constexpr LaneStep(bool write, bool read)
        : halves_((write ? ~0ull << 32 : 0) | (read ? ~0ull >> 32 : 0)) {}

   private:
    friend class GlobalCell;
    std::uint64_t halves_;
  };
  constexpr GlobalCell moved(LaneStep step, std::uint32_t lanes) const {
    const std::uint64_t by = std::uint64_t{lanes} << CellHalf::kLaneShift;
    return of_bits(bits_ + ((by << 32 | by) & step.halves_));
  }
  // Whether a half of any of `count` cells counts from the number `first` on.
  static bool any_since(const GlobalCell* cells, std::uint32_t count, std::uint32_t first) {
    using Halves [[gnu::may_alias]] = std::uint32_t;
    const auto* const halves = reinterpret_cast<const Halves*>(cells);
    std::uint32_t any = 0;
    for (std::uint32_t i = 0; i < 2 * count; ++i)
      any |= static_cast<std::uint32_t>(halves[i] >= first << CellHalf::kNumberShift);
    return any != 0;
  }
  // Zero if they are equal. Of many pairs the results can be combined by `|`.
  constexpr std::uint64_t difference(GlobalCell other) const { return bits_ ^ other.bits_; }
  bool operator==(const GlobalCell&) const = default;

 private:
  static constexpr std::uint32_t kSplitLane = 0, kStoryLane = 1;
  static constexpr GlobalCell of_bits(std::uint64_t bits) {
    GlobalCell cell;
    cell.bits_ = bits;
    return cell;
  }
  std::uint64_t bits_ = 0;
};
static_assert(sizeof(GlobalCell) == 8);

// The states of a cell, by what its halves name.
enum class CellState : std::uint8_t {
  //                 write half               read half
  kUntouched,       // empty                    empty
  kRead,            // empty                    weak reads
  kPolled,          // empty                    strong reads of one thread
  kWritten,         // weak write               empty
  kWrittenRead,     // weak write               weak reads
  kWrittenUpdated,  // weak write               strong writes of a kind, after it
  kUpdated,         // strong writes of a kind  empty
  kUpdatedRead,     // strong writes of a kind  weak reads
  kStory,           // the mark of a story      its number
};
inline constexpr std::size_t kCellStates = 9;

// An access as a cell distinguishes it. A strong one that may hand on or take up a message is a
// kMessage.
enum class CellAccess : std::uint8_t { kRead, kWrite, kStrongRead, kStrongWrite, kMessage };
inline constexpr std::size_t kCellAccesses = 5;

// What must hold for the next state. Otherwise the cell becomes, or stays, a story.
enum class Question : std::uint8_t {
  kNone,
  // Do the thread and the scope of the earlier strong reads read again?
  kSameThread,
  // Is the access an atomic, and so are the strong writes, of the same scope and morally strong
  // with it, and are their results used, or unused, like its own?
  kSameKind,
  // The same, and does the weak write not belong to the chain that the access continues? It does
  // if one thread made it and the atomics, and the access is another's.
  kSameKindApart,
  // Does the weak write stand for everything that the story holds?
  kStandsForAll,
};

struct Transition {
  constexpr Transition(CellState next, Question question = Question::kNone)
      : next(next), question(question) {}
  CellState next;
  Question question;
};

// What an access makes of a cell, by the cell's state: of all bytes that the cell describes. A
// write is judged against both halves before, a read against the writes in them.
//
// Strong writes are of a kind if each is an atomic as kSameKind says. Where results are used, the
// last stands for all before it; where they are not, the half names two threads.
inline constexpr auto kTransitions = [] {
  using enum CellState;
  using enum Question;
  constexpr Transition polled(kPolled, kSameThread), updated(kUpdated, kSameKind),
      then_updated(kWrittenUpdated, kSameKindApart), alone(kWritten, kStandsForAll);
  return std::array<std::array<Transition, kCellAccesses>, kCellStates>{{
      // clang-format off
      //                     kRead         kWrite    kStrongRead  kStrongWrite     kMessage
      /* kUntouched      */ {kRead,        kWritten, kPolled,     kUpdated,        kStory},
      /* kRead           */ {kRead,        kWritten, kStory,      kStory,          kStory},
      /* kPolled         */ {kStory,       kWritten, polled,      kStory,          kStory},
      /* kWritten        */ {kWrittenRead, kWritten, kStory,      kWrittenUpdated, kStory},
      /* kWrittenRead    */ {kWrittenRead, kWritten, kStory,      kStory,          kStory},
      /* kWrittenUpdated */ {kStory,       kWritten, kStory,      then_updated,    kStory},
      /* kUpdated        */ {kUpdatedRead, kWritten, kStory,      updated,         kStory},
      /* kUpdatedRead    */ {kUpdatedRead, kWritten, kStory,      kStory,          kStory},
      /* kStory          */ {kStory,       alone,    kStory,      kStory,          kStory},
      // clang-format on
  }};
}();
constexpr Transition transition(CellState before, CellAccess access) {
  return kTransitions[static_cast<std::size_t>(before)][static_cast<std::size_t>(access)];
}

}  // namespace lockstep::check
