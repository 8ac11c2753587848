// Owners of OpenSSL's objects, and OpenSSL's error text. No other header of this project names OpenSSL's types.
#pragma once

#include <memory>
#include <string>

struct ssl_ctx_st;
struct ssl_st;

namespace respite {

struct OpenSslDeleter {  // frees OpenSSL's objects, for std::unique_ptr
  void operator()(ssl_ctx_st* context) const;
  void operator()(ssl_st* connection) const;
};

using SslContextHandle = std::unique_ptr<ssl_ctx_st, OpenSslDeleter>;
using SslHandle = std::unique_ptr<ssl_st, OpenSslDeleter>;

// Returns the first error of this thread, for example "error:0A00010B:SSL routines::wrong version number".
std::string TakeOpenSslError();  // this thread's first error as text; clears all of them

}  // namespace respite
