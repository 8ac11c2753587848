#include "server/process/small_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/descriptor.h"
#include "base/str_cat.h"
#include "server/config/value_text.h"

namespace respite {

namespace {

constexpr mode_t kReadableByAll = 0644;

}  // namespace

WriteObjection WriteFile(const std::string& path, std::string_view content) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, kReadableByAll));
  if (file.Get() < 0) return std::strerror(errno);
  ssize_t written = write(file.Get(), content.data(), content.size());
  if (written == static_cast<ssize_t>(content.size())) return std::nullopt;
  return std::strerror(written < 0 ? errno : ENOSPC);
}

WriteObjection ReplaceFileAtomically(const std::string& path, std::string_view content) {
  std::string draft = StrCat(path, ".tmp.", getpid());
  WriteObjection objection = WriteFile(draft, content);
  if (!objection && rename(draft.c_str(), path.c_str()) != 0) objection = std::strerror(errno);
  if (objection) unlink(draft.c_str());
  return objection;
}

WriteObjection PidOrPortFile::WriteInPlace(const std::string& path, std::string_view content) {
  WriteObjection objection = WriteFile(path, content);
  if (!objection) path_ = AbsolutePath(path);
  return objection;
}

WriteObjection PidOrPortFile::WriteAtomically(const std::string& path, std::string_view content) {
  WriteObjection objection = ReplaceFileAtomically(path, content);
  if (!objection) path_ = AbsolutePath(path);
  return objection;
}

void PidOrPortFile::Remove() {
  if (Exists()) unlink(path_.c_str());
  path_.clear();
}

}  // namespace respite
