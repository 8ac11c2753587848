// AofManifest: the files that an append-only file consists of, as listed in `<directory>/<file name>.manifest`.
//
//   manifest = line …
//   line     = "file" name "seq" number "type" ("b" | "h" | "i")      names are quoted if necessary
//            | "#" comment
//
//   base         b   the data set when it was last rewritten; at most one
//   incremental  i   what was written since then, in this order; the last one is open for writing
//   history      h   files that a rewrite made obsolete and that are to be removed
//
// AofManifest is a value type: to change it, change a copy, write the copy's text to disk, then replace the original by
// the copy.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

enum class AofBaseFormat : uint8_t { kCommands, kRdb };

// Why a manifest was refused.
struct AofManifestError {
  std::string why;
  // The line with the error, counted from 1, and its text without surrounding space. Empty if Redis names no line.
  struct Line {
    size_t number;
    std::string text;
  };
  std::optional<Line> line;
};

class AofManifest {
 public:
  struct Part {
    std::string name;  // without a directory
    int64_t seq;

    bool operator==(const Part&) const = default;
  };

  // Fails where Redis fails, with Redis' texts. Cost: O(n).
  static Result<AofManifest, AofManifestError> Parse(Bytes text);
  std::string Text() const;

  const std::optional<Part>& base() const { return base_; }
  const std::vector<Part>& incrementals() const { return incrementals_; }
  const std::vector<Part>& history() const { return history_; }
  // True if there is nothing to load.
  bool Empty() const { return !base_ && incrementals_.empty(); }

  // Returns true for names that no new file may have, besides those of the history: for example files left by a crash.
  using Taken = std::function<bool(const std::string& name)>;
  // Adds a new base, `<file name>.<seq>.base.rdb` or `.aof`; the old one becomes history. The result is valid until the
  // next change.
  const std::string& AddBase(Bytes file_name, AofBaseFormat format, const Taken& taken = nullptr);
  // Adds a new last incremental, `<file name>.<seq>.incr.aof`. The result is valid until the next change.
  const std::string& AddIncremental(Bytes file_name, const Taken& taken = nullptr);
  // True if a part has this name.
  bool Names(Bytes name) const;
  // Moves all incrementals except the last `kept` to the history.
  void RetireIncrementals(size_t kept);
  void DropHistory() { history_.clear(); }
  // Makes the single file that Redis had before version 7 the base, under its own name.
  void TakeOldFile(Bytes file_name);

  static std::string Name(Bytes file_name) { return std::string(file_name) + ".manifest"; }
  // The name under which the next manifest is written before it is renamed.
  static std::string TemporaryName(Bytes file_name) { return "temp-" + Name(file_name); }
  // The incremental file while the first base is being created; it is renamed when the base is complete.
  static std::string TemporaryIncrementalName(Bytes file_name) { return "temp-" + std::string(file_name) + ".incr"; }

  bool operator==(const AofManifest&) const = default;

 private:
  friend class AofManifestParser;

  // `<file name>.<seq><suffix>` with an unused number greater than `seq`.
  Part NextPart(Bytes file_name, int64_t seq, Bytes suffix, const Taken& taken) const;

  std::optional<Part> base_;
  std::vector<Part> incrementals_;
  std::vector<Part> history_;    // the latest first
  int64_t base_seq_ = 0;         // the last one assigned
  int64_t incremental_seq_ = 0;  // the last one assigned
};

}  // namespace respite
