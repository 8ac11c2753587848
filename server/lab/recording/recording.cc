#include "server/lab/recording/recording.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/number_text.h"
#include "base/str_cat.h"

namespace respite {

namespace {

using Kind = RecordedEvent::Kind;

constexpr Bytes kMark = "respite-recording";
constexpr Bytes kVersion = "1";
constexpr int64_t kMaxUs = int64_t{1} << 60;
constexpr std::array<Bytes, 5> kNames = {"open", "in", "out", "end", "close"};

std::optional<Kind> KindNamed(Bytes name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Kind>(found - kNames.begin());
}

bool HasBytes(Kind kind) { return kind == Kind::kIn || kind == Kind::kOut; }

class RecordingReader {
 public:
  explicit RecordingReader(Bytes text) : rest_(text) {}

  Result<Recording, std::string> Read() {
    Recording recording;
    if (auto reason = ReadHead(recording)) return Failure(std::move(*reason));
    for (;;) {
      auto event = ReadEvent();
      if (!event.ok()) return Failure(StrCat("line ", line_, ": ", std::move(event).error()));
      if (!event.value()) return recording;
      recording.events.push_back(std::move(*event.value()));
    }
  }

 private:
  // Removes the next line from the text and returns it. Returns nullopt if the rest of the text has no line end.
  std::optional<Bytes> TakeLine() {
    const size_t end = rest_.find('\n');
    if (end == Bytes::npos) return std::nullopt;
    const Bytes line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++line_;
    return line;
  }

  std::optional<std::string> ReadHead(Recording& recording) {
    const auto line = TakeLine();
    const auto words = SplitOn(line.value_or(Bytes()), ' ');
    if (words.size() < 3 || words.size() > 5 || words[0] != kMark) return "is no recording";
    if (words[1] != kVersion) return "is a recording of version " + std::string(words[1]) + ", which is unknown here";
    const auto began_us = ParseInteger(words[2]);
    if (!began_us || *began_us < 0 || *began_us > kMaxUs) return "has no time in its first line";
    recording.start.began_us = *began_us;
    if (words.size() == 3) return std::nullopt;
    recording.start.seed = ParseUnsigned(words[3]);
    if (!recording.start.seed) return "has a seed in its first line that is none";
    if (words.size() > 4) recording.start.emulated = words[4];
    return std::nullopt;
  }

  // Reads the next event. Returns nullopt at the end of the file, and also for an incomplete last event.
  Result<std::optional<RecordedEvent>, std::string> ReadEvent();

  // Returns false if the connection cannot have this event now, for example because it is not open. Otherwise notes
  // whether the connection is open after the event.
  bool MayHappen(Kind kind, uint64_t connection) {
    if (kind == Kind::kOpen) return connection > newest_ && open_.insert(newest_ = connection).second;
    return kind == Kind::kClose ? open_.erase(connection) != 0 : open_.contains(connection);
  }

  Bytes rest_;
  uint64_t newest_ = 0;  // number of the newest connection; numbers increase
  std::set<uint64_t> open_;
  size_t line_ = 0;
  int64_t last_us_ = 0;
};

Result<std::optional<RecordedEvent>, std::string> RecordingReader::ReadEvent() {
  const auto line = TakeLine();
  if (!line) return std::optional<RecordedEvent>();
  const auto words = SplitOn(*line, ' ');
  const auto kind = words.size() < 3 ? std::nullopt : KindNamed(words[2]);
  if (!kind || words.size() != (HasBytes(*kind) ? 4 : 3)) return Failure("'" + std::string(*line) + "' is no event");
  const auto at_us = ParseInteger(words[0]);
  const auto connection = ParseInteger(words[1]);
  const auto size = HasBytes(*kind) ? ParseInteger(words[3]) : std::optional<int64_t>(0);
  if (!at_us || *at_us < last_us_ || *at_us > kMaxUs || !connection || *connection < 0 || !size || *size < 0) {
    return Failure("'" + std::string(*line) + "' has a number that cannot be");
  }
  last_us_ = *at_us;
  RecordedEvent event{.at_us = *at_us, .connection = static_cast<uint64_t>(*connection), .kind = *kind};
  if (!MayHappen(event.kind, event.connection)) {
    return Failure("'" + std::string(*line) + "' cannot happen to this connection now");
  }
  if (!HasBytes(*kind)) return std::optional(std::move(event));
  const auto bytes = static_cast<size_t>(*size);
  if (rest_.size() <= bytes) return std::optional<RecordedEvent>();  // truncated
  if (rest_[bytes] != kEventEnd) return Failure("no line ends behind the bytes of this event");
  event.bytes = rest_.substr(0, bytes);
  line_ += static_cast<size_t>(std::ranges::count(event.bytes, '\n')) + 1;
  rest_.remove_prefix(bytes + 1);
  return std::optional(std::move(event));
}

}  // namespace

std::string RecordingHeader(const RecordingStart& start) {
  std::string head(kMark);
  head.append(" ").append(kVersion).append(" ").append(std::to_string(start.began_us));
  if (start.seed) head.append(" ").append(std::to_string(*start.seed));
  if (start.seed && !start.emulated.empty()) head.append(" ").append(start.emulated);
  return head + "\n";
}

void AppendEventHeader(std::string& out, int64_t at_us, uint64_t connection, RecordedEvent::Kind kind, size_t bytes) {
  out += std::to_string(at_us);
  out += ' ';
  out += std::to_string(connection);
  out += ' ';
  out += kNames[static_cast<size_t>(kind)];
  if (HasBytes(kind)) out.append(" ").append(std::to_string(bytes));
  out += '\n';
}

Result<Recording, std::string> ParseRecording(Bytes text) { return RecordingReader(text).Read(); }

}  // namespace respite
