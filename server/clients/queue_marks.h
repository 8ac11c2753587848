// QueueMarks: in which lists of Clients a session stands, so that nobody looks for it there in vain.
#pragma once

namespace respite {

class Clients;

class QueueMarks {
 private:
  friend class Clients;

  bool to_flush_ = false;   // its replies or messages wait for the end of the Turn
  bool postponed_ = false;  // CLIENT PAUSE holds its request back
  bool continued_ = false;  // its wait is over
};

}  // namespace respite
