// AofDirectory: `appenddirname` with its manifest: which files the append-only file consists of, here and on the disk.
//
// A change of the manifest is on the disk before it is true here, and the files that it names are there before it. A
// file that no manifest names is left alone: new ones never take its name. What goes wrong is in the log, in Redis'
// words.
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
  // Waits for files that are being removed.
  ~AofDirectory();

  // Takes the manifest over from the disk, unless it is bad; without one there are no files. Moves the single file in
  // that Redis had before version 7, if `old_file` says so and there is nothing else.
  enum class OldFile : uint8_t { kLeave, kTake };
  Step Read(OldFile old_file);
  // Refuses when there is no manifest but files with content that one of this name would list: it was lost, and an
  // empty data set must not take the place of theirs. Requires: Read.
  Step CheckManifestIsThere();
  // Makes the directory.
  Step Make();
  // Keeps other servers of ours out of the files that this manifest names, by a lock on the incremental that is
  // written to; the lock before it goes. Servers with another appendfilename may share the directory. Requires: the
  // file is there.
  Step Lock(const std::string& name);
  void Unlock() { lock_.reset(); }

  const AofManifest& manifest() const { return manifest_; }
  // Names that a new part may not have, since there is such a file.
  AofManifest::Taken Taken() const;
  // Creations and renames so far are on the disk.
  Step SyncNames();
  // Puts the manifest on the disk. After kFailed the disk may have the old one or the new one: the files of both are
  // needed until another one is there. Requires: what it names is there, and SyncNames.
  Step Commit(AofManifest next);
  // Files that were made for a manifest that could not be committed: they go when the next one is.
  void Forsake(std::vector<std::string> names);
  // Removes files that a rewrite has made superfluous: their names now, what they hold in the background. After that
  // the manifest forgets them.
  void RemoveHistory();
  // Removes a file of the directory, if it is there: its name now, what it holds in the background.
  void RemoveLater(const std::string& name);
  // Removes what a crash has left: unfinished files under temporary names. Requires: the lock.
  void RemoveTemporaries();
  // Under which a new base is written.
  std::string TemporaryBaseName() const { return "temp-" + settings_.appendfilename + ".base"; }
  // Frees what belongs to removals that are over.
  void Tidy();

  std::string PathOf(Bytes name) const { return settings_.appenddirname + "/" + std::string(name); }
  // Octets of base and incrementals. Fails, with the name in the log, when one of them cannot be looked at.
  Result<uint64_t, IoError> TotalOctets() const;
  Result<uint64_t, IoError> OctetsOf(const std::string& name) const;

 private:
  class Removal;

  // Nothing when it is to be refused.
  std::optional<AofManifest> ReadManifest() const;
  bool OldFileIsToBeTaken() const;
  // One of the files that make an append-only file of this name.
  bool IsPartName(Bytes name) const;
  void RemoveForsaken();
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
  std::vector<std::string> forsaken_;
  std::vector<std::unique_ptr<Removal>> removals_;
};

}  // namespace respite
