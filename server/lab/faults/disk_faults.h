// DiskFaults: faults for writes and syncs of a server's append-only file and RDB files (TEST FAULT … DO DISK).
//
// Background threads sync these files, and child processes write them. So the rules are in memory that children share.
// The hits of a child are counted here, and a rule that is removed here no longer affects the child.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "persistence/file_system.h"
#include "server/lab/faults/turns.h"

namespace respite {

struct DiskFault {
  enum class Kind : uint8_t { kFull, kSlow, kError };
  static constexpr int64_t kSlowestMs = 60'000;  // the server blocks for this time

  Kind kind;
  int64_t slow_ms = 0;
};

class DiskFaults {
 public:
  static constexpr size_t kMost = 64;

  DiskFaults();
  ~DiskFaults();
  DiskFaults(const DiskFaults&) = delete;
  DiskFaults& operator=(const DiskFaults&) = delete;

  // Adds a rule. Returns false if there is no room. Requires: `serial` is larger than 0 and all previous serials.
  bool Add(uint64_t serial, const DiskFault& fault, const Turns& turns);
  void Remove(uint64_t serial);
  void Seed(uint64_t serial, uint64_t seed);
  // Returns null if there is no such rule.
  const TurnCounts* CountsOf(uint64_t serial) const;

  // Returns the delay and the error (or kNoError) for an operation. Thread-safe.
  enum class Operation : uint8_t { kWrite, kSync };
  struct Meeting {
    IoError error = kNoError;
    int64_t slow_ms = 0;
  };
  Meeting Meet(Operation operation);

 private:
  struct Slot;
  struct Table;

  Slot* Find(uint64_t serial) const;
  // Returns the first rule after `serial` that may act on the operation, or null.
  Slot* NextAfter(uint64_t serial, Operation operation) const;

  std::atomic<Table*> table_ = nullptr;  // null until the first rule is added
};

// A FileSystem that applies the faults to writes and syncs of its files.
class FaultyDisk final : public FileSystem {
 public:
  using Sleep = std::function<void(int64_t ms)>;

  // `files` and `faults` must outlive this object and its files. `sleep` blocks the calling thread.
  FaultyDisk(FileSystem& files, DiskFaults& faults, Sleep sleep = ReallySleep)
      : files_(files), faults_(faults), sleep_(std::move(sleep)) {}

  Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) override;
  IoError Rename(const std::string& from, const std::string& to) override { return files_.Rename(from, to); }
  IoError Remove(const std::string& path) override { return files_.Remove(path); }
  IoError MakeDirectory(const std::string& path) override { return files_.MakeDirectory(path); }
  IoError SyncDirectory(const std::string& path) override { return files_.SyncDirectory(path); }
  Result<std::vector<std::string>, IoError> List(const std::string& path) override { return files_.List(path); }
  Kind KindOf(const std::string& path) override { return files_.KindOf(path); }
  Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) override { return files_.Lock(path); }
  void Later(FileTask& task) override { files_.Later(task); }

  // Sleeps for the delay of the fault, and returns its error.
  IoError Meet(DiskFaults::Operation operation);

 private:
  static void ReallySleep(int64_t ms);

  FileSystem& files_;
  DiskFaults& faults_;
  const Sleep sleep_;
};

}  // namespace respite
