// BackgroundRemoval: removes files without blocking the server. A file's name is removed immediately, and another
// thread frees the disk space, which takes long for a large file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "persistence/file_system.h"

namespace respite {

class BackgroundRemoval {  // removes names of files now, and frees their disk space on another thread
 public:
  // `files` must outlive this object.
  explicit BackgroundRemoval(FileSystem& files);
  // Waits until the disk space of all removed files is free.
  ~BackgroundRemoval();
  BackgroundRemoval(const BackgroundRemoval&) = delete;
  BackgroundRemoval& operator=(const BackgroundRemoval&) = delete;

  // Removes the file if it exists. Returns why its name could not be removed, or kNoError.
  IoError Remove(const std::string& path);  // removes the name now, and the content on another thread
  void Tidy();                              // forgets the removed files whose disk space is free

 private:
  class Task;  // a removed file, whose disk space another thread is freeing

  FileSystem& files_;                         // access to the disk
  std::vector<std::unique_ptr<Task>> tasks_;  // removed files, whose disk space another thread is freeing
};

}  // namespace respite
