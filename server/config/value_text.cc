#include "server/config/value_text.h"

#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "base/str_cat.h"

namespace respite {

std::optional<int64_t> ParseLooseInteger(const std::string& text, int base) {
  char* end = nullptr;
  long long value = std::strtoll(text.c_str(), &end, base);
  if (*end != '\0') return {};
  return value;
}

std::string FormatMemoryWithUnit(uint64_t bytes) {
  constexpr uint64_t kKilobyte = 1024;
  constexpr uint64_t kMegabyte = 1024 * kKilobyte;
  constexpr uint64_t kGigabyte = 1024 * kMegabyte;
  if (bytes == 0) return "0";
  if (bytes % kGigabyte == 0) return StrCat(bytes / kGigabyte, "gb");
  if (bytes % kMegabyte == 0) return StrCat(bytes / kMegabyte, "mb");
  if (bytes % kKilobyte == 0) return StrCat(bytes / kKilobyte, "kb");
  return std::to_string(bytes);
}

Bytes TrimLine(Bytes line) {
  constexpr Bytes kBlanks = " \t\r\n";
  const size_t first = line.find_first_not_of(kBlanks);
  if (first == Bytes::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

std::string WorkingDirectory() {
  std::string path(PATH_MAX, '\0');
  if (getcwd(path.data(), path.size()) == nullptr) return "";
  path.resize(path.find('\0'));
  return path;
}

std::string AbsolutePath(Bytes path) {
  path = TrimSpaces(path);
  if (path.starts_with('/')) return std::string(path);
  std::string folder = WorkingDirectory();
  while (path.starts_with("../")) {
    path.remove_prefix(3);
    folder.erase(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
  }
  if (!folder.ends_with('/')) folder += '/';
  return folder + std::string(path);
}

}  // namespace respite
