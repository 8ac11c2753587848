// Recorder: records the bytes that connections receive and send, for a Replay (the directive `record`).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/pace.h"
#include "persistence/file_system.h"
#include "server/lab/recording/recording.h"
#include "server/net/byte_stream.h"

namespace respite {

class Recorder {  // records the bytes that connections receive and send (the directive `record`)
 public:
  struct Parts {  // other objects that the recorder uses
    FileSystem& files;
    const Pace& pace;
    Logger& log;
  };
  // Records nothing before Open. All parts must outlive this object.
  explicit Recorder(const Parts& parts) : parts_(parts) {}
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Replaces the file. Only its owner may read it, because it contains passwords. Returns an error text, or nullopt.
  std::optional<std::string> Open(const std::string& path, const RecordingStart& start);
  std::unique_ptr<StreamTap> NewTap();  // receives the bytes of one connection. Must be destroyed before the recorder
  void Flush();  // writes the buffered events to the file. If that fails, logs the error and ends the recording
  // Ends the recording when the server ends. The final disconnections are not recorded.
  void End();

 private:
  class Tap;  // receives the bytes of one connection

  void Add(uint64_t connection, RecordedEvent::Kind kind, Bytes bytes = {});

  const Parts parts_;           // other parts of the server that this class uses
  std::unique_ptr<File> file_;  // null before Open or after an error
  int64_t began_us_ = 0;        // Pace time when the recording began
  std::string unwritten_;       // events that are not in the file yet
  uint64_t connections_ = 0;    // number of connections so far
};

}  // namespace respite
