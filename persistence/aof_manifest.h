// AofManifest: which files an append-only file consists of, as `<directory>/<file name>.manifest` says.
//
//   manifest = line …
//   line     = "file" name "seq" number "type" ("b" | "h" | "i")      names are quoted where they have to be
//            | "#" comment
//
//   base         b   the data set when it was last rewritten; at most one
//   incremental  i   what was written since, in this order; the last one is written to
//   history      h   what a rewrite has made superfluous and is to be removed
//
// A value: a change is made on a copy, the copy's text is put on the disk, and then the copy takes over.
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
  // The line that is to blame, from 1 on, and what it says without surrounding space. Nothing when Redis names none.
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

  // Fails on whatever Redis fails on, with Redis' texts. Cost: O(n).
  static Result<AofManifest, AofManifestError> Parse(Bytes text);
  std::string Text() const;

  const std::optional<Part>& base() const { return base_; }
  const std::vector<Part>& incrementals() const { return incrementals_; }
  const std::vector<Part>& history() const { return history_; }
  // Nothing to load.
  bool Empty() const { return !base_ && incrementals_.empty(); }

  // Names that no new file may have, besides those of the history: what a crash has left, say.
  using Taken = std::function<bool(const std::string& name)>;
  // A new base, `<file name>.<seq>.base.rdb` or `.aof`; the old one becomes history. The result dies with the next
  // change.
  const std::string& AddBase(Bytes file_name, AofBaseFormat format, const Taken& taken = nullptr);
  // A new last incremental, `<file name>.<seq>.incr.aof`. The result dies with the next change.
  const std::string& AddIncremental(Bytes file_name, const Taken& taken = nullptr);
  // Whether a part has this name.
  bool Names(Bytes name) const;
  // All incrementals but the last `kept` become history.
  void RetireIncrementals(size_t kept);
  void DropHistory() { history_.clear(); }
  // The single file that Redis had before version 7 becomes the base, under its own name.
  void TakeOldFile(Bytes file_name);

  static std::string Name(Bytes file_name) { return std::string(file_name) + ".manifest"; }
  // Where the next manifest is written before it takes the name of the old one.
  static std::string TemporaryName(Bytes file_name) { return "temp-" + Name(file_name); }
  // What is written to while the first base is being made; it becomes an incremental when the base is there.
  static std::string TemporaryIncrementalName(Bytes file_name) { return "temp-" + std::string(file_name) + ".incr"; }

  bool operator==(const AofManifest&) const = default;

 private:
  friend class AofManifestParser;

  // `<file name>.<seq><suffix>` with a number behind `seq` that nothing has.
  Part NextPart(Bytes file_name, int64_t seq, Bytes suffix, const Taken& taken) const;

  std::optional<Part> base_;
  std::vector<Part> incrementals_;
  std::vector<Part> history_;    // the latest first
  int64_t base_seq_ = 0;         // the last one given
  int64_t incremental_seq_ = 0;  // the last one given
};

}  // namespace respite
