// A recording: all bytes that the accepted connections of a server received and sent, in order and with their times.
// The file is text, except for these bytes:
//
//   respite-recording 1 1700000000000000 7
//                                          version of the format; start time in Unix microseconds; the server's seed;
//                                          and the emulated version, if any
//   153 1 open                             microseconds since the start, connection, event
//   201 1 in 14                            14 bytes from the client follow
//   *1
//   $4
//   PING
//
//   260 1 out 7                            7 bytes to the client follow
//   +PONG
//
//   900 1 end                              the client sends no more, or the connection failed
//   910 1 close                            the connection was closed
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

struct RecordedEvent {  // one event of a recorded connection, such as received bytes
  // kOpen: the connection was accepted. kIn: the server received bytes. kOut: the server sent bytes. kEnd: the client
  // sends no more, or the connection failed. kClose: the connection was closed.
  enum class Kind : uint8_t { kOpen, kIn, kOut, kEnd, kClose };

  int64_t at_us = 0;        // time in µs since the start of the recording
  uint64_t connection = 0;  // number of the connection in the recording, from 1
  Kind kind = Kind::kOpen;
  std::string bytes = {};  // bytes that were received or sent, for kIn and kOut

  bool operator==(const RecordedEvent&) const = default;
};

struct RecordingStart {          // what the first line of a recording file says
  int64_t began_us = 0;          // Unix time in µs when the recording began
  std::optional<uint64_t> seed;  // seed of the recorded server; nullopt: an older recording
  std::string emulated = {};     // value of the directive `emulate` on the recorded server; empty: none
};

struct Recording {                    // all bytes that the accepted connections of a server received and sent
  RecordingStart start;               // when the recording began, and properties of the server
  std::vector<RecordedEvent> events;  // the events on all connections, oldest first
};

std::string RecordingHeader(const RecordingStart& start);  // the first line of a recording file
// Appends the first line of an event. If the event has bytes, the caller must append them and kEventEnd.
void AppendEventHeader(std::string& out, int64_t at_us, uint64_t connection,  // appends an event's first line
                       RecordedEvent::Kind kind, size_t bytes);
// The character after the bytes of an event, if it has bytes.
inline constexpr char kEventEnd = '\n';

// Parses a recording. Ignores an incomplete last event, which a crash may leave. Fails if the text is malformed, or if
// a connection has events before it is opened or after it is closed, or is opened twice.
Result<Recording, std::string> ParseRecording(Bytes text);  // parses a recording file, or fails with an error text

}  // namespace respite
