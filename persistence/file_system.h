// An interface to the files that persistence needs; tests implement it with files that fail on demand.
//
// Nothing here throws. Errors are an IoError, which is an `errno` of the system; IoErrorText describes it in words.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/worker.h"

namespace respite {

using IoError = int;
inline constexpr IoError kNoError = 0;

std::string IoErrorText(IoError error);  // the text of an errno: "No space left on device"

struct IoProgress {  // the result of a write or read: how many bytes, and the error
  uint64_t bytes;    // number of bytes that were written or read before any error
  IoError error;     // kNoError: success
};

// Writes all bytes of `data`, unless an error occurs. Continues after interruptions by signals and after short writes.
IoProgress WriteAll(int descriptor, Bytes data);  // writes all data; continues after short writes and signals

// An open file; the destructor closes it.
class File {  // an open file, as an interface; the destructor closes it
 public:
  virtual ~File() = default;

  // Appends the data. Continues after interruptions by signals and after short writes. After an error, the file has the
  // first IoProgress::bytes bytes of the data.
  virtual IoProgress Write(Bytes data) = 0;  // appends all of the data, unless an error occurs
  // Reads bytes at an offset. Reads fewer bytes than requested only at the end of the file or after an error.
  virtual IoProgress ReadAt(uint64_t offset,  // fills `into`; reads less at the end of the file or on an error
                            std::span<char> into) = 0;
  // Returns when all data written before the call is on disk. Another thread may call this while others write.
  virtual IoError Sync() = 0;  // returns when all data written before the call is on the disk
  // Asks the system to start writing the data to disk, without waiting. The system may ignore this.
  virtual void StartWriteback() = 0;                   // asks the kernel to write to the disk now; does not wait
  virtual IoError Truncate(uint64_t bytes) = 0;        // cuts the file to its first `bytes` bytes
  virtual Result<uint64_t, IoError> Size() const = 0;  // length of the file in bytes
};

// The caller owns the task, must keep the task until it has ended, and may submit it again afterwards.
class FileTask {  // work on files, for FileSystem::RunInBackground
 public:
  FileTask() = default;
  FileTask(const FileTask&) = delete;
  FileTask& operator=(const FileTask&) = delete;
  virtual ~FileTask() = default;

  // Once IsPending returns false, the caller may read the results of Run.
  bool IsPending() const { return is_pending_.load(std::memory_order_acquire); }  // true: the task is queued or runs
  void Await() const { is_pending_.wait(true, std::memory_order_acquire); }       // blocks until the task has ended

 protected:
  virtual void Run() = 0;  // does the work, usually on another thread

 private:
  friend class FileSystem;

  std::atomic<bool> is_pending_{false};  // true: the task is queued or runs
};

class FileSystem {  // operations on files; an interface, so that tests can make them fail
 public:
  enum class Mode : uint8_t {
    kRead,
    kAppend,     // created if it does not exist; writes go to the end
    kCreate,     // created or truncated; can also be read
    kCreateNew,  // created; EEXIST if it exists
  };
  enum class Kind : uint8_t { kAbsent, kFile, kDirectory };

  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) = 0;  // opens a file
  virtual IoError Rename(const std::string& from, const std::string& to) = 0;  // replaces an existing file `to`
  virtual IoError Remove(const std::string& path) = 0;                         // deletes a file's name
  // Creates a directory. Succeeds if it already exists.
  virtual IoError MakeDirectory(const std::string& path) = 0;  // creates a directory, unless it exists
  // Makes creations, renames and removals in a directory durable. "." is the working directory.
  virtual IoError SyncDirectory(const std::string& path) = 0;  // makes renames and removals in the directory durable
  // Returns the names in a directory, unordered, without "." and "..".
  virtual Result<std::vector<std::string>, IoError> List(const std::string& path) = 0;  // names in a directory
  virtual Kind KindOf(const std::string& path) = 0;  // whether the path is absent, a file or a directory
  // Locks a file or directory against other Respite processes until the returned File is destroyed. The system releases
  // the lock of a process that crashed. Fails with EWOULDBLOCK if another process holds the lock.
  virtual Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) = 0;  // locks a file or directory

  // Runs tasks on another thread, one after the other. This default implementation instead runs a task immediately, on
  // the caller's thread. Requires: the task is not queued and does not run.
  virtual void RunInBackground(FileTask& task) {  // runs the task on another thread; by default on this thread
    MarkPending(task);
    RunPending(task);
  }

 protected:
  static void MarkPending(FileTask& task) {  // marks a task as queued
    task.is_pending_.store(true, std::memory_order_relaxed);
  }
  // Runs a task and marks it as ended. Does not touch the task after the notification, because the owner may free the
  // task once is_pending_ is false.
  static void RunPending(FileTask& task) {  // runs a task, and marks it as ended
    task.Run();
    task.is_pending_.store(false, std::memory_order_release);
    task.is_pending_.notify_all();
  }
};

// The real file system. The destructor finishes the tasks given to RunInBackground.
class SystemFiles final : public FileSystem {  // the file system of the operating system
 public:
  Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) override;  // opens a file of the disk
  IoError Rename(const std::string& from, const std::string& to) override;  // replaces an existing file `to`
  IoError Remove(const std::string& path) override;                         // deletes a file's name
  IoError MakeDirectory(const std::string& path) override;                  // creates a directory, unless it exists
  IoError SyncDirectory(const std::string& path) override;  // makes renames and removals in the directory durable
  Result<std::vector<std::string>, IoError> List(const std::string& path) override;  // names of its files
  Kind KindOf(const std::string& path) override;  // whether the path is absent, a file or a directory
  Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) override;  // against other Respite processes
  // Runs the task on a thread that the first task starts. If the system cannot create a thread, tasks run immediately.
  void RunInBackground(FileTask& task) override;  // runs the task on one other thread, or here if none can be created
  // Makes the thread of RunInBackground call `prologue` first. Must be called before the first RunInBackground.
  void SetThreadPrologue(std::function<void()> prologue) {  // the thread calls `prologue` first
    worker_.SetThreadPrologue(std::move(prologue));
  }

 private:
  Worker<FileTask*> worker_{[](FileTask* task) { RunPending(*task); }};  // the thread that runs the tasks
};

std::string DirectoryOf(const std::string& path);  // the path before the last "/"; "." if there is no "/"

// Replaces a whole file atomically: writes a new file, syncs it, and renames it. Readers see either the old or the new
// content, even after a crash. `temporary` is the name of the new file before the rename.
IoError ReplaceFile(FileSystem& files, const std::string& path,  // replaces the content of a file atomically
                    const std::string& temporary, Bytes content);
// Replaces a whole file atomically, with a temporary name that contains the process ID.
IoError ReplaceFile(FileSystem& files, const std::string& path, Bytes content);  // replaces a file's content atomically
// Returns the content of a file, at most `max_bytes` bytes.
Result<std::string, IoError> ReadFile(FileSystem& files, const std::string& path,  // reads a whole small file
                                      uint64_t max_bytes);

}  // namespace respite
