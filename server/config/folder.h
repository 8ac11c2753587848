// Folder: where the relative paths of a server begin (the directive `dir`). The only server of a process uses the
// working directory of the process, as Redis does; servers that share a process have a folder each.
#pragma once

#include <optional>
#include <string>

namespace respite {

class Folder {
 public:
  virtual ~Folder() = default;

  // Absolute. Empty when the directory does not exist any more.
  virtual std::string Path() const = 0;
  // Makes `path`, which may be relative to the present folder, the folder. Returns why this failed: the error text of
  // the system.
  virtual std::optional<std::string> Enter(const std::string& path) = 0;
  // A path that the system finds the file by.
  virtual std::string Resolve(const std::string& path) const = 0;
};

// The working directory of the process.
class ProcessFolder final : public Folder {
 public:
  // There is one for all: it has no state of its own.
  static ProcessFolder& Instance();

  std::string Path() const override;
  std::optional<std::string> Enter(const std::string& path) override;
  std::string Resolve(const std::string& path) const override { return path; }
};

// A folder that does not depend on the working directory.
class OwnFolder final : public Folder {
 public:
  // Requires: an absolute path.
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}

  std::string Path() const override { return path_; }
  std::optional<std::string> Enter(const std::string& path) override;
  std::string Resolve(const std::string& path) const override;

 private:
  std::string path_;
};

}  // namespace respite
