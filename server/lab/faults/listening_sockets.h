// ListeningSockets: where the clients of a server arrive, for faults that keep them out. Its Listener implements it,
// which is above this room.
#pragma once

namespace respite {

class ListeningSockets {
 public:
  virtual ~ListeningSockets() = default;
  // From now on the system refuses new connections; nobody else gets the ports meanwhile.
  virtual void StopListening() = 0;
  // Nothing happens if they are open.
  virtual void ListenAgain() = 0;
};

}  // namespace respite
