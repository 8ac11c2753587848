// DiskFaults: what the next writes and syncs of a server's append-only file and snapshots meet (TEST FAULT … DO DISK).
//
// Other threads sync files, and children write them. So the rules are in memory that children share; what a child meets
// is counted here, and what is removed here spares it.
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
  static constexpr int64_t kSlowestMs = 60'000;  // the server waits as long

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

  // `serial` is not 0, and larger than that of all rules before. False: there is no room.
  bool Add(uint64_t serial, const DiskFault& fault, const Turns& turns);
  void Remove(uint64_t serial);
  void Seed(uint64_t serial, uint64_t seed);
  // Null: no such rule.
  const TurnCounts* CountsOf(uint64_t serial) const;

  // What happens to an operation: it takes so long, and fails with this error if there is one. Thread-safe.
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
  // The first rule behind this one that may act on it; null: none.
  Slot* NextAfter(uint64_t serial, Operation operation) const;

  std::atomic<Table*> table_ = nullptr;  // from the first rule on
};

// Files whose writes and syncs meet the faults.
class FaultyDisk final : public FileSystem {
 public:
  using Sleep = std::function<void(int64_t ms)>;

  // All must outlive it and its files. `sleep` lets time pass on the calling thread.
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

  // The error of an operation, after the time that it takes.
  IoError Meet(DiskFaults::Operation operation);

 private:
  static void ReallySleep(int64_t ms);

  FileSystem& files_;
  DiskFaults& faults_;
  const Sleep sleep_;
};

}  // namespace respite
