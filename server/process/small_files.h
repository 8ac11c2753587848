// Small files that launchers read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace respite {

// Error text of a failed write ("Permission denied"); nullopt on success.
using WriteObjection = std::optional<std::string>;

// Overwrites the file in place, since it may be a special file or have a watched inode.
WriteObjection WriteFile(const std::string& path, std::string_view content);

// Replaces the file, so that readers see the complete old or new content.
WriteObjection ReplaceFileAtomically(const std::string& path, std::string_view content);

// The pidfile or the port file, which is removed when the process ends. Keeps the absolute path, because the working
// directory may change.
class PidOrPortFile {
 public:
  PidOrPortFile() = default;
  PidOrPortFile(const PidOrPortFile&) = delete;
  PidOrPortFile& operator=(const PidOrPortFile&) = delete;

  WriteObjection WriteInPlace(const std::string& path, std::string_view content);  // keeps the inode
  WriteObjection WriteAtomically(const std::string& path, std::string_view content);
  bool Exists() const { return !path_.empty(); }  // it was written, and not removed
  void Remove();

 private:
  std::string path_;
};

}  // namespace respite
