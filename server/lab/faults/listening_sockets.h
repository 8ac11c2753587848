// ListeningSockets: the sockets on which a server accepts connections. A fault shuts them to refuse connections. Class
// Listener implements this interface.
#pragma once

namespace respite {

class ListeningSockets {  // interface that shuts and reopens a server's listening sockets, for faults
 public:
  virtual ~ListeningSockets() = default;
  virtual void StopListening() = 0;  // makes the system refuse new connections; the ports stay reserved
  virtual void ListenAgain() = 0;    // undoes StopListening
};

}  // namespace respite
