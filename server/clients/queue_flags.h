// QueueFlags: in which lists of Clients a session stands, so that nobody looks for it there in vain.
#pragma once

namespace respite {

class Clients;

class QueueFlags {
 private:
  friend class Clients;

  bool to_flush_ = false;   // its replies or messages wait for the end of the Turn
  bool paused_ = false;     // CLIENT PAUSE holds its request back
  bool unblocked_ = false;  // its wait is over
};

}  // namespace respite
