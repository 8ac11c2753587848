// ListeningSockets: the sockets on which a server accepts connections. A fault of TEST FAULT makes the sockets stop
// listening, so that the system refuses connections. Class Listener implements this interface.
#pragma once

namespace respite {

class ListeningSockets {  // interface: a server's listening sockets, which TEST FAULT can stop
 public:
  virtual ~ListeningSockets() = default;
  virtual void StopListening() = 0;  // makes the system refuse new connections; the ports stay reserved
  virtual void ListenAgain() = 0;    // accepts connections again after StopListening
};

}  // namespace respite
