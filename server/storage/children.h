// Children: forked copies of the process that write snapshots and rewrite the append-only file while the server runs.
// There is at most one at a time.
//
// A child sees the data as it was at the fork, and changes nothing in the server. The child reports its progress
// through a pipe, and its outcome by its exit code. The child ends when its parent ends, or on SIGUSR1.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "persistence/file_system.h"

namespace respite {

// The data that a child process writes. kSnapshot: an RDB file. kRewrite: a base of the append-only file. kTransfer: a
// snapshot into a pipe, for replicas. kSlots: the keys of some hash slots into a pipe, for another node. kBackup: the
// base of a backup.
enum class ChildWork : uint8_t { kSnapshot, kRewrite, kTransfer, kSlots, kBackup };  // what a child writes

struct ChildProgress {          // what a child tells the server about its progress
  uint64_t keys_done = 0;       // number of keys that the child has saved so far
  uint64_t cow_bytes = 0;       // memory that was copied on write since the fork, in bytes
  uint64_t cow_peak_bytes = 0;  // the largest value of cow_bytes so far
  int64_t cow_at_us = 0;        // when cow_bytes was measured (real time); 0: not yet
};

// The child may call ChildReporter::Tell for every key, because most calls return immediately.
class ChildReporter {  // interface by which a child tells the server about its progress
 public:
  virtual ~ChildReporter() = default;
  virtual void Tell(uint64_t keys_done) = 0;           // the child has saved this number of keys
  virtual int OutputDescriptor() const { return -1; }  // descriptor of the pipe for the child's output; -1: no pipe
};

class PipeFile final : public File {  // the pipe into which a child writes its output; only Write works
 public:
  explicit PipeFile(int descriptor) : descriptor_(descriptor) {}  // does not close the descriptor

  IoProgress Write(Bytes data) override { return WriteAll(descriptor_, data); }  // waits until all is written
  IoProgress ReadAt(uint64_t, std::span<char>) override { return {0, ESPIPE}; }  // always fails
  IoError Sync() override { return kNoError; }                                   // does nothing: there is no disk
  void StartWriteback() override {}                                              // does nothing: there is no disk
  IoError Truncate(uint64_t) override { return ESPIPE; }                         // always fails
  Result<uint64_t, IoError> Size() const override { return Failure(IoError{ESPIPE}); }  // always fails

 private:
  const int descriptor_;  // the descriptor of the pipe, which the caller closes
};

enum class ChildOutcome : uint8_t { kSucceeded, kFailed, kKilled };  // kKilled: by Kill, or SIGUSR1

struct ChildEnd {                    // which child has ended, and how
  ChildWork work;                    // what the child did
  ChildOutcome outcome;              // whether the child succeeded, failed or was killed
  int signal = 0;                    // signal that has ended the child; 0: none
  pid_t pid = 0;                     // process ID of the child; part of its temporary files' names
  int64_t elapsed_ms = 0;            // how long the child ran
  ChildProgress last_progress = {};  // the last progress that the child has reported
};

class Forker {  // interface that creates a child: a fork, or in tests a mere call
 public:
  // The work of a child, as a function that runs in the child. The function returns whether the work succeeded, and
  // logs errors.
  using Job = std::function<bool(ChildReporter&)>;

  virtual ~Forker() = default;
  // Starts a child that runs `job` and keeps the descriptor `output` open (-1: no output); see
  // ChildReporter::OutputDescriptor. Returns the child's process ID, or an errno on failure. Requires: no child runs.
  // Cost: the fork itself, about 10 ms for each GB of data.
  virtual Result<pid_t, int> Start(ChildWork work, Job job,  // forks a child that runs `job`; returns its pid
                                   int output) = 0;
  virtual ChildProgress Progress() = 0;  // the latest progress that the child has reported
  // Returns how the child has ended, but only once. Returns nullopt while the child runs, and in later calls.
  virtual std::optional<ChildEnd> Poll() = 0;  // how the child ended, reported once; else nullopt
  virtual void Kill() = 0;                     // kills the child and waits for its end; Poll then returns kKilled
};

}  // namespace respite
