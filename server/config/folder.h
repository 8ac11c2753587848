// Folder: the folder in which a server's relative paths begin (the directive `dir`). A single server uses the working
// directory of the process, as Redis does. Servers that share a process each have their own folder.
#pragma once

#include <optional>
#include <string>

namespace respite {

class Folder {  // the folder in which a server's relative paths begin: the directive `dir`
 public:
  virtual ~Folder() = default;

  virtual std::string Path() const = 0;  // absolute path of the folder; empty: deleted meanwhile
  // Changes to the folder `path`, which may be relative to the current folder. Returns nullopt, or the system's error
  // text on failure.
  virtual std::optional<std::string> Enter(const std::string& path) = 0;  // makes `path` the folder; returns the error
  virtual std::string Resolve(const std::string& path) const = 0;  // path to open; `path` may be relative to the folder
};

class ProcessFolder final : public Folder {  // the working directory of the process, as `dir` of a single server
 public:
  static ProcessFolder& Instance();  // the one ProcessFolder

  std::string Path() const override;                                            // the process's working directory
  std::optional<std::string> Enter(const std::string& path) override;           // changes to `path`; returns the error
  std::string Resolve(const std::string& path) const override { return path; }  // returns the path unchanged
};

class OwnFolder final : public Folder {  // the folder of one of several servers in this process
 public:
  // Requires: `path` is absolute.
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}

  std::string Path() const override { return path_; }                  // absolute path of the folder
  std::optional<std::string> Enter(const std::string& path) override;  // makes `path` the folder; returns the error
  std::string Resolve(const std::string& path) const override;         // puts this folder before a relative path

 private:
  std::string path_;  // absolute path of the folder
};

}  // namespace respite
