// QueueFlags: which of Clients' queues contain this session, so that removal searches only those.
#pragma once

namespace respite {

class Clients;

class QueueFlags {
 private:
  friend class Clients;

  bool to_flush_ = false;   // has replies or messages to send at the end of the Turn
  bool paused_ = false;     // its request is paused by CLIENT PAUSE
  bool unblocked_ = false;  // its wait has ended
};

}  // namespace respite
