// StreamTap: hears what goes over one connection, as it was before TLS and after it.
#pragma once

#include "base/bytes.h"

namespace respite {

class StreamTap {
 public:
  // The connection ends.
  virtual ~StreamTap() = default;
  virtual void OnReceived(Bytes bytes) = 0;
  virtual void OnSent(Bytes bytes) = 0;
  // The peer sends no more.
  virtual void OnPeerEnded() = 0;
};

}  // namespace respite
