// BackupDirectory: the directory `backupdirname` with the files of one backup: BASE, INCR and manifest.
//
// The directory is in the folder that `dir` named when the backup began, even if `dir` has changed since. A lock on the
// directory keeps other Respite servers from removing its files.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "persistence/aof_manifest.h"
#include "persistence/file_system.h"
#include "server/config/settings.h"
#include "server/storage/background_removal.h"

namespace respite {

class BackupDirectory {  // the folder `backupdirname` and its files
 public:
  // `files` and `settings` must outlive this object.
  BackupDirectory(FileSystem& files, const Settings& settings) : files_(files), settings_(settings), removal_(files) {}

  // Creates the directory unless it exists, and locks it. Returns nullopt, or why it cannot be used, for example
  // because it is not empty.
  std::optional<std::string> Open();  // creates and locks the empty directory; returns why that failed
  // Removes all files whose names are those of a backup. Returns nullopt, or why one of them could not be removed.
  std::optional<std::string> RemoveFiles();  // removes the files of a backup; returns why that failed
  // Removes the files that a backup of an earlier process has left, unless another server is using them. A missing
  // directory is no error. Requires: the directory is not open.
  std::optional<std::string> RemoveLeftFiles();  // removes the files of an earlier process; returns why that failed
  void Close() { lock_.reset(); }                // unlocks the directory, which another server may use from now on
  void Tidy() { removal_.Tidy(); }               // forgets the removed files whose disk space is free

  IoError Link(const std::string& from, const std::string& name);  // also gives the file `from` the name `name` here
  void Unlink(const std::string& name) { files_.Remove(PathOf(name)); }  // removes the name that Link has given
  IoError Rename(const std::string& from, const std::string& to);  // renames a file here, and syncs this directory
  // Writes the manifest under its temporary name. Requires: all files that the manifest names are in the directory.
  // InstallManifest gives the manifest its final name; after that the backup is complete.
  IoError WriteTemporaryManifest(const AofManifest& manifest);  // writes and syncs the manifest under another name
  IoError InstallManifest();                                    // gives the manifest its final name

  std::string PathOf(const std::string& name) const;           // path of a file, which may be relative to `dir`
  std::string AbsolutePathOf(const std::string& name) const {  // path of a file, which begins with "/"
    return folder_ + (folder_.ends_with('/') ? "" : "/") + settings_.backupdirname + "/" + name;
  }
  std::string ManifestName() const { return AofManifest::Name(settings_.appendfilename); }  // name of the manifest
  std::string TemporaryBaseName() const {  // name of an incomplete base
    return "temp-" + settings_.appendfilename + ".base";
  }

 private:
  std::string Path() const;                       // path of the directory, which may be relative to `dir`
  bool IsOwnName(const std::string& name) const;  // true: a file of a backup may have this name
  std::optional<std::string> Lock();              // locks the directory; returns why that failed
  std::string FailureText(const char* what, IoError error) const;  // "Can't create the backup directory …: error"

  FileSystem& files_;           // access to the disk
  const Settings& settings_;    // values of the directives
  std::string folder_;          // absolute path of the current folder (`dir`) when it was opened; empty: never
  std::unique_ptr<File> lock_;  // the lock on the directory; null: not locked
  BackgroundRemoval removal_;   // removes files without blocking the server
};

}  // namespace respite
