// The little files of a process, which launchers read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace respite {

// Why the file could not be written ("Permission denied"), if it could not.
using WriteObjection = std::optional<std::string>;

// Overwrites in place: the file may be a special one, or belong to a watched inode.
WriteObjection WriteFile(const std::string& path, std::string_view content);

// Readers see the old content or the new one, never a part.
WriteObjection ReplaceFileAtOnce(const std::string& path, std::string_view content);

// A file that announces this process and goes away with it. Keeps the absolute path, so that a later change of the
// working directory does not matter.
class AnnouncementFile {
 public:
  AnnouncementFile() = default;
  AnnouncementFile(const AnnouncementFile&) = delete;
  AnnouncementFile& operator=(const AnnouncementFile&) = delete;

  WriteObjection WriteInPlace(const std::string& path, std::string_view content);
  WriteObjection WriteAtOnce(const std::string& path, std::string_view content);
  bool Exists() const { return !path_.empty(); }
  void Remove();

 private:
  std::string path_;
};

}  // namespace respite
