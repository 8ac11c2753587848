// AofManifest: the files of an append-only file, as listed in `<directory>/<file name>.manifest`.
//
//   manifest = line …
//   line     = "file" name "seq" number "type" ("b" | "h" | "i")      names are quoted if necessary
//            | "#" comment
//
//   base         b   the data set at the last rewrite; at most one
//   incremental  i   the commands written since then, in this order; the last one is open for writing
//   history      h   files that a rewrite made obsolete and that must be removed
//
// AofManifest is a value type. To change it, change a copy, write the copy's text to disk, and then replace the
// original by the copy.
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

// The reason why a manifest was refused.
struct AofManifestError {
  std::string why;
  // The line with the error, counted from 1, and its text without surrounding space. Empty if Redis names none.
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

  // Fails in the same cases as Redis, with Redis' texts. Cost: O(n).
  static Result<AofManifest, AofManifestError> Parse(Bytes text);
  std::string Text() const;

  const std::optional<Part>& base() const { return base_; }
  const std::vector<Part>& incrementals() const { return incrementals_; }
  const std::vector<Part>& history() const { return history_; }
  // Returns true if there is nothing to load.
  bool Empty() const { return !base_ && incrementals_.empty(); }

  // Returns true for a name that a new file must not have, such as the name of a file left by a crash. Names in the
  // history are excluded without it.
  using Taken = std::function<bool(const std::string& name)>;
  // Adds a new base, `<file name>.<seq>.base.rdb` or `.aof`; the old one becomes history. Returns its name, which is
  // valid until the next change.
  const std::string& AddBase(Bytes file_name, AofBaseFormat format, const Taken& taken = nullptr);
  // Adds a new last incremental, `<file name>.<seq>.incr.aof`. Returns its name, which is valid until the next change.
  const std::string& AddIncremental(Bytes file_name, const Taken& taken = nullptr);
  // Returns true if a part has this name.
  bool Names(Bytes name) const;
  // Moves all incrementals except the last `kept` to the history.
  void RetireIncrementals(size_t kept);
  void DropHistory() { history_.clear(); }
  // Makes the single file of Redis before version 7 the base, under its own name.
  void TakeOldFile(Bytes file_name);

  static std::string Name(Bytes file_name) { return std::string(file_name) + ".manifest"; }
  // Returns the name under which a new manifest is written before it is renamed.
  static std::string TemporaryName(Bytes file_name) { return "temp-" + Name(file_name); }
  // Returns the name of the incremental file while the first base is created. It is renamed when the base is complete.
  static std::string TemporaryIncrementalName(Bytes file_name) { return "temp-" + std::string(file_name) + ".incr"; }

  bool operator==(const AofManifest&) const = default;

 private:
  friend class AofManifestParser;

  // Returns a part named `<file name>.<number><suffix>`, with an unused number greater than `seq`.
  Part NextPart(Bytes file_name, int64_t seq, Bytes suffix, const Taken& taken) const;

  std::optional<Part> base_;
  std::vector<Part> incrementals_;
  std::vector<Part> history_;    // latest first
  int64_t base_seq_ = 0;         // last one assigned
  int64_t incremental_seq_ = 0;  // last one assigned
};

}  // namespace respite
