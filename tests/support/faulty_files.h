// FaultyFiles: a file system in memory that fails when a test tells it to, and that can crash.
//
//   FaultyFiles files;
//   files.FailAt(FaultyFiles::Operation::kWrite, 3, EIO);       // the third write from now on; the fourth works again
//   files.WriteShortAt(2, 10, ENOSPC);                          // ten bytes of the second write land
//   files.SetRoom(4096); … files.SetRoom(FaultyFiles::kUnlimited);        // a disk that is full, and not any more
//   files.Crash();                                              // the machine went down and came up again
//
//   files.CutAt(7);                     // before the seventh operation from now on the power fails: nothing works any
//   more … files.Crash(random);              // and it comes back
//
// What a crash leaves: of each file what was there at its last Sync (or, with a Random, that and any part of what was
// written since, from its beginning); of the names in a directory those of its last SyncDirectory (or, with a Random,
// any of the changes since, too, whatever their order: a disk promises none). A name that survives with data that was
// never synced is an empty file. Kill leaves all that was done: only the process is gone. Files and locks that were
// open are dead: all they do fails with EBADF.
//
// For all functions: from any thread. Paths: "a", "./a" and "/a" are equal; "." always is there.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "persistence/file_system.h"

namespace respite {

class FaultyFiles : public FileSystem {
 public:
  enum class Operation : uint8_t {
    kOpen,
    kWrite,
    kRead,
    kSync,
    kTruncate,
    kSize,
    kRename,
    kRemove,
    kMakeDirectory,
    kSyncDirectory,
    kList,
    kLock,
  };
  static constexpr size_t kOperations = 12;
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  FaultyFiles();
  ~FaultyFiles() override;

  // The `nth` operation of this kind from now on (1: the next) fails and changes nothing; FailFrom: all later ones,
  // too. A new call for a kind replaces the old one.
  void FailAt(Operation operation, uint64_t nth, IoError error);
  void FailFrom(Operation operation, uint64_t nth, IoError error);
  // Only `bytes` bytes of the `nth` write are written before it fails.
  void WriteShortAt(uint64_t nth, uint64_t bytes, IoError error);
  // Bytes that may still be written before the disk is full (ENOSPC, after what fits). Truncating and removing files
  // frees nothing.
  void SetRoom(uint64_t bytes);
  // The `nth` operation from now on, of any kind, and all after it fail and change nothing.
  void CutAt(uint64_t nth);
  bool IsCut() const;
  // Operations of all kinds so far.
  uint64_t Operations() const;
  // Removes all faults; the disk has space.
  void Recover();
  // Operations of this kind so far, failed ones included.
  uint64_t Count(Operation operation) const;

  // From now on File::Sync blocks until ReleaseSyncs. WaitForHeldSync returns when one blocks.
  void HoldSyncs();
  void ReleaseSyncs();
  void WaitForHeldSync();

  void Crash();
  void Crash(Random& random);
  void Kill();

  // The current content, synced or not. Content: empty if the file does not exist. Put: the file survives crashes.
  std::string Content(const std::string& path) const;
  bool Has(const std::string& path) const;
  void Put(const std::string& path, Bytes content);
  // Files, in the order of their paths.
  std::vector<std::string> Paths() const;

  Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) override;
  IoError Rename(const std::string& from, const std::string& to) override;
  IoError Remove(const std::string& path) override;
  IoError MakeDirectory(const std::string& path) override;
  IoError SyncDirectory(const std::string& path) override;
  Result<std::vector<std::string>, IoError> List(const std::string& path) override;
  Kind KindOf(const std::string& path) override;
  Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) override;

 private:
  friend class FaultyFile;
  friend class FaultyLock;

  // A file or a directory.
  struct Node {
    bool is_directory = false;
    std::string data;
    std::string durable;         // the data at the last Sync
    bool begins_durable = true;  // `data` begins with `durable`
  };
  using NodePtr = std::shared_ptr<Node>;
  using Names = std::map<std::string, NodePtr>;
  // Names changed by one operation; null: removed.
  using Change = std::vector<std::pair<std::string, NodePtr>>;
  struct Fault {
    uint64_t countdown = 0;  // 0: none
    IoError error = kNoError;
    bool stays = false;
    uint64_t lands = 0;
  };

  static std::string Normal(const std::string& path);
  static std::string ParentOf(const std::string& path);
  static void Apply(const Change& change, Names& names);

  void SetFault(Operation operation, Fault fault);
  // Counts the operation; returns the fault that hits it, if any.
  Fault Begin(Operation operation);
  bool IsDirectory(const std::string& path) const;
  void ChangeNames(Change change);
  void SurviveCrash(Random* random);
  static void LoseData(Node& node, Random* random);
  void EndLife();

  IoProgress Write(Node& node, Bytes data);
  IoError Sync(Node& node, std::unique_lock<std::mutex>& lock, uint64_t age);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Fault, kOperations> faults_;
  std::array<uint64_t, kOperations> counts_{};
  uint64_t cut_countdown_ = 0;  // 0: none
  bool is_cut_ = false;
  uint64_t room_ = kUnlimited;
  bool holds_syncs_ = false;
  int held_syncs_ = 0;
  uint64_t age_ = 0;  // crashes so far
  Names names_;
  Names durable_names_;
  std::vector<Change> changes_;  // since directories were last synced
  std::set<std::string> locked_;
};

}  // namespace respite
