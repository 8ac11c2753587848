#include "persistence/aof_damage.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/str_cat.h"

namespace respite {

namespace {

constexpr size_t kChunk = size_t{64} * 1024;
constexpr size_t kWindow = 512;
constexpr size_t kLongestHead = 24;  // "*" or "$", a number, CRLF
constexpr size_t kLongestName = 64;  // bytes of the name of a command
constexpr Bytes kCrLf = "\r\n";

// The first line of a text, such as "*3\r\n" or "$5\r\n": a mark (* or $), a number and a line end.
struct Head {
  uint64_t number;
  size_t size;  // bytes of the line
};

std::optional<Head> HeadAt(Bytes text, char mark) {
  if (text.size() < 2 || text[0] != mark || !IsDigit(text[1])) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  const auto size = static_cast<size_t>(end - text.data());
  if (error != std::errc() || !text.substr(size).starts_with(kCrLf)) return std::nullopt;
  return Head{number, size + kCrLf.size()};
}

bool IsCommandName(Bytes word) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto may_follow = [&](char c) { return is_letter(c) || IsDigit(c) || c == '.' || c == '_' || c == '-'; };
  return !word.empty() && is_letter(word[0]) && std::ranges::all_of(word, may_follow);
}

class RecordSearch {
 public:
  RecordSearch(File& file, uint64_t from, uint64_t end)
      : file_(file), begin_(from), end_(end), steps_left_((end - from) / 4 + 64) {}

  LaterRecord Run() {
    const std::unique_ptr<char[]> chunk(new char[kChunk]);
    for (uint64_t at = begin_; at < end_ && found_.kind == LaterRecord::Kind::kNone;) {
      const size_t wanted = static_cast<size_t>(std::min<uint64_t>(kChunk, end_ - at));
      const IoProgress read = file_.ReadAt(at, {chunk.get(), wanted});
      if (read.error != kNoError || read.bytes < wanted) return {.kind = Kind::kReadError, .error = read.error};
      SearchChunk({chunk.get(), wanted}, at);
      // SearchChunk needs the first two lines of a record, such as *3 and $5, in one chunk. So the next chunk begins
      // 2 * kLongestHead bytes before the end of this one: lines that are cut here are whole there.
      at += wanted == kChunk ? kChunk - 2 * kLongestHead : wanted;
    }
    return std::move(found_);
  }

 private:
  using Kind = LaterRecord::Kind;

  void SearchChunk(Bytes chunk, uint64_t offset) {
    for (size_t line = chunk.find("\n*"); line != Bytes::npos; line = chunk.find("\n*", line + 1)) {
      const Bytes text = chunk.substr(line + 1);
      const auto count = HeadAt(text, '*');
      if (!count || count->number == 0 || count->number > INT_MAX || !HeadAt(text.substr(count->size), '$')) continue;
      Examine(offset + line + 1, *count);
      if (found_.kind != Kind::kNone) return;
    }
  }

  // Examines the record that begins at `offset`. Sets found_ if the record is complete, or if the search must stop.
  void Examine(uint64_t offset, const Head& count) {
    std::string name;
    uint64_t at = offset + count.size;
    for (uint64_t word = 0; word < count.number; ++word) {
      if (steps_left_-- == 0) {
        found_ = {.kind = Kind::kUnclear};
        return;
      }
      const auto size = HeadAt(At(at, kLongestHead), '$');
      if (!size || size->number > UINT32_MAX) return;
      at += size->size;
      if (end_ - at < size->number + kCrLf.size()) return;
      if (word == 0) {
        if (size->number > kLongestName) return;
        name = At(at, size->number);
        if (!IsCommandName(name)) return;
      }
      at += size->number;
      if (At(at, kCrLf.size()) != kCrLf) return;
      at += kCrLf.size();
    }
    found_ = {.kind = Kind::kFound, .offset = offset, .command = std::move(name)};
  }

  // Returns up to `wanted` bytes at an offset of the file; fewer at the end of the searched range. A read error sets
  // found_, which ends the search.
  Bytes At(uint64_t offset, size_t wanted) {
    wanted = static_cast<size_t>(std::min<uint64_t>(wanted, end_ - offset));
    if (offset < window_at_ || offset + wanted > window_at_ + window_size_) {
      const IoProgress read =
          file_.ReadAt(offset, {window_.data(), static_cast<size_t>(std::min<uint64_t>(kWindow, end_ - offset))});
      if (read.error != kNoError) found_ = {.kind = Kind::kReadError, .error = read.error};
      window_at_ = offset;
      window_size_ = read.bytes;
    }
    return Bytes(window_.data(), window_size_).substr(static_cast<size_t>(offset - window_at_), wanted);
  }

  File& file_;
  const uint64_t begin_;
  const uint64_t end_;
  // How many more arguments the search may examine before it gives up (kUnclear). Limits the time for values that were
  // crafted to look like records within records.
  uint64_t steps_left_;
  LaterRecord found_;
  std::array<char, kWindow> window_;
  uint64_t window_at_ = 0;
  size_t window_size_ = 0;
};

}  // namespace

LaterRecord FindLaterRecord(File& file, uint64_t from, uint64_t end) { return RecordSearch(file, from, end).Run(); }

namespace {

// Writes the bytes in [from, end) of `file` to `copy`, and syncs it.
IoError CopyRange(File& file, uint64_t from, uint64_t end, File& copy) {
  const std::unique_ptr<char[]> chunk(new char[kChunk]);
  for (uint64_t at = from; at < end;) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(kChunk, end - at));
    const IoProgress read = file.ReadAt(at, {chunk.get(), wanted});
    if (read.error != kNoError) return read.error;
    if (read.bytes < wanted) return EIO;
    if (const IoError error = copy.Write({chunk.get(), wanted}).error; error != kNoError) return error;
    at += wanted;
  }
  return copy.Sync();
}

}  // namespace

Result<std::string, IoError> KeepRemovedPart(FileSystem& files, File& file, const std::string& path, uint64_t from,
                                             uint64_t end) {
  constexpr int kMaxCopies = 1000;
  std::string copy_path = path + ".removed";
  auto copy = files.Open(copy_path, FileSystem::Mode::kCreateNew);
  for (int i = 2; !copy && copy.error() == EEXIST && i <= kMaxCopies; ++i) {
    copy_path = StrCat(path, ".removed.", i);
    copy = files.Open(copy_path, FileSystem::Mode::kCreateNew);
  }
  if (!copy) return Failure(copy.error());
  IoError error = CopyRange(file, from, end, *copy.value());
  if (error == kNoError) error = files.SyncDirectory(DirectoryOf(path));
  if (error == kNoError) return copy_path;
  files.Remove(copy_path);
  return Failure(error);
}

std::string TruncationRefusalText(const std::string& path, uint64_t offset, const LaterRecord& later) {
  const std::string cut = std::to_string(offset);
  const bool is_found = later.kind == LaterRecord::Kind::kFound;
  const std::string at = std::to_string(later.offset);
  const std::string what = is_found ? "but a complete record (" + later.command + ") begins at offset " + at +
                                          ". Truncating the file would lose that record."
                                    : "and it is not clear whether complete records follow.";
  return "The file " + path + " is damaged or incomplete after offset " + cut + ", " + what +
         " The file was not changed. Make a backup. If a length " +
         (is_found ? "before offset " + at : "after offset " + cut) +
         " is wrong, correct it. If all the rest is one value that was being written when the server stopped, run: "
         "truncate -s " +
         cut + " " + path;
}

}  // namespace respite
