// DiskFaults: faults for writes and syncs of files of a server, such as its append-only file and RDB files (TEST FAULT
// … DO DISK).
//
// Background threads sync these files, and child processes write some of them. So the rules are in memory that the
// server shares with its child processes: the server sees how often a rule acted in a child, and a rule that the server
// removes no longer acts there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "persistence/file_system.h"
#include "server/lab/faults/hit_schedule.h"

namespace respite {

struct DiskFault {  // what a rule of TEST FAULT does to a write or sync: an error or a delay
  enum class Kind : uint8_t { kFull, kSlow, kError };  // kFull: ENOSPC, only for writes; kSlow: a delay; kError: EIO
  static constexpr int64_t kMaxSlowMs = 60'000;        // longest delay in ms, because the server is blocked meanwhile

  Kind kind;
  int64_t slow_ms = 0;  // for kSlow: how long a write or sync on which the rule acts is delayed
};

class DiskFaults {  // the rules of TEST FAULT for writes and syncs of files
 public:
  static constexpr size_t kMaxDiskRules = 64;  // maximum number of rules; their shared memory has a fixed size

  DiskFaults();
  ~DiskFaults();
  DiskFaults(const DiskFaults&) = delete;
  DiskFaults& operator=(const DiskFaults&) = delete;

  // Adds a rule. Returns false if there are already kMaxDiskRules rules, or if there is no memory. Requires: `serial`
  // is larger than 0, and larger than the serial of any previous rule.
  bool Add(uint64_t serial, const DiskFault& fault, const HitSchedule& schedule);  // adds a rule; false: no room
  void Remove(uint64_t serial);                      // removes the rule with this serial number
  void Seed(uint64_t serial, uint64_t seed);         // sets the seed for the rule's choices of PERCENT
  const HitCounts* CountsOf(uint64_t serial) const;  // hits and matches of a disk rule; null: no such rule

  enum class Operation : uint8_t { kWrite, kSync };
  struct DiskEffect {          // what the first rule that hits does to one write or sync
    IoError error = kNoError;  // the error that the operation gets
    int64_t slow_ms = 0;       // how long the operation is delayed
  };
  // Asks the rules for this kind of operation in turn, until one acts. Counts a match for each rule that was asked.
  // Returns the delay or the error of the rule that acts; no effect if none acts. Thread-safe.
  DiskEffect TakeEffect(Operation operation);  // counts an operation; returns its delay or error

 private:
  struct Slot;   // a rule
  struct Table;  // the rules, in memory that child processes share

  Slot* Find(uint64_t serial) const;
  Slot* NextAfter(uint64_t serial, Operation operation) const;  // next rule after `serial` for this operation; or null

  std::atomic<Table*> table_ = nullptr;  // the rules, in shared memory; null until the first rule is added
};

class FaultyDisk final : public FileSystem {  // a file system that injects the faults of DiskFaults
 public:
  using Sleep = std::function<void(int64_t ms)>;

  // `files` and `faults` must outlive this object and the files that it opens. `sleep` must block the calling thread
  // for the given time.
  FaultyDisk(FileSystem& files, DiskFaults& faults, Sleep sleep = ReallySleep)
      : files_(files), faults_(faults), sleep_(std::move(sleep)) {}

  Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) override;
  IoError Rename(const std::string& from, const std::string& to) override {  // renames a file, without faults
    return files_.Rename(from, to);
  }
  IoError Remove(const std::string& path) override { return files_.Remove(path); }  // injects no faults
  IoError Link(const std::string& from, const std::string& to) override { return files_.Link(from, to); }  // no faults
  IoError MakeDirectory(const std::string& path) override { return files_.MakeDirectory(path); }  // injects no faults
  IoError SyncDirectory(const std::string& path) override { return files_.SyncDirectory(path); }  // injects no faults
  Result<std::vector<std::string>, IoError> List(const std::string& path) override { return files_.List(path); }
  Kind KindOf(const std::string& path) override { return files_.KindOf(path); }  // what is at `path`; injects no faults
  Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) override { return files_.Lock(path); }
  void RunInBackground(FileTask& task) override {  // runs the task in a background thread
    files_.RunInBackground(task);
  }

  IoError InjectFault(DiskFaults::Operation operation);  // delays an operation, or returns an error, as the rules say

 private:
  static void ReallySleep(int64_t ms);  // blocks the thread for this number of milliseconds

  FileSystem& files_;   // the real file system
  DiskFaults& faults_;  // the rules that are applied
  const Sleep sleep_;   // blocks the thread for a time; tests replace this function
};

}  // namespace respite
