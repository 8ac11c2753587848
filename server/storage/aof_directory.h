// AofDirectory: `appenddirname` with its manifest, the list of the files of the append-only file.
//
// Commit first writes the new manifest to the disk; manifest() returns it only afterwards. The files that a manifest
// names must be on the disk before it. Files of unknown origin that no manifest names are kept, and new files never
// take their names. Errors are logged with the same texts as in Redis.
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

class AofDirectory {  // appenddirname with its manifest, the list of the append-only file's files
 public:
  // All must outlive the directory.
  AofDirectory(FileSystem& files, const Settings& settings, Logger& log);
  // Waits for removals in progress.
  ~AofDirectory();

  enum class OldFile : uint8_t { kLeave, kTake };
  // Reads the manifest and adopts it if it is valid. Without a manifest there are no files. kTake moves the single file
  // of Redis before version 7 into the directory, if nothing else is there.
  Step Read(OldFile old_file);
  // Refuses if the manifest is missing but non-empty files exist that it would list. The manifest was lost, and an
  // empty keyspace must not replace those files. Requires: Read.
  Step CheckManifestIsThere();  // fails if it is missing although files exist
  // Creates the directory.
  Step Make();
  // Locks the files of this manifest against other Respite servers, by a lock on the incremental in use. Releases the
  // previous lock. Servers with another appendfilename may share the directory. Requires: the file exists.
  Step Lock(const std::string& name);
  void Unlock() { lock_.reset(); }  // ends Lock

  const AofManifest& manifest() const { return manifest_; }
  AofManifest::Taken Taken() const;  // names of existing files, which a new file must not take
  Step SyncDirectory();              // fsync of the directory, after creations and renames
  // Writes the manifest to the disk. After kFailed the disk may have the old or the new manifest, so keep the files of
  // both until another Commit succeeds. Requires: the files of `next` exist, and SyncDirectory was called.
  Step Commit(AofManifest next);  // writes the manifest to the disk
  // Remembers files of a manifest that could not be committed. The next successful Commit removes them.
  void NoteUncommitted(std::vector<std::string> names);  // the next successful Commit removes these files
  // Removes files that a rewrite has replaced: their names now, their content in the background. Then removes them from
  // the manifest.
  void RemoveHistory();  // removes files that a rewrite has replaced
  // Removes a file of the directory if it exists: its name now, its content in the background.
  void RemoveInBackground(const std::string& name);  // removes the name now, the content in the background
  void RemoveTemporaries();                          // removes temporary files left by a crash; requires the lock
  // Returns the temporary name of a new base.
  std::string TemporaryBaseName() const { return "temp-" + settings_.appendfilename + ".base"; }
  // Frees the records of finished removals.
  void Tidy();

  std::string PathOf(Bytes name) const {  // relative to `dir`
    return settings_.appenddirname + "/" + std::string(name);
  }
  // Returns the size of base and incrementals in bytes. Fails, and logs the name, if a size cannot be read.
  Result<uint64_t, IoError> TotalBytes() const;                       // size of base and incrementals
  Result<uint64_t, IoError> FileSize(const std::string& name) const;  // size of this file

 private:
  class Removal;

  std::optional<AofManifest> ReadManifest() const;  // nullopt if it is invalid
  bool ShouldTakeOldFile() const;                   // a single file of Redis before version 7 exists
  bool IsPartName(Bytes name) const;                // of a base or incremental
  void RemoveUncommitted();                         // removes the files of NoteUncommitted
  Step UseOldFileAsBase();                          // moves the file of Redis before version 7 here
  Step Refuse(const std::string& text) const {      // logs the reason; returns kFailed
    log_.Warning(text);
    return Step::kFailed;
  }

  FileSystem& files_;
  const Settings& settings_;
  Logger& log_;
  AofManifest manifest_;  // as on the disk
  std::unique_ptr<File> lock_;
  std::string locked_name_;                         // the incremental that lock_ locks
  std::vector<std::string> uncommitted_;            // files to be removed after the next Commit
  std::vector<std::unique_ptr<Removal>> removals_;  // in progress in the background
};

}  // namespace respite
