// Descriptor: owns a file descriptor. FirstLineOf reads values from /proc and /sys.
#pragma once

#include <optional>
#include <string>

namespace respite {

class Descriptor {  // owns a file descriptor; the destructor closes it unless Release was called
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  bool IsOpen() const { return fd_ >= 0; }  // false: owns no file descriptor
  int Get() const { return fd_; }
  int Release();  // returns the file descriptor, which the caller must close from now on

 private:
  int fd_ = -1;
};

std::optional<std::string> FirstLineOf(const char* path);  // first line of a file, at most 1 KB; nullopt: unreadable

}  // namespace respite
