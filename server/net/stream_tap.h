// StreamTap: gets a copy of the unencrypted bytes of one connection.
#pragma once

#include "base/bytes.h"

namespace respite {

class StreamTap {
 public:
  // Destroyed when the connection ends.
  virtual ~StreamTap() = default;
  virtual void OnReceived(Bytes bytes) = 0;
  virtual void OnSent(Bytes bytes) = 0;
  // The peer sends no more bytes.
  virtual void OnPeerEnded() = 0;
};

}  // namespace respite
