#include "server/net/tls/openssl_handles.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>

namespace respite {

void OpenSslDeleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void OpenSslDeleter::operator()(ssl_st* connection) const { SSL_free(connection); }

std::string TakeOpenSslError() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

}  // namespace respite
