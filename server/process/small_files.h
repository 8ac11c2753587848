// Small files of the server that launchers read: the pidfile and the port file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace respite {

// The error text of a failed write, such as "Permission denied", or nullopt on success.
using WriteObjection = std::optional<std::string>;

// Overwrites the content of the file in place, because it may be a special file, or another program may watch its
// inode. Returns nullopt, or the error.
WriteObjection WriteFile(const std::string& path, std::string_view content);  // overwrites a file in place; or an error

// Replaces the file by a new one, so that readers see either the complete old or the complete new content. Returns
// nullopt, or the error.
WriteObjection ReplaceFileAtomically(const std::string& path, std::string_view content);  // new inode; or the error

// A pidfile or port file, which the process removes when it ends. The object keeps the absolute path, because the
// working directory may change.
class PidOrPortFile {  // the pidfile or the port file, which the process removes when it ends
 public:
  PidOrPortFile() = default;
  PidOrPortFile(const PidOrPortFile&) = delete;
  PidOrPortFile& operator=(const PidOrPortFile&) = delete;

  // Both functions write the file, and return the error if that failed. WriteInPlace keeps the inode of a file that
  // exists. WriteAtomically makes a new file, and renames it to `path`.
  WriteObjection WriteInPlace(const std::string& path, std::string_view content);     // overwrites the file
  WriteObjection WriteAtomically(const std::string& path, std::string_view content);  // replaces the file
  bool Exists() const { return !path_.empty(); }  // true: the file was written, and not removed
  void Remove();                                  // removes the file, if it was written

 private:
  std::string path_;  // absolute; empty: no file was written
};

}  // namespace respite
