// Folder: the base of a server's relative paths (the directive `dir`). A single server uses the working directory of
// the process, as Redis does; servers that share a process each have their own folder.
#pragma once

#include <optional>
#include <string>

namespace respite {

class Folder {  // base of a server's relative paths: the directive `dir`
 public:
  virtual ~Folder() = default;

  // Returns the absolute path, or an empty text if the directory no longer exists.
  virtual std::string Path() const = 0;
  // Changes the folder to `path`, which may be relative to the current folder. On failure, returns the system's error
  // text.
  virtual std::optional<std::string> Enter(const std::string& path) = 0;
  // Returns a path that is valid in the working directory of the process.
  virtual std::string Resolve(const std::string& path) const = 0;
};

class ProcessFolder final : public Folder {  // the working directory of the process
 public:
  static ProcessFolder& Instance();  // stateless, so all servers share one

  std::string Path() const override;
  std::optional<std::string> Enter(const std::string& path) override;  // returns the system's error text on failure
  std::string Resolve(const std::string& path) const override { return path; }
};

class OwnFolder final : public Folder {  // independent of the working directory
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
