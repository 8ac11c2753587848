// An interface to the files that persistence needs. Tests implement the interface with files that fail on demand.
//
// Nothing here throws. Errors are an IoError, which is an `errno` of the system; IoErrorText returns a description in
// words.
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

IoProgress WriteAll(int descriptor,  // writes all data to a file, also after short writes; stops at an error
                    Bytes data);

class File {  // an open file, as an interface; the destructor closes it
 public:
  virtual ~File() = default;

  // Returns how many bytes were written (IoProgress::bytes), and the error that ended the writing, if any.
  virtual IoProgress Write(Bytes data) = 0;   // appends all of the data, unless an error occurs
  virtual IoProgress ReadAt(uint64_t offset,  // fills `into`; reads less at the end of the file or on an error
                            std::span<char> into) = 0;
  // Another thread may call this while others write.
  virtual IoError Sync() = 0;  // waits until all data written before the call are on the disk
  // The system may ignore the request.
  virtual void StartWriteback() = 0;                   // asks the system to write the data to disk now; does not wait
  virtual IoError Truncate(uint64_t bytes) = 0;        // cuts the file to its first `bytes` bytes
  virtual Result<uint64_t, IoError> Size() const = 0;  // length of the file in bytes
};

// The caller owns the task, must keep the task until it has ended, and may pass it to RunInBackground again afterwards.
class FileTask {  // work on files that FileSystem::RunInBackground executes
 public:
  FileTask() = default;
  FileTask(const FileTask&) = delete;
  FileTask& operator=(const FileTask&) = delete;
  virtual ~FileTask() = default;

  // The caller may read the results of Run once IsPending has returned false.
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
  virtual IoError Rename(const std::string& from,  // renames a file; replaces an existing `to`
                         const std::string& to) = 0;
  virtual IoError Remove(const std::string& path) = 0;  // unlinks a file
  // Gives a file a second name (a hard link), also in another directory of the same file system. Fails with EEXIST if
  // `to` exists, and for example with EXDEV or EPERM if the file system cannot link these names.
  virtual IoError Link(const std::string& from, const std::string& to) = 0;  // gives the file a second name
  virtual IoError MakeDirectory(const std::string& path) = 0;  // creates a directory; kNoError if `path` exists
  // Also makes creations of files durable. "." is the working directory.
  virtual IoError SyncDirectory(const std::string& path) = 0;  // makes renames and removals in the directory durable
  // The names are unordered; "." and ".." are left out.
  virtual Result<std::vector<std::string>, IoError> List(const std::string& path) = 0;  // names in a directory
  virtual Kind KindOf(const std::string& path) = 0;  // kDirectory, kFile (anything else), or kAbsent (also: no access)
  // Locks a file or directory until the returned File is destroyed. Only other calls of Lock respect the lock, so other
  // programs can still write. The system releases the lock of a process that crashed. Fails with EWOULDBLOCK if the
  // file is locked already, and with ENOENT if it does not exist.
  virtual Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) = 0;  // locks a file or directory

  // Tasks run one after the other. This default implementation runs the task immediately, on the caller's thread.
  // Requires: !task.IsPending().
  virtual void RunInBackground(FileTask& task) {  // runs the task on another thread; by default on this thread
    MarkPending(task);
    RunPending(task);
  }

 protected:
  static void MarkPending(FileTask& task) {  // marks a task as queued
    task.is_pending_.store(true, std::memory_order_relaxed);
  }
  // The owner may free the task as soon as is_pending_ is false. So after is_pending_ was set to false, nothing reads
  // the task: notify_all uses only the address of is_pending_.
  static void RunPending(FileTask& task) {  // runs a task, and marks it as ended
    task.Run();
    task.is_pending_.store(false, std::memory_order_release);
    task.is_pending_.notify_all();
  }
};

// The destructor finishes the tasks given to RunInBackground.
class SystemFiles final : public FileSystem {  // the file system of the operating system
 public:
  Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) override;  // opens a file of the disk
  IoError Rename(const std::string& from, const std::string& to) override;  // renames a file; replaces an existing `to`
  IoError Remove(const std::string& path) override;                         // unlinks a file
  IoError Link(const std::string& from, const std::string& to) override;    // gives the file a second name
  IoError MakeDirectory(const std::string& path) override;                  // creates a directory, if `path` is absent
  IoError SyncDirectory(const std::string& path) override;  // makes renames and removals in the directory durable
  Result<std::vector<std::string>, IoError> List(const std::string& path) override;  // names of its files
  Kind KindOf(const std::string& path) override;  // kDirectory, kFile (anything else), or kAbsent (also: no access)
  Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) override;  // against other Respite processes
  // The first task starts the thread. If the system cannot create a thread, tasks run immediately.
  void RunInBackground(FileTask& task) override;  // runs the task on worker_'s thread; without a thread, immediately
  // Must be called before the first RunInBackground.
  void SetThreadPrologue(std::function<void()> prologue) {  // the thread of RunInBackground calls `prologue` first
    worker_.SetThreadPrologue(std::move(prologue));
  }

 private:
  Worker<FileTask*> worker_{[](FileTask* task) { RunPending(*task); }};  // the thread that runs the tasks
};

std::string DirectoryOf(const std::string& path);  // the path before the last "/"; "." without "/"; "/" for "/x"

// Writes a new file, syncs that file, and renames the file to `path`. Readers see either the old or the new content,
// even after a crash. `temporary` is the name of the new file before the rename.
IoError ReplaceFile(FileSystem& files, const std::string& path,  // replaces the content of a file atomically
                    const std::string& temporary, Bytes content);
// Makes the name of the temporary file from `path` and the process ID.
IoError ReplaceFile(FileSystem& files, const std::string& path,  // replaces the content of a file atomically
                    Bytes content);
// Returns only the first `max_bytes` bytes of a larger file.
Result<std::string, IoError> ReadFile(FileSystem& files, const std::string& path,  // returns the content of a file
                                      uint64_t max_bytes);

}  // namespace respite
