// A recording: what all connections of a server received and sent, in order and with its time. The file is text, but
// for the bytes themselves:
//
//   respite-recording 1 1700000000000000 7 the time of its beginning, in Unix microseconds; the server's seed; and
//                                          the version that it emulated, if any
//   153 1 open                             microseconds since then, the connection, what happened
//   201 1 in 14                            so many bytes came from the client, and follow
//   *1
//   $4
//   PING
//
//   260 1 out 7
//   +PONG
//
//   900 1 end                              the client sends no more
//   910 1 close
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

struct RecordedEvent {
  enum class Kind : uint8_t { kOpen, kIn, kOut, kEnd, kClose };

  int64_t at_us = 0;  // since the beginning
  uint64_t connection = 0;
  Kind kind = Kind::kOpen;
  std::string bytes = {};  // of kIn and kOut

  bool operator==(const RecordedEvent&) const = default;
};

struct RecordingStart {
  int64_t began_us = 0;          // Unix time
  std::optional<uint64_t> seed;  // of the server that was recorded; older recordings have none
  std::string emulated = {};     // the value of its `emulate`
};

struct Recording {
  RecordingStart start;
  std::vector<RecordedEvent> events;
};

std::string RecordingHead(const RecordingStart& start);
// Appends what stands before the bytes of an event, or instead of them.
void AppendEventHead(std::string& out, int64_t at_us, uint64_t connection, RecordedEvent::Kind kind, size_t bytes);
// Behind the bytes.
inline constexpr char kEventEnd = '\n';

// Reads a file. What a crash has torn off at its end is missing. Each connection is opened once, before all else that
// happens to it, and nothing happens after it is closed. Fails with the reason.
Result<Recording, std::string> ParseRecording(Bytes text);

}  // namespace respite
