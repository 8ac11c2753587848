// LcsTable: finds the longest common subsequence of two strings (LCS). Computes a table of its lengths for all
// prefixes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

class LcsTable {  // finds the longest common subsequence of two strings, for LCS
 public:
  // A part of the longest common subsequence whose bytes are consecutive in each of the two strings. The offsets are
  // inclusive.
  struct Match {               // a run of equal bytes in both strings
    uint32_t a_first, a_last;  // offsets of the first and the last byte in string a
    uint32_t b_first, b_last;  // offsets of the first and the last byte in string b
    int64_t Length() const { return int64_t{a_last} - a_first + 1; }  // number of bytes of the run
  };
  struct Subsequence {  // a longest common subsequence
    std::string text;
    std::vector<Match> matches;  // the runs of the subsequence, the last one first
  };

  // As in Redis, LCS refuses longer strings.
  static constexpr size_t kMaxBytes = UINT32_MAX - 2;  // maximum size of each string

  // Returns the memory of the table in bytes. Requires: each string has at most kMaxBytes.
  static std::optional<size_t> TableBytes(Bytes a, Bytes b);  // memory of the table; nullopt: more than a size_t holds
  // Returns the table after computing all lengths, or nullopt if memory cannot be allocated. Each string must outlive
  // the table. Cost: O(|a| * |b|).
  static std::optional<LcsTable> Make(Bytes a, Bytes b);

  uint32_t Length() const { return At(a_.size(), b_.size()); }  // length of the longest common subsequence

  // If there are several longest common subsequences, returns the one that Redis returns.
  Subsequence Trace() const;  // computes the LCS from the table. Cost: O(|a| + |b|)

 private:
  LcsTable(Bytes a, Bytes b, std::unique_ptr<uint32_t[]> cells) : a_(a), b_(b), cells_(std::move(cells)) {}

  void Fill();  // computes the table
  // Returns the length of the longest common subsequence of the first `i` bytes of a and the first `j` of b.
  uint32_t At(size_t i, size_t j) const { return cells_[i * (b_.size() + 1) + j]; }

  Bytes a_;
  Bytes b_;
  std::unique_ptr<uint32_t[]> cells_;  // the table: a length for each pair of prefixes, row by row
};

}  // namespace respite
