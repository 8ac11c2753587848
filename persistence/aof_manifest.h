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
// AofManifest is a value type. To change a manifest, change a copy, write the copy's text to disk, and then replace the
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

struct AofManifestError {  // why the manifest of an append-only file cannot be used
  std::string why;         // the reason, as Redis words it
  struct Line {            // the line of the manifest that has the error
    size_t number;         // number of the line, counted from 1
    std::string text;      // the line without surrounding space
  };
  std::optional<Line> line;  // nullopt if Redis' message names no line
};

class AofManifest {  // lists the files that make up an append-only file: base, incrementals, history
 public:
  struct Part {        // a file that the manifest lists
    std::string name;  // without a directory
    int64_t seq;       // the number after "seq", usually also in the name; greater numbers are newer

    bool operator==(const Part&) const = default;
  };

  // Fails in the same cases as Redis, with the messages of Redis. Cost: O(n).
  static Result<AofManifest, AofManifestError> Parse(Bytes text);  // parses the content of a manifest file
  std::string Text() const;                                        // the content of the manifest file

  const std::optional<Part>& base() const { return base_; }  // the data set at the last rewrite; nullopt: none
  const std::vector<Part>& incrementals() const { return incrementals_; }  // the files after the base, oldest first
  const std::vector<Part>& history() const { return history_; }            // obsolete files, not removed yet
  bool IsEmpty() const { return !base_ && incrementals_.empty(); }         // true: lists no file to load

  // A function that returns true for names that a new file must not have, such as the name of a file left by a crash.
  // The function need not know the files in history(), because AofManifest itself avoids their names.
  using NamePredicate = std::function<bool(const std::string& name)>;
  // Adds a new base, `<file name>.<seq>.base.rdb` or `.aof`; the old base becomes history. The returned reference is
  // valid until the manifest changes.
  const std::string& AddBase(Bytes file_name, AofBaseFormat format,  // adds a new base file; returns the file's name
                             const NamePredicate& is_taken = nullptr);
  // Adds an incremental file after all others, and names it `<file name>.<seq>.incr.aof`. The returned name is valid
  // until the manifest changes.
  const std::string& AddIncremental(Bytes file_name,  // adds the newest incremental file; returns its name
                                    const NamePredicate& is_taken = nullptr);
  bool HasPartNamed(Bytes name) const;      // true: the manifest lists a file of this name
  void RetireIncrementals(size_t kept);     // moves all except the last `kept` incrementals to history()
  void DropHistory() { history_.clear(); }  // forgets the obsolete files, but leaves them on the disk
  void UseOldFileAsBase(Bytes file_name);   // the only file of Redis 6 or older becomes the base

  // Returns whether a base or an incremental may have the name `name`: `<file name>.<number>.base.rdb`, for example.
  static bool IsPartName(Bytes file_name, Bytes name);  // true: formed like the name of a base or an incremental
  static std::string Name(Bytes file_name) { return std::string(file_name) + ".manifest"; }  // of the manifest file
  static std::string TemporaryName(Bytes file_name) {  // name of a new manifest, before the rename to Name()
    return "temp-" + Name(file_name);
  }
  // The server writes an incremental under this name while it creates the first base, and renames the incremental when
  // the base is complete.
  static std::string TemporaryIncrementalName(Bytes file_name) {  // name of an incremental until there is a base
    return "temp-" + std::string(file_name) + ".incr";
  }

  bool operator==(const AofManifest&) const = default;

 private:
  friend class AofManifestParser;

  // Names the part `<file name>.<number><suffix>`. The number is the lowest unused one above `seq`.
  Part NextPart(Bytes file_name, int64_t seq, Bytes suffix,  // names a new file, whose number is above `seq`
                const NamePredicate& is_taken) const;

  std::optional<Part> base_;        // the data set at the last rewrite
  std::vector<Part> incrementals_;  // files of the writes after the base, oldest first; the last is open for writing
  std::vector<Part> history_;       // obsolete files, not removed yet; the last to become obsolete are at the front
  int64_t base_seq_ = 0;            // number in the name of the newest base file
  int64_t incremental_seq_ = 0;     // number in the name of the newest incremental file
};

}  // namespace respite
