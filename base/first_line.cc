#include "base/first_line.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "base/descriptor.h"

namespace respite {

namespace {

constexpr size_t kLongestLine = 1024;

}  // namespace

std::optional<std::string> FirstLineOf(const char* path) {
  Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  char buffer[kLongestLine];
  ssize_t size = file.Get() < 0 ? -1 : read(file.Get(), buffer, sizeof buffer);
  if (size < 0) return std::nullopt;
  std::string_view text(buffer, static_cast<size_t>(size));
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace respite
