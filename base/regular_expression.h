// RegularExpression: extended regular expressions of POSIX on bytes, as ARGREP uses them.
//
//   .           any byte                        x*  x+  x?              repetitions
//   [a-z]       one of these, or a class        x{2}  x{2,}  x{2,5}     the same with bounds, at most 255
//   [^a]        none of these                   x|y                     x or y
//   (x)         a group                         ^  $                    the beginning and the end of the text
//
// In brackets: ranges, and the classes [:alpha:], [:digit:] and so on. Further escapes, as in the library that Redis
// uses:
//
//   \d \w \s    digits, letters with digits and _, white space; \D \W \S: all other bytes
//   \b \B       at the edge of a word, not there; \< \>: at its beginning, at its end
//   \n \t \r \f \a \e \x41 \x{41}               one byte
//   \Q…\E       the text between has no special meaning
//   (?i)  (?i:x)                                ignore case until the surrounding group ends, or in x
//   (?:x)                                       a group
//
// An expression matches if any part of the text matches. There are no references to groups, so a match never needs more
// steps than the size of the compiled expression for each byte.
#pragma once

#include <bitset>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/glob.h"
#include "base/result.h"

namespace respite {

class RegularExpression {  // a compiled extended regular expression
 public:
  static constexpr const char* kHasBackReference = "Back references are not supported";  // an error of Compile

  // Compiles an expression. Fails if the expression is malformed; the error is a text of TRE, the library that Redis
  // uses, or kHasBackReference (this pointer). An expression that needs more than kMaxInstructions, or has over 250
  // groups inside each other, is refused as "Out of memory". Cost: O(size of the compiled expression).
  static Result<RegularExpression, const char*> Compile(Bytes pattern,  // compiles an expression; fails with a text
                                                        CaseMode mode = CaseMode::kSensitive);

  // Returns true if any part of the text matches. Cost: at worst O(|text| * Size()) steps of about 10 ns each; one step
  // per byte for a typical expression. Subtracts the steps from `steps_left`. If there are too few, sets `steps_left`
  // to 0 and returns false, and the caller must ignore the result.
  bool Matches(Bytes text, uint64_t& steps_left);  // true: the text has a match; false also if no steps are left

  size_t Size() const { return program_.size(); }   // number of instructions of the compiled expression
  static constexpr size_t kMaxInstructions = 8192;  // maximum size of a compiled expression

 private:
  friend class RegularExpressionParser;
  friend class RegularExpressionCompiler;
  using Set = std::bitset<256>;
  enum class Operation : uint8_t {
    kByte,        // consumes the byte `operand`
    kSet,         // consumes a byte of sets_[operand]
    kSplit,       // continues at `next` and at `other`
    kMatch,       // the text matches
    kTextBegin,   // this and all below: continues at `next` if the position is as the name says
    kTextEnd,     //
    kWordBegin,   //
    kWordEnd,     //
    kWordEdge,    //
    kNoWordEdge,  //
  };
  struct Instruction {    // one step of the compiled expression
    Operation operation;  // what the instruction does
    uint16_t operand;     // for kByte: the byte; for kSet: the index in sets_
    uint32_t next;        // index of the instruction that follows
    uint32_t other;       // for kSplit: index of the alternative instruction
  };
  // The set of instructions that a match has reached at one position of the text (as in a Pike VM). Clear takes O(1).
  struct Threads {                    // a set of instructions (not threads of the system)
    std::vector<uint32_t> marks;      // marks[i] == generation: instruction i is in the set
    std::vector<uint32_t> consumers;  // the instructions of the set that consume a byte
    uint32_t generation = 0;          // marks with this value are in the set; Clear changes it, which empties the set

    void Clear();                     // empties the set
    bool Add(uint32_t instruction) {  // adds an instruction; false: it was in the set already
      return std::exchange(marks[instruction], generation) != generation;
    }
  };

  RegularExpression() = default;

  bool Search(Bytes text, uint64_t max_steps);  // true: some part of the text matches; false: also after `max_steps`
  void Prepare();  // fills first_bytes_ and can_be_empty_, and allocates memory for matching
  bool HoldsAt(Operation assertion, Bytes text, size_t at) const;  // true: the assertion holds before text[at]
  // Adds an instruction to `threads`, and all instructions that are reachable from it without consuming the byte
  // text[at]. Returns true if kMatch is one of them, so that the text matches.
  bool Follow(Threads& threads, uint32_t instruction, Bytes text, size_t at);  // adds instructions; true: text matches
  bool Consumes(const Instruction& instruction, char c) const;  // true: the instruction consumes this byte

  std::vector<Instruction> program_;  // the compiled expression
  std::vector<Set> sets_;
  uint32_t start_ = 0;         // index of the first instruction
  Set first_bytes_;            // the bytes with which a match can begin
  bool can_be_empty_ = false;  // true: a match need not consume a byte

  uint64_t steps_ = 0;  // how many instructions the current match has added to a set; its cost
  // The state of a match. It is stored here so that a match allocates nothing.
  Threads current_;                  // the instructions reached before the current byte
  Threads following_;                // the instructions reached after the current byte
  std::vector<uint32_t> to_follow_;  // work list of Follow: instructions that it has still to add
};

}  // namespace respite
