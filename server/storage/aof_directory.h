// AofDirectory: the directory `appenddirname` with the files of the append-only file, and the manifest, which lists
// these files.
//
// Commit first writes a new manifest to the disk. manifest() returns the new manifest only afterwards. The files that a
// manifest names must be on the disk before the manifest is. A file that no manifest names may have any origin, so it
// is kept, and new files never take its name. Errors are logged, with Redis' texts if Redis has the same error.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "persistence/aof_manifest.h"
#include "persistence/file_system.h"
#include "server/config/settings.h"
#include "server/storage/background_removal.h"

namespace respite {

enum class Step : uint8_t { kDone, kFailed };

class AofDirectory {  // the folder `appenddirname`: the append-only files, and a manifest that lists them
 public:
  // `files`, `settings` and `log` must outlive this object.
  AofDirectory(FileSystem& files, const Settings& settings, Logger& log);

  enum class OldFile : uint8_t { kLeave, kTake };  // kTake: move the old single file here
  // Reads the manifest. A missing manifest counts as one that names no files. With kTake, also moves the single
  // append-only file of Redis before version 7 into the directory, if the manifest names no files or an earlier move
  // was interrupted.
  Step Read(OldFile old_file);  // reads the manifest; kFailed: unusable, or the old file cannot be moved
  // Returns kFailed if the manifest is missing, but files with content exist that have the names of append-only files.
  // The manifest was then lost, and an empty keyspace must not replace these files. Requires: Read was called.
  Step CheckManifestIsThere();  // kFailed: no manifest, but append-only files with content exist
  Step Make();                  // creates the folder `appenddirname`, unless it exists
  // Locks the file `name`, the incremental to which this server appends, and releases the lock on the previous
  // incremental. The lock keeps other Respite servers from using any file of this manifest. Servers with another
  // appendfilename may share the directory. Requires: the file exists.
  Step Lock(const std::string& name);  // no other server may use the append-only files while `name` is locked
  void Unlock() { lock_.reset(); }     // ends Lock: another server may use the files

  const AofManifest& manifest() const { return manifest_; }  // the list of files, as read or last committed
  AofManifest::NamePredicate TakenNamePredicate() const;  // a function that returns whether a file of this name exists
  Step SyncDirectory();                                   // fsync of the folder, after files were created or renamed
  // Replaces the manifest on the disk by `next`. After kFailed the disk may have the old or the new manifest, so keep
  // the files of both manifests until another Commit succeeds. Requires: the files of `next` exist, and SyncDirectory
  // was called.
  Step Commit(AofManifest next);  // writes a new manifest to the disk; kFailed: the disk has the old or the new one
  // Remembers files of a manifest whose Commit has failed. The next successful Commit removes these files, unless its
  // manifest names them.
  void RemoveAfterNextCommit(std::vector<std::string> names);  // next Commit removes them, unless its manifest has them
  // Removes the files that a rewrite has replaced, and then their entries in the manifest. A file's name is removed
  // now, its content in the background. Does nothing if aof-disable-auto-gc is set.
  void RemoveHistory();  // removes files that a rewrite replaced, unless aof-disable-auto-gc is set
  void RemoveInBackground(const std::string& name) {  // removes a file, if there; frees its disk space later
    removal_.Remove(PathOf(name));
  }
  void RemoveTemporaries();                // removes temporary files that a crash has left
  std::string TemporaryBaseName() const {  // name of a new base file while the file is written
    return "temp-" + settings_.appendfilename + ".base";
  }
  void Tidy() { removal_.Tidy(); }  // forgets the removed files whose disk space is free

  std::string PathOf(Bytes name) const {  // path of a file of this folder, relative to `dir`
    return settings_.appenddirname + "/" + std::string(name);
  }
  // Returns the size of the base and all incrementals in bytes. If the size of a file cannot be read, fails and logs
  // its name.
  Result<uint64_t, IoError> TotalBytes() const;                       // size of base and incrementals in bytes
  Result<uint64_t, IoError> FileSize(const std::string& name) const;  // size in bytes, or why it cannot be read

 private:
  std::optional<AofManifest> ReadManifest() const;  // reads the manifest; empty: no file; nullopt: bad or unreadable
  bool ShouldTakeOldFile() const;               // true: the single file of Redis before version 7 must be moved here
  void RemoveUncommittedFiles();                // after a Commit: removes files of earlier, failed commits
  Step UseOldFileAsBase();                      // moves the single file of Redis before version 7 here, as the base
  Step Refuse(const std::string& text) const {  // logs the text as a warning; returns kFailed
    log_.Warning(text);
    return Step::kFailed;
  }

  FileSystem& files_;                           // access to the disk
  const Settings& settings_;                    // values of the directives
  Logger& log_;                                 // gets warnings and errors
  AofManifest manifest_;                        // the list of files, as read or last committed
  std::unique_ptr<File> lock_;                  // holds the lock of locked_name_; null: nothing is locked
  std::string locked_name_;                     // name of the incremental that Lock has locked
  std::vector<std::string> uncommitted_files_;  // files to remove after the next Commit that does not list them
  BackgroundRemoval removal_;                   // removes files without blocking the server
};

}  // namespace respite
