// VersionMark: the versions of Redis and Valkey that introduced (or deprecated, or removed) a command, an argument or a
// directive.
//
//   "7.0.0"                since Redis 7.0.0, and in every Valkey, because Valkey began as Redis 7.2.4
//   "7.4.0"                since Redis 7.4.0; not in Valkey, because it is later than 7.2.4
//   "valkey:8.1.0"         since Valkey 8.1.0; not in Redis
//   "8.0.0,valkey:9.0.0"   in both, since different versions
//
// An empty mark means all versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "protocol/redis_version.h"

namespace respite {

enum class ServerFamily : uint8_t { kRedis, kValkey };

struct ServerVersion {                         // a version of Redis or Valkey
  ServerFamily family = ServerFamily::kRedis;  // Redis or Valkey
  Version version;                             // the version number, such as 7.2.4

  bool operator==(const ServerVersion&) const = default;
};

// The values of the directive `emulate`: the versions that a server can emulate (see dialect.h).
enum class Emulated : uint8_t {
  kNone,
  kRedis62,
  kRedis70,
  kRedis72,
  kRedis74,
  kRedis80,
  kRedis82,
  kRedis84,
  kRedis86,
  kRedis88,
  kRedis810,
  kValkey72,
  kValkey80,
  kValkey81,
  kValkey90,
  kValkey91,
  kValkey92,
};
inline constexpr size_t kEmulatedCount = 17;

// Valkey began as a copy of this version of Redis, so it has all features up to it.
inline constexpr Version kValkeyBegins = {7, 2, 4};

// Without the directive `emulate`, a server uses the names and formats of this version: Redis 7.2.4.
inline constexpr ServerVersion kDefaultVersion = {ServerFamily::kRedis, kValkeyBegins};

class VersionMark {  // the versions that introduced (or deprecated) a feature: "7.4.0", or "8.0.0,valkey:9.0.0"
 public:
  constexpr VersionMark() = default;
  constexpr VersionMark(std::string_view text) : text_(text) {}  // NOLINT: declarations write versions as texts
  constexpr VersionMark(const char* text) : text_(text) {}       // NOLINT: declarations write versions as texts

  // All functions below, except IsWellFormed and LengthIn, require that IsWellFormed() is true.
  constexpr bool IsWellFormed() const;                      // whether the text is empty or a valid mark
  static constexpr size_t LengthIn(std::string_view text);  // number of bytes at the start of `text` that form a mark

  constexpr bool IsEmpty() const { return text_.empty(); }  // true: no version given (`since`: all have the feature)
  // COMMAND DOCS shows the version number of Redis, or that of Valkey if Redis does not have the feature.
  constexpr std::string_view Shown() const { return Redis().empty() ? Valkey() : Redis(); }  // version in COMMAND DOCS
  constexpr std::string_view ShownBy(ServerFamily family) const {  // the family's number; if none, the other family's
    return family == ServerFamily::kValkey && !Valkey().empty() ? Valkey() : Shown();
  }
  constexpr bool IsIn(const ServerVersion& server) const;  // whether this version has the marked feature; true if empty
  std::string Text() const;  // for users: "7.4.0", "Valkey 9.1.0" or "8.2.0 and Valkey 8.0.0"

 private:
  static constexpr std::string_view kValkey = "valkey:";               // prefix of Valkey's number in a mark
  static constexpr size_t NumberLength(std::string_view text);         // bytes of the "7.4.0" at its start; 0: none
  static constexpr Version ParseVersionNumber(std::string_view text);  // parses "7.4.0" into three numbers

  constexpr std::string_view Redis() const { return text_.substr(0, NumberLength(text_)); }  // Redis' "7.4.0", or empty
  constexpr std::string_view Valkey() const;  // "8.1.0" of Valkey, or empty

  std::string_view text_;
};

// ---------------------------------------------------------------------------------------------------------------------

constexpr std::string_view VersionMark::Valkey() const {  // Valkey's version number, or empty
  const size_t at = text_.find(kValkey);
  return at == text_.npos ? std::string_view() : text_.substr(at + kValkey.size());
}

// Returns the length of the version number at the start of `text`: digits and single dots. An ellipsis "..." is not
// counted.
constexpr size_t VersionMark::NumberLength(std::string_view text) {  // bytes of the "7.4.0" at its start; 0: none
  size_t at = 0;
  while (at < text.size() &&
         (IsDigit(text[at]) || (at > 0 && text[at] == '.' && at + 1 < text.size() && IsDigit(text[at + 1])))) {
    ++at;
  }
  return at;
}

constexpr size_t VersionMark::LengthIn(std::string_view text) {  // bytes at the start of `text` that form a mark
  size_t length = NumberLength(text);
  const std::string_view rest = text.substr(length);
  const size_t comma = length > 0 && rest.starts_with(',') ? 1 : 0;
  if ((length == 0 || comma == 1) && rest.substr(comma).starts_with(kValkey)) {
    length += comma + kValkey.size();
    length += NumberLength(text.substr(length));
  }
  return length;
}

constexpr bool VersionMark::IsWellFormed() const {  // the text is empty or a valid mark
  const bool names_valkey = text_.find(kValkey) != text_.npos;
  return LengthIn(text_) == text_.size() && names_valkey == !Valkey().empty();
}

constexpr Version VersionMark::ParseVersionNumber(std::string_view text) {  // parses "7.4.0" into three numbers
  int parts[3] = {};
  size_t part = 0;
  for (char c : text) {
    if (c == '.') {
      ++part;
    } else if (part < 3) {
      parts[part] = parts[part] * 10 + (c - '0');
    }
  }
  return {parts[0], parts[1], parts[2]};
}

constexpr bool VersionMark::IsIn(const ServerVersion& server) const {  // this version has the marked feature
  if (IsEmpty()) return true;
  const bool is_valkey = server.family == ServerFamily::kValkey;
  if (is_valkey && !Valkey().empty()) return ParseVersionNumber(Valkey()) <= server.version;
  if (Redis().empty()) return false;
  return ParseVersionNumber(Redis()) <= (is_valkey ? kValkeyBegins : server.version);
}

}  // namespace respite
