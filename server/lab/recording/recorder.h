// Recorder: records the bytes that accepted connections receive and send, for class Replay (the directive `record`).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/real_clock.h"
#include "persistence/file_system.h"
#include "server/lab/recording/recording.h"
#include "server/net/byte_stream.h"

namespace respite {

class Recorder {  // writes all bytes that accepted connections receive and send to a file (directive `record`)
 public:
  struct Parts {                  // other objects that the recorder uses
    FileSystem& files;            // the file system in which the recording is written
    const RealClock& real_clock;  // measures the times of events; TEST CLOCK cannot move it
    Logger& log;
  };
  // Records nothing before Open was called. The objects in `parts` must outlive this one.
  explicit Recorder(const Parts& parts) : parts_(parts) {}
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Begins a recording in this file, and replaces the file if it exists. Only the owner of the file may read it,
  // because it contains passwords. Returns an error text, or nullopt.
  std::optional<std::string> Open(const std::string& path, const RecordingStart& start);
  std::unique_ptr<StreamTap> NewTap();  // records a new connection; the tap must be destroyed before this Recorder
  void Flush();                         // writes the buffered events to the file; after an error, ends the recording
  // Ends the recording. Called when the server ends, before it closes its connections, so that these closings are not
  // recorded.
  void End();

 private:
  class Tap;  // a StreamTap: records the bytes of one connection

  void Add(uint64_t connection, RecordedEvent::Kind kind, Bytes bytes = {});

  const Parts parts_;           // other parts of the server that this class uses
  std::unique_ptr<File> file_;  // null before Open, after End, or after an error
  int64_t began_us_ = 0;        // when the recording began (real time, µs)
  std::string unwritten_;       // events that are not in the file yet
  uint64_t connections_ = 0;    // number of connections recorded so far
};

}  // namespace respite
