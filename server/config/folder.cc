#include "server/config/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "server/config/value_text.h"

namespace respite {

ProcessFolder& ProcessFolder::Instance() {
  static ProcessFolder folder;
  return folder;
}

std::string ProcessFolder::Path() const { return WorkingDirectory(); }

std::optional<std::string> ProcessFolder::Enter(const std::string& path) {
  if (chdir(path.c_str()) != 0) return std::strerror(errno);
  return std::nullopt;
}

std::optional<std::string> OwnFolder::Enter(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(realpath(Resolve(path).c_str(), nullptr), &std::free);
  if (found == nullptr) return std::strerror(errno);
  struct stat status {};
  if (stat(found.get(), &status) != 0) return std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return std::strerror(ENOTDIR);
  if (access(found.get(), X_OK) != 0) return std::strerror(errno);
  path_ = found.get();
  return std::nullopt;
}

std::string OwnFolder::Resolve(const std::string& path) const {
  if (path.empty() || path.starts_with('/')) return path;
  return path_ + (path_.ends_with('/') ? "" : "/") + path;
}

}  // namespace respite
