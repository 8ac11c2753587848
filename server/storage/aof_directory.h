// AofDirectory: `appenddirname` with its manifest, the list of the files of the append-only file.
//
// A new manifest takes effect here only after it is on the disk, and its files are on the disk before it. Files that no
// manifest names are kept, and new files never take their names. Errors are logged with the same texts as in Redis.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "persistence/aof_manifest.h"
#include "persistence/file_system.h"
#include "server/config/settings.h"

namespace respite {

enum class Step : uint8_t { kDone, kFailed };

class AofDirectory {
 public:
  // All must outlive the directory.
  AofDirectory(FileSystem& files, const Settings& settings, Logger& log);
  // Waits for removals in progress.
  ~AofDirectory();

  // Reads the manifest and adopts it if it is valid. Without a manifest there are no files. kTake moves the single file
  // of Redis before version 7 into the directory, if nothing else is there.
  enum class OldFile : uint8_t { kLeave, kTake };
  Step Read(OldFile old_file);
  // Refuses if the manifest is missing but non-empty files exist that it would list. The manifest was lost, and an
  // empty keyspace must not replace those files. Requires: Read.
  Step CheckManifestIsThere();
  // Creates the directory.
  Step Make();
  // Locks the files of this manifest against other Respite servers, by a lock on the incremental in use. Releases the
  // previous lock. Servers with another appendfilename may share the directory. Requires: the file exists.
  Step Lock(const std::string& name);
  void Unlock() { lock_.reset(); }

  const AofManifest& manifest() const { return manifest_; }
  // Returns the names of existing files, which a new part must not take.
  AofManifest::Taken Taken() const;
  // Syncs the directory, so that creations and renames are on the disk.
  Step SyncNames();
  // Writes the manifest to the disk. After kFailed the disk may have the old or the new manifest, so keep the files of
  // both until another Commit succeeds. Requires: the files of `next` exist, and SyncNames was called.
  Step Commit(AofManifest next);
  // Remembers files of a manifest that could not be committed. The next successful Commit removes them.
  void NoteUncommitted(std::vector<std::string> names);
  // Removes files that a rewrite has replaced: their names now, their content in the background. Then removes them from
  // the manifest.
  void RemoveHistory();
  // Removes a file of the directory if it exists: its name now, its content in the background.
  void RemoveLater(const std::string& name);
  // Removes temporary files left by a crash. Requires: the lock.
  void RemoveTemporaries();
  // Returns the temporary name of a new base.
  std::string TemporaryBaseName() const { return "temp-" + settings_.appendfilename + ".base"; }
  // Frees the records of finished removals.
  void Tidy();

  std::string PathOf(Bytes name) const { return settings_.appenddirname + "/" + std::string(name); }
  // Returns the size of base and incrementals in bytes. Fails, and logs the name, if a size cannot be read.
  Result<uint64_t, IoError> TotalBytes() const;
  Result<uint64_t, IoError> BytesOf(const std::string& name) const;

 private:
  class Removal;

  // Returns nullopt if the manifest is invalid.
  std::optional<AofManifest> ReadManifest() const;
  bool ShouldTakeOldFile() const;
  // Returns whether a file of this name belongs to an append-only file called appendfilename.
  bool IsPartName(Bytes name) const;
  void RemoveUncommitted();
  Step TakeOldFile();
  Step Refuse(const std::string& text) const {
    log_.Warning(text);
    return Step::kFailed;
  }

  FileSystem& files_;
  const Settings& settings_;
  Logger& log_;
  AofManifest manifest_;
  std::unique_ptr<File> lock_;
  std::string locked_name_;
  std::vector<std::string> uncommitted_;
  std::vector<std::unique_ptr<Removal>> removals_;
};

}  // namespace respite
