#include "persistence/file_head.h"

#include <array>

#include "base/bytes.h"
#include "persistence/rdb_format.h"

namespace respite {

namespace {

using namespace std::string_view_literals;

constexpr size_t kHeadBytes = 16;

struct KnownHead {
  Bytes magic;
  const char* what;
};

constexpr std::array<KnownHead, 8> kKnownHeads = {{{"\x1f\x8b"sv, "compressed by gzip"},
                                                   {"\x28\xb5\x2f\xfd"sv, "compressed by zstd"},
                                                   {"\xfd"
                                                    "7zXZ"sv,
                                                    "compressed by xz"},
                                                   {"BZh"sv, "compressed by bzip2"},
                                                   {"\x04\x22\x4d\x18"sv, "compressed by lz4"},
                                                   {"PK\x03\x04"sv, "a zip archive"},
                                                   {"file "sv, "the manifest of an append-only file"},
                                                   {"\0\0\0\0"sv, "filled with zero bytes, as after a power failure"}}};

std::string NameOf(Bytes head) {
  for (const KnownHead& known : kKnownHeads) {
    if (head.starts_with(known.magic)) return known.what;
  }
  return "neither records nor a snapshot: it begins with " + Quoted(head);
}

}  // namespace

Result<FileFormat, IoError> DetectFileFormat(File& file) {
  using Kind = FileFormat::Kind;
  std::array<char, kHeadBytes> bytes;
  const IoProgress read = file.ReadAt(0, bytes);
  if (read.error != kNoError) return Failure(read.error);
  const Bytes head(bytes.data(), read.bytes);
  if (head.empty()) return FileFormat{Kind::kEmpty, "empty"};
  if (head.starts_with(rdb::kSignature)) {
    const Bytes magic = head.substr(0, rdb::kSignature.size() + rdb::kVersionDigits);
    return FileFormat{Kind::kRdb, "a snapshot of Redis (" + std::string(magic) + ")"};
  }
  if (head.starts_with(rdb::kValkeySignature)) {
    const Bytes magic = head.substr(0, rdb::kValkeySignature.size() + rdb::kValkeyVersionDigits);
    return FileFormat{Kind::kRdb, "a snapshot of Valkey (" + std::string(magic) + ")"};
  }
  if (head[0] == '*' || head[0] == '#') return FileFormat{Kind::kRecords, "an append-only file"};
  return FileFormat{Kind::kOther, NameOf(head)};
}

}  // namespace respite
