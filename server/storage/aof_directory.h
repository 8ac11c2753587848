// AofDirectory: `appenddirname` with its manifest, the list of the files of the append-only file.
//
// Commit first writes the new manifest to the disk; manifest() returns it only afterwards. The files that a manifest
// names must be on the disk before the manifest is. Files of unknown origin that no manifest names are kept, and new
// files never take their names. Errors are logged, with Redis' texts if Redis has the same error.
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

class AofDirectory {  // appenddirname: the files of the append-only file, and the manifest that lists them
 public:
  // `files`, `settings` and `log` must outlive this object.
  AofDirectory(FileSystem& files, const Settings& settings, Logger& log);
  // Waits until the background has finished removing files.
  ~AofDirectory();

  enum class OldFile : uint8_t { kLeave, kTake };
  // Reads the manifest and adopts it if it is valid; otherwise returns kFailed. Without a manifest there are no files.
  // kTake also moves the single file of Redis before version 7 into the directory, if the manifest names no files.
  Step Read(OldFile old_file);  // reads the manifest; kFailed: it is invalid
  // Returns kFailed if the manifest is missing, but non-empty files exist that it would name. In that case the manifest
  // was lost, and an empty keyspace must not replace those files. Requires: Read.
  Step CheckManifestIsThere();  // kFailed: the manifest is missing, although its files exist
  // Creates the directory, unless it exists.
  Step Make();  // creates the directory, unless it exists
  // Locks the files of this manifest against other Respite servers, by a lock on `name`, the incremental in use.
  // Releases the previous lock. Servers with another appendfilename may share the directory. Requires: the file exists.
  Step Lock(const std::string& name);  // locks the files against other servers, by this one
  void Unlock() { lock_.reset(); }     // ends Lock, so another server may use the files

  const AofManifest& manifest() const { return manifest_; }  // the list that is on the disk
  AofManifest::Taken Taken() const;  // tests for names of existing files, which a new file must not take
  Step SyncDirectory();              // fsync of the directory, after creations and renames of files
  // Writes the manifest to the disk. After kFailed the disk may have the old or the new manifest, so keep the files of
  // both manifests until another Commit succeeds. Requires: the files of `next` exist, and SyncDirectory was called.
  Step Commit(AofManifest next);  // writes the manifest to the disk; kFailed: the disk may have the old or the new one
  // Remembers files of a manifest that could not be committed. The next successful Commit removes those that its
  // manifest does not name.
  void RemoveAfterNextCommit(std::vector<std::string> names);  // the next Commit removes those it does not list
  // Removes files that a rewrite has replaced: their names now, their content in the background. Then removes them from
  // the manifest. Does nothing if aof-disable-auto-gc is set.
  void RemoveHistory();  // removes replaced files, unless aof-disable-auto-gc is set
  // Removes a file of the directory if it exists: its name now, its content in the background.
  void RemoveInBackground(const std::string& name);  // removes the name now, the content in the background
  void RemoveTemporaries();                          // removes temporary files left by a crash; requires the lock
  // Returns the temporary name of a new base.
  std::string TemporaryBaseName() const { return "temp-" + settings_.appendfilename + ".base"; }  // of a new base
  // Frees the objects of background removals that have finished.
  void Tidy();  // frees what background removals that have ended leave in memory

  std::string PathOf(Bytes name) const {  // path of the file, relative to `dir`
    return settings_.appenddirname + "/" + std::string(name);
  }
  // Returns the size of base and incrementals in bytes. If the size of a file cannot be read, fails and logs its name.
  Result<uint64_t, IoError> TotalBytes() const;  // size of base and incrementals; fails if one is missing
  Result<uint64_t, IoError> FileSize(const std::string& name) const;  // size of this file; fails if it cannot be read

 private:
  class Removal;  // a file whose content another thread is removing

  std::optional<AofManifest> ReadManifest() const;  // empty if there is no file; nullopt: invalid
  bool ShouldTakeOldFile() const;                   // the one file of Redis before version 7 must be moved here
  bool IsPartName(Bytes name) const;                // a base or an incremental has such a name
  void RemoveUncommittedFiles();                    // removes the files of RemoveAfterNextCommit
  Step UseOldFileAsBase();                          // moves the file of Redis before version 7 here
  Step Refuse(const std::string& text) const {      // logs the reason; returns kFailed
    log_.Warning(text);
    return Step::kFailed;
  }

  FileSystem& files_;                               // does the work on the files
  const Settings& settings_;                        // gives appenddirname and appendfilename
  Logger& log_;                                     // gets the errors
  AofManifest manifest_;                            // the manifest that is on the disk
  std::unique_ptr<File> lock_;                      // keeps the lock of locked_name_; null: none
  std::string locked_name_;                         // the incremental that lock_ locks
  std::vector<std::string> uncommitted_files_;      // the next successful Commit removes those it does not list
  std::vector<std::unique_ptr<Removal>> removals_;  // files that are being removed in the background
};

}  // namespace respite
