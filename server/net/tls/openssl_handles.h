// Smart pointers to OpenSSL's objects, and OpenSSL's error text. The header declares OpenSSL's types itself, so that
// the files that include it need no headers of OpenSSL.
#pragma once

#include <memory>
#include <string>

struct ssl_ctx_st;
struct ssl_st;

namespace respite {

struct OpenSslDeleter {  // lets std::unique_ptr free OpenSSL's objects
  void operator()(ssl_ctx_st* context) const;
  void operator()(ssl_st* connection) const;
};

using SslContextHandle = std::unique_ptr<ssl_ctx_st, OpenSslDeleter>;
using SslHandle = std::unique_ptr<ssl_st, OpenSslDeleter>;

// Returns the text of this thread's first error, for example "error:0A00010B:SSL routines::wrong version number". Then
// clears all errors of the thread.
std::string TakeOpenSslError();  // the first OpenSSL error of this thread, as text; clears all errors

}  // namespace respite
