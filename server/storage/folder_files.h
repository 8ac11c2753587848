// FolderFiles: a file system that resolves relative paths in a Folder, so that each of several servers in one process
// has its own folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "persistence/file_system.h"
#include "server/config/folder.h"

namespace respite {

class FolderFiles final : public FileSystem {  // access to the disk, with relative paths that begin in `dir`
 public:
  // `files` and `folder` must outlive this object.
  FolderFiles(FileSystem& files, const Folder& folder) : files_(files), folder_(folder) {}

  Result<std::unique_ptr<File>, IoError> Open(const std::string& path, Mode mode) override {  // `path` may be relative
    return files_.Open(folder_.Resolve(path), mode);
  }
  IoError Rename(const std::string& from, const std::string& to) override {  // both paths may be relative
    return files_.Rename(folder_.Resolve(from), folder_.Resolve(to));
  }
  IoError Remove(const std::string& path) override {  // `path` may be relative
    return files_.Remove(folder_.Resolve(path));
  }
  IoError Link(const std::string& from, const std::string& to) override {  // both paths may be relative
    return files_.Link(folder_.Resolve(from), folder_.Resolve(to));
  }
  IoError MakeDirectory(const std::string& path) override {  // creates a directory; `path` may be relative
    return files_.MakeDirectory(folder_.Resolve(path));
  }
  IoError SyncDirectory(const std::string& path) override {  // `path` may be relative
    return files_.SyncDirectory(folder_.Resolve(path));
  }
  Result<std::vector<std::string>, IoError> List(const std::string& path) override {  // `path` may be relative
    return files_.List(folder_.Resolve(path));
  }
  Kind KindOf(const std::string& path) override {  // what is at `path`, which may be relative
    return files_.KindOf(folder_.Resolve(path));
  }
  Result<std::unique_ptr<File>, IoError> Lock(const std::string& path) override {  // `path` may be relative
    return files_.Lock(folder_.Resolve(path));
  }
  void RunInBackground(FileTask& task) override { files_.RunInBackground(task); }  // runs the task on another thread

 private:
  FileSystem& files_;     // access to the disk, gets full paths
  const Folder& folder_;  // the folder in which relative paths begin
};

}  // namespace respite
