// FaultyFiles: a file system in memory that fails when a test tells it to, and that can crash.
//
//   FaultyFiles files;
//   files.FailAt(FaultyFiles::Operation::kWrite, 3, EIO);       // the third write from now on; the fourth works again
//   files.WriteShortAt(2, 10, ENOSPC);                          // ten bytes of the second write are written
//   files.SetFreeBytes(4096); … files.SetFreeBytes(FaultyFiles::kUnlimited);        // the disk is full, then has space
//   again files.Crash();                                              // the machine crashes and restarts
//
//   files.CutAt(7);  // the power fails before the seventh operation from now on; then all operations fail
//   files.Crash(random);                                        // the power returns
//
// A crash keeps the data of each file as of its last Sync. With a Random, a prefix of what was written since may
// survive as well. A crash keeps the names in a directory as of its last SyncDirectory. With a Random, any subset of
// the later changes may survive, in any order, because a disk promises none. A name that survives with data that was
// never synced is an empty file. Kill ends only the process and leaves everything written. Every operation on a file or
// lock that was open fails with EBADF afterwards.
//
// All functions may be called from any thread. The paths "a", "./a" and "/a" are equal; "." always exists.
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
    kLink,
  };
  static constexpr size_t kOperations = 13;
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  FaultyFiles();
  ~FaultyFiles() override;

  // Makes the `nth` operation of this kind from now on (1: the next) fail without a change; FailFrom makes all later
  // ones fail as well. A new call for a kind replaces the old one.
  void FailAt(Operation operation, uint64_t nth, IoError error);
  void FailFrom(Operation operation, uint64_t nth, IoError error);
  // Writes only the first `bytes` bytes of the `nth` write before it fails.
  void WriteShortAt(uint64_t nth, uint64_t bytes, IoError error);
  // Sets how many bytes can still be written before the disk is full (ENOSPC, after the part that fits). Truncating and
  // removing files frees nothing.
  void SetFreeBytes(uint64_t bytes);
  // Makes the `nth` operation of any kind from now on, and all after it, fail without a change.
  void CutAt(uint64_t nth);
  bool IsCut() const;
  // The number of operations of all kinds so far.
  uint64_t Operations() const;
  // Removes all faults and the limit of the disk.
  void Recover();
  // The number of operations of this kind so far, including failed ones.
  uint64_t Count(Operation operation) const;

  // Makes File::Sync block until ReleaseSyncs. WaitForHeldSync returns when a call blocks.
  void HoldSyncs();
  void ReleaseSyncs();
  void WaitForHeldSync();

  void Crash();
  void Crash(Random& random);
  void Kill();

  // Content returns the current content, synced or not; empty if the file does not exist. A file from Put survives
  // crashes.
  std::string Content(const std::string& path) const;
  bool Has(const std::string& path) const;
  void Put(const std::string& path, Bytes content);
  // The paths of all files, sorted.
  std::vector<std::string> Paths() const;

  Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) override;
  IoError Rename(const std::string& from, const std::string& to) override;
  IoError Remove(const std::string& path) override;
  IoError Link(const std::string& from, const std::string& to) override;
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
