#include "persistence/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/descriptor.h"
#include "base/str_cat.h"

namespace respite {

IoProgress WriteAll(int descriptor, Bytes data) {
  const size_t wanted = data.size();
  while (!data.empty()) {
    const ssize_t written = write(descriptor, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return {wanted - data.size(), errno};
    data.remove_prefix(static_cast<size_t>(written));
  }
  return {wanted, kNoError};
}

namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kDirectoryMode = 0755;

class SystemFile : public File {
 public:
  explicit SystemFile(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  IoProgress Write(Bytes data) override { return WriteAll(descriptor_.Get(), data); }

  IoProgress ReadAt(uint64_t offset, std::span<char> into) override {
    size_t done = 0;
    while (done < into.size()) {
      const ssize_t got = ReadSome(offset + done, into.subspan(done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return {done, errno};
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return {done, kNoError};
  }

  IoError Sync() override { return fdatasync(descriptor_.Get()) == 0 ? kNoError : errno; }

  void StartWriteback() override { sync_file_range(descriptor_.Get(), 0, 0, SYNC_FILE_RANGE_WRITE); }

  IoError Truncate(uint64_t bytes) override {
    return ftruncate(descriptor_.Get(), static_cast<off_t>(bytes)) == 0 ? kNoError : errno;
  }

  Result<uint64_t, IoError> Size() const override {
    struct stat status;
    if (fstat(descriptor_.Get(), &status) != 0) return Failure(IoError{errno});
    return static_cast<uint64_t>(status.st_size);
  }

 protected:
  int Number() const { return descriptor_.Get(); }

 private:
  // Reads with pread. Reads a pipe with read(), because pipes have no offsets.
  ssize_t ReadSome(uint64_t offset, std::span<char> into) {
    const ssize_t got = pread(descriptor_.Get(), into.data(), into.size(), static_cast<off_t>(offset));
    return got < 0 && errno == ESPIPE ? read(descriptor_.Get(), into.data(), into.size()) : got;
  }

  const Descriptor descriptor_;
};

int FlagsOf(FileSystem::Mode mode) {
  switch (mode) {
    case FileSystem::Mode::kRead:
      return O_RDONLY;
    case FileSystem::Mode::kAppend:
      return O_RDWR | O_APPEND | O_CREAT;
    case FileSystem::Mode::kCreate:
      return O_RDWR | O_APPEND | O_CREAT | O_TRUNC;
    case FileSystem::Mode::kCreateNew:
      return O_RDWR | O_APPEND | O_CREAT | O_EXCL;
  }
  return O_RDONLY;
}

}  // namespace

std::string IoErrorText(IoError error) { return std::generic_category().message(error); }

Result<std::unique_ptr<File>, IoError> SystemFiles::Open(const std::string& path, Mode mode) {
  Descriptor descriptor(open(path.c_str(), FlagsOf(mode) | O_CLOEXEC, kFileMode));
  if (!descriptor.IsOpen()) return Failure(IoError{errno});
  return std::make_unique<SystemFile>(std::move(descriptor));
}

IoError SystemFiles::Rename(const std::string& from, const std::string& to) {
  return rename(from.c_str(), to.c_str()) == 0 ? kNoError : errno;
}

IoError SystemFiles::Remove(const std::string& path) { return unlink(path.c_str()) == 0 ? kNoError : errno; }

IoError SystemFiles::Link(const std::string& from, const std::string& to) {
  return link(from.c_str(), to.c_str()) == 0 ? kNoError : errno;
}

IoError SystemFiles::MakeDirectory(const std::string& path) {
  return mkdir(path.c_str(), kDirectoryMode) == 0 || errno == EEXIST ? kNoError : errno;
}

IoError SystemFiles::SyncDirectory(const std::string& path) {
  const Descriptor descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.IsOpen()) return errno;
  // Some file systems do not support fsync of directories. They return EINVAL, which counts as success.
  return fsync(descriptor.Get()) == 0 || errno == EINVAL ? kNoError : errno;
}

Result<std::vector<std::string>, IoError> SystemFiles::List(const std::string& path) {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return Failure(IoError{errno});
  std::vector<std::string> names;
  while (const dirent* item = readdir(directory)) {
    const Bytes name = item->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(directory);
  return names;
}

FileSystem::Kind SystemFiles::KindOf(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return Kind::kAbsent;
  return S_ISDIR(status.st_mode) ? Kind::kDirectory : Kind::kFile;
}

namespace {

// The destructor unlocks the file. If it only closed the descriptor, the lock would last until every child that
// inherited the descriptor has closed it.
class LockedFile final : public SystemFile {
 public:
  using SystemFile::SystemFile;
  ~LockedFile() override { flock(Number(), LOCK_UN); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
};

}  // namespace

Result<std::unique_ptr<File>, IoError> SystemFiles::Lock(const std::string& path) {
  Descriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.IsOpen() || flock(descriptor.Get(), LOCK_EX | LOCK_NB) != 0) return Failure(IoError{errno});
  return std::unique_ptr<File>(std::make_unique<LockedFile>(std::move(descriptor)));
}

void SystemFiles::RunInBackground(FileTask& task) {
  MarkPending(task);
  if (!worker_.EnsureThread()) return RunPending(task);
  worker_.Add(&task);
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

IoError ReplaceFile(FileSystem& files, const std::string& path, const std::string& temporary, Bytes content) {
  IoError error = kNoError;
  {
    auto file = files.Open(temporary, FileSystem::Mode::kCreate);
    if (!file) return file.error();
    error = file.value()->Write(content).error;
    if (error == kNoError) error = file.value()->Sync();
  }
  if (error == kNoError) error = files.Rename(temporary, path);
  if (error != kNoError) {
    files.Remove(temporary);
    return error;
  }
  return files.SyncDirectory(DirectoryOf(path));
}

IoError ReplaceFile(FileSystem& files, const std::string& path, Bytes content) {
  return ReplaceFile(files, path, StrCat(path, ".", getpid(), ".tmp"), content);
}

Result<std::string, IoError> ReadFile(FileSystem& files, const std::string& path, uint64_t max_bytes) {
  auto file = files.Open(path, FileSystem::Mode::kRead);
  if (!file) return Failure(file.error());
  const auto size = file.value()->Size();
  if (!size) return Failure(size.error());
  std::string content;
  // Pipes and the files of /proc report size 0, so the loop doubles the buffer until the end. For other files, the one
  // extra byte makes the first read find the end.
  for (uint64_t room = size.value() + 1; content.size() < max_bytes; room = std::max<uint64_t>(2 * room, 4096)) {
    const size_t before = content.size();
    content.resize(std::min(room, max_bytes));
    const IoProgress read = file.value()->ReadAt(before, std::span(content).subspan(before));
    if (read.error != kNoError) return Failure(read.error);
    if (read.bytes == content.size() - before) continue;
    content.resize(before + read.bytes);
    break;
  }
  return content;
}

}  // namespace respite
