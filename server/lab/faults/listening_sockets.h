// ListeningSockets: the listening sockets of a server, for faults that refuse connections. Listener, which is above
// this room, implements it.
#pragma once

namespace respite {

class ListeningSockets {  // of a server, for faults that refuse connections
 public:
  virtual ~ListeningSockets() = default;
  virtual void StopListening() = 0;  // makes the system refuse new connections; the ports stay reserved
  virtual void ListenAgain() = 0;    // undoes StopListening
};

}  // namespace respite
