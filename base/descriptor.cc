#include "base/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>
#include <utility>

namespace respite {

namespace {

constexpr size_t kLongestLine = 1024;

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

int Descriptor::Release() { return std::exchange(fd_, -1); }

std::optional<std::string> FirstLineOf(const char* path) {
  Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  char buffer[kLongestLine];
  ssize_t size = file.Get() < 0 ? -1 : read(file.Get(), buffer, sizeof buffer);
  if (size < 0) return std::nullopt;
  std::string_view text(buffer, static_cast<size_t>(size));
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace respite
