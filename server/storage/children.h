// Children: forked copies of the process that write snapshots and rewrite the append-only file while the server runs.
// There is at most one at a time.
//
// A child sees the data as it was at the fork, and changes nothing in the server. It reports its progress through a
// pipe, and its outcome by its exit code. It ends when its parent ends, or on SIGUSR1.
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

// What a child writes. kSnapshot: an RDB file. kRewrite: a base of the append-only file. kTransfer: a snapshot into a
// pipe, for replicas. kSlots: the keys of some hash slots into a pipe, for another node.
enum class ChildWork : uint8_t { kSnapshot, kRewrite, kTransfer, kSlots };

struct ChildProgress {          // what a child reports to its parent
  uint64_t keys_done = 0;       // number of keys saved so far
  uint64_t cow_bytes = 0;       // bytes of memory that copy-on-write has duplicated so far
  uint64_t cow_peak_bytes = 0;  // the largest value of cow_bytes so far
  int64_t cow_at_us = 0;        // monotonic time when cow_bytes was measured; 0: not yet
};

// An interface through which a child tells its parent about its progress. The child may call Tell for every key,
// because most calls return immediately.
class ChildReporter {  // an interface through which a child tells its parent about its progress
 public:
  virtual ~ChildReporter() = default;
  virtual void Tell(uint64_t keys_done) = 0;  // number of keys written so far
  // Returns the descriptor of the pipe for the child's output, which stays open at the fork, or -1 if there is none.
  virtual int OutputDescriptor() const { return -1; }  // descriptor of the pipe for the child's output; -1: none
};

class PipeFile final : public File {  // the pipe for a child's output; only Write works
 public:
  // Does not own the descriptor: the caller closes it.
  explicit PipeFile(int descriptor) : descriptor_(descriptor) {}  // does not close it

  IoProgress Write(Bytes data) override { return WriteAll(descriptor_, data); }         // blocks until all is written
  IoProgress ReadAt(uint64_t, std::span<char>) override { return {0, ESPIPE}; }         // always fails
  IoError Sync() override { return kNoError; }                                          // does nothing
  void StartWriteback() override {}                                                     // a pipe needs none
  IoError Truncate(uint64_t) override { return ESPIPE; }                                // always fails
  Result<uint64_t, IoError> Size() const override { return Failure(IoError{ESPIPE}); }  // fails

 private:
  const int descriptor_;  // not owned
};

enum class ChildOutcome : uint8_t { kSucceeded, kFailed, kKilled };  // kKilled: by Kill, or SIGUSR1

struct ChildEnd {           // how a child ended
  ChildWork work;           // what the child did
  ChildOutcome outcome;     // kKilled: by Forker::Kill, or by SIGUSR1
  int signal = 0;           // the signal that has ended the child; 0: none
  pid_t pid = 0;            // process ID of the child, which is in the names of its temporary files
  int64_t elapsed_ms = 0;   // how long the child ran
  ChildProgress last = {};  // the last progress that it reported
};

class Forker {  // an interface that creates a child: a real fork, or in tests a call in the process
 public:
  // The work of a child, as a function that runs in the child. It returns whether the work succeeded, and logs errors
  // itself.
  using Job = std::function<bool(ChildReporter&)>;

  virtual ~Forker() = default;
  // Starts a child that runs `job` and keeps the descriptor `output` open (-1: no output); see
  // ChildReporter::OutputDescriptor. Returns the child's process ID, or an errno on failure. Requires: no child runs.
  // Cost: the fork itself, about 10 ms for each GB of data.
  virtual Result<pid_t, int> Start(ChildWork work, Job job, int output) = 0;  // its pid, or an errno
  virtual ChildProgress Progress() = 0;  // the latest progress that the child has reported
  // Returns how the child has ended, but only once. Returns nullopt while the child runs, and after that one time.
  virtual std::optional<ChildEnd> Poll() = 0;  // how the child has ended, only once; else nullopt
  // Kills the child and waits until it has ended. Poll then reports it as killed.
  virtual void Kill() = 0;  // kills the child and waits; Poll then returns its end
};

}  // namespace respite
