// A recording: the bytes that all connections of a server received and sent, in order and with their times. The file is
// text, except for these bytes:
//
//   respite-recording 1 1700000000000000 7 start time in Unix microseconds; the server's seed; and the emulated
//                                          version, if any
//   153 1 open                             microseconds since the start, connection, event
//   201 1 in 14                            14 bytes from the client follow
//   *1
//   $4
//   PING
//
//   260 1 out 7                            7 bytes to the client follow
//   +PONG
//
//   900 1 end                              the client has closed its sending side
//   910 1 close
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

struct RecordedEvent {  // something that happened on one connection of a recorded server
  enum class Kind : uint8_t { kOpen, kIn, kOut, kEnd, kClose };

  int64_t at_us = 0;        // time since the start of the recording
  uint64_t connection = 0;  // number of the connection in the recording
  Kind kind = Kind::kOpen;
  std::string bytes = {};  // bytes that were received or sent, for kIn and kOut

  bool operator==(const RecordedEvent&) const = default;
};

struct RecordingStart {          // what the first line of a recording says
  int64_t began_us = 0;          // Unix time when the recording began
  std::optional<uint64_t> seed;  // seed of the recorded server; nullopt: an older recording
  std::string emulated = {};     // the directive `emulate` of the recorded server
};

struct Recording {                    // the bytes that all connections of a server received and sent
  RecordingStart start;               // when the recording began, and by which server
  std::vector<RecordedEvent> events;  // oldest first
};

std::string RecordingHeader(const RecordingStart& start);  // the first line of the file
// Appends the line with which an event begins. The caller must append the bytes of the event, if any, after it.
void AppendEventHeader(std::string& out, int64_t at_us, uint64_t connection, RecordedEvent::Kind kind, size_t bytes);
// If an event has bytes, this character follows them.
inline constexpr char kEventEnd = '\n';

// Parses a recording. Ignores an incomplete last event, which a crash may leave. Returns an error message if a
// connection has events before it is opened or after it is closed, or is opened twice.
Result<Recording, std::string> ParseRecording(Bytes text);  // parses a file; error: text

}  // namespace respite
