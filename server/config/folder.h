// Folder: the folder in which a server's relative paths begin (the directive `dir`). A single server uses the working
// directory of the process, as Redis does. Servers that share a process each have their own folder.
#pragma once

#include <optional>
#include <string>

namespace respite {

class Folder {  // the folder in which a server's relative paths begin: the directive `dir`
 public:
  virtual ~Folder() = default;

  virtual std::string Path() const = 0;  // absolute; empty: the directory no longer exists
  // Changes to the folder `path`, which may be relative to the current folder. Returns nullopt, or the system's error
  // text on failure.
  virtual std::optional<std::string> Enter(const std::string& path) = 0;  // changes to `path`; returns the error
  virtual std::string Resolve(const std::string& path) const = 0;  // makes a path in this folder valid for the process
};

class ProcessFolder final : public Folder {  // the working directory of the process
 public:
  static ProcessFolder& Instance();  // the only ProcessFolder, shared by all servers

  std::string Path() const override;
  std::optional<std::string> Enter(const std::string& path) override;  // returns the system's error text on failure
  std::string Resolve(const std::string& path) const override { return path; }  // already valid
};

class OwnFolder final : public Folder {  // a folder of one server, other than the working directory of the process
 public:
  // Requires: `path` is absolute.
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}

  std::string Path() const override { return path_; }
  std::optional<std::string> Enter(const std::string& path) override;  // changes to `path`; returns the error
  std::string Resolve(const std::string& path) const override;         // puts the folder before a relative path

 private:
  std::string path_;
};

}  // namespace respite
