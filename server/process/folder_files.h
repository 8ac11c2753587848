// FolderFiles: the files of the system, with relative paths that begin in the folder of a server, not of the process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "persistence/file_system.h"
#include "server/config/folder.h"

namespace respite {

class FolderFiles final : public FileSystem {
 public:
  // The folder must outlive it.
  explicit FolderFiles(const Folder& folder) : folder_(folder) {}

  Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) override {
    return files_.Open(folder_.Resolve(path), mode);
  }
  IoError Rename(const std::string& from, const std::string& to) override {
    return files_.Rename(folder_.Resolve(from), folder_.Resolve(to));
  }
  IoError Remove(const std::string& path) override { return files_.Remove(folder_.Resolve(path)); }
  IoError MakeDirectory(const std::string& path) override { return files_.MakeDirectory(folder_.Resolve(path)); }
  IoError SyncDirectory(const std::string& path) override { return files_.SyncDirectory(folder_.Resolve(path)); }
  Result<std::vector<std::string>, IoError> List(const std::string& path) override {
    return files_.List(folder_.Resolve(path));
  }
  Kind KindOf(const std::string& path) override { return files_.KindOf(folder_.Resolve(path)); }
  Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) override {
    return files_.Lock(folder_.Resolve(path));
  }
  void Later(FileTask& task) override { files_.Later(task); }
  // Makes the thread of Later run `prologue` first. Must be called before the first Later.
  void OnThreadStart(std::function<void()> prologue) { files_.OnThreadStart(std::move(prologue)); }

 private:
  const Folder& folder_;
  SystemFiles files_;
};

}  // namespace respite
