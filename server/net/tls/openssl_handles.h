// What OpenSSL made for us, owned; and what it says went wrong. The only header of ours that knows its types, by name.
#pragma once

#include <memory>
#include <string>

struct ssl_ctx_st;
struct ssl_st;

namespace respite {

struct OpenSslDeleter {
  void operator()(ssl_ctx_st* context) const;
  void operator()(ssl_st* connection) const;
};

using SslContextHandle = std::unique_ptr<ssl_ctx_st, OpenSslDeleter>;
using SslHandle = std::unique_ptr<ssl_st, OpenSslDeleter>;

// The first failure of this thread's queue, which is emptied: "error:0A00010B:SSL routines::wrong version number".
std::string TakeOpenSslError();

}  // namespace respite
