// ListeningSockets: the listening sockets of a server, for faults that refuse connections. Listener, which is above
// this room, implements it.
#pragma once

namespace respite {

class ListeningSockets {
 public:
  virtual ~ListeningSockets() = default;
  // Makes the system refuse new connections. The ports stay reserved meanwhile.
  virtual void StopListening() = 0;
  // Does nothing if the sockets are open.
  virtual void ListenAgain() = 0;
};

}  // namespace respite
