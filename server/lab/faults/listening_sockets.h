// ListeningSockets: the sockets on which a server accepts connections. A fault of TEST FAULT shuts the sockets, so that
// connections are refused. Class Listener implements this interface.
#pragma once

namespace respite {

class ListeningSockets {  // interface: closes and reopens a server's listening sockets (TEST FAULT)
 public:
  virtual ~ListeningSockets() = default;
  virtual void StopListening() = 0;  // makes the system refuse new connections; the ports stay reserved
  virtual void ListenAgain() = 0;    // accepts connections again after StopListening
};

}  // namespace respite
