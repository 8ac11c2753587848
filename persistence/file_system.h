// Files as persistence needs them, behind an interface: tests have files that fail when they are told to.
//
// Nothing here throws. What went wrong is an IoError, the `errno` of the system; IoErrorText says it in words.
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

// "No space left on device" and so on.
std::string IoErrorText(IoError error);

// How far an operation came before it failed, if it did.
struct IoProgress {
  uint64_t octets;
  IoError error;
};

// An open file; closed when it goes.
class File {
 public:
  virtual ~File() = default;

  // Appends. Goes on after interruptions and short writes until all is written or an error says why not; then the file
  // holds the first `octets` of the data.
  virtual IoProgress Write(Bytes data) = 0;
  // Fewer octets than asked for only at the end of the file or with an error.
  virtual IoProgress ReadAt(uint64_t offset, std::span<char> into) = 0;
  // All that was written is on the disk when this returns. May be called from another thread while others write.
  virtual IoError Sync() = 0;
  // Asks the system to begin to write back what was written so far; waits for nothing. Only a hint.
  virtual void StartWriteback() = 0;
  virtual IoError Truncate(uint64_t octets) = 0;
  virtual Result<uint64_t, IoError> Size() const = 0;
};

// Work on files that may take long, to be done by another thread. It belongs to whoever asks for it, who keeps it as
// long as it is Pending and may ask again afterwards.
class FileTask {
 public:
  FileTask() = default;
  FileTask(const FileTask&) = delete;
  FileTask& operator=(const FileTask&) = delete;
  virtual ~FileTask() = default;

  // What Run has written may be read once this is false.
  bool Pending() const { return pending_.load(std::memory_order_acquire); }
  // Returns when it is done.
  void Await() const { pending_.wait(true, std::memory_order_acquire); }

 protected:
  virtual void Run() = 0;

 private:
  friend class FileSystem;

  std::atomic<bool> pending_{false};
};

class FileSystem {
 public:
  enum class Mode : uint8_t {
    kRead,
    kAppend,     // made if absent; writes go to its end
    kCreate,     // made, or emptied; can be read, too
    kCreateNew,  // made; EEXIST if there is one already
  };
  enum class Kind : uint8_t { kAbsent, kFile, kDirectory };

  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) = 0;
  virtual IoError Rename(const std::string& from, const std::string& to) = 0;
  virtual IoError Remove(const std::string& path) = 0;
  // One that is there already is no error.
  virtual IoError MakeDirectory(const std::string& path) = 0;
  // Makes what was created, renamed or removed in a directory last. "." is the working directory.
  virtual IoError SyncDirectory(const std::string& path) = 0;
  // Names of what is in a directory, in no order, without "." and "..".
  virtual Result<std::vector<std::string>, IoError> List(const std::string& path) = 0;
  virtual Kind KindOf(const std::string& path) = 0;
  // Keeps other servers of ours out of a file or directory as long as the result lives, whatever becomes of this
  // process. EWOULDBLOCK: somebody else has it.
  virtual Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) = 0;

  // Has a task done by another thread, one after the other; here it is done at once. Requires: not pending.
  virtual void Later(FileTask& task) {
    MarkPending(task);
    RunPending(task);
  }

 protected:
  static void MarkPending(FileTask& task) { task.pending_.store(true, std::memory_order_relaxed); }
  // Its owner may free it from here on.
  static void RunPending(FileTask& task) {
    task.Run();
    task.pending_.store(false, std::memory_order_release);
    task.pending_.notify_all();
  }
};

// The real one. What was given to Later is done before it goes.
class SystemFiles final : public FileSystem {
 public:
  Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) override;
  IoError Rename(const std::string& from, const std::string& to) override;
  IoError Remove(const std::string& path) override;
  IoError MakeDirectory(const std::string& path) override;
  IoError SyncDirectory(const std::string& path) override;
  Result<std::vector<std::string>, IoError> List(const std::string& path) override;
  Kind KindOf(const std::string& path) override;
  Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) override;
  // The thread starts with the first task. When the system has no room for it, tasks are done at once.
  void Later(FileTask& task) override;
  // Has the thread for Later begin with `prologue`. To be called before the first of them.
  void OnThreadStart(std::function<void()> prologue) { worker_.OnThreadStart(std::move(prologue)); }

 private:
  Worker<FileTask*> worker_{[](FileTask* task) { RunPending(*task); }};
};

// The directory part of a path: "." when there is none.
std::string DirectoryOf(const std::string& path);

// Writes a whole file beside the old one, syncs it, and puts it in its place: whoever reads meets the old content or
// the new, also after a crash. `temporary` is its name until then.
IoError ReplaceFile(FileSystem& files, const std::string& path, const std::string& temporary, Bytes content);
// The same under a temporary name of this process.
IoError ReplaceFile(FileSystem& files, const std::string& path, Bytes content);
// The content of a file, at most `octets_max` of it.
Result<std::string, IoError> ReadFile(FileSystem& files, const std::string& path, uint64_t octets_max);

}  // namespace respite
