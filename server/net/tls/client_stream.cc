#include "server/net/tls/client_stream.h"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace respite {

namespace {

bool Trust(SSL_CTX* context, const ClientTls& tls) {
  SSL_CTX_set_verify(context, tls.is_insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  return (tls.cacert.empty() ? SSL_CTX_set_default_verify_paths(context)
                             : SSL_CTX_load_verify_locations(context, tls.cacert.c_str(), nullptr)) == 1;
}

bool Present(SSL_CTX* context, const ClientTls& tls) {
  if (tls.cert.empty()) return true;
  const std::string& key = tls.key.empty() ? tls.cert : tls.key;
  return SSL_CTX_use_certificate_chain_file(context, tls.cert.c_str()) == 1 &&
         SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) == 1;
}

std::string FailedHandshake(SSL* ssl) {
  const long verdict = SSL_get_verify_result(ssl);
  return verdict == X509_V_OK ? TakeOpenSslError() : X509_verify_cert_error_string(verdict);
}

}  // namespace

std::optional<std::string> ClientStream::Encrypt(const ClientTls& tls) {
  context_.reset(SSL_CTX_new(TLS_client_method()));
  if (context_ == nullptr || !Trust(context_.get(), tls) || !Present(context_.get(), tls)) return TakeOpenSslError();
  ssl_.reset(SSL_new(context_.get()));
  const bool is_made = ssl_ != nullptr && SSL_set_fd(ssl_.get(), socket_.Get()) == 1 &&
                       (tls.sni.empty() || SSL_set_tlsext_host_name(ssl_.get(), tls.sni.c_str()) == 1);
  if (!is_made) return TakeOpenSslError();
  if (SSL_connect(ssl_.get()) != 1) return "SSL_connect failed: " + FailedHandshake(ssl_.get());
  return std::nullopt;
}

bool ClientStream::Send(Bytes bytes) {
  while (!bytes.empty()) {
    const int size = static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX));
    const ssize_t sent = ssl_ == nullptr ? send(socket_.Get(), bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                         : SSL_write(ssl_.get(), bytes.data(), size);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

ssize_t ClientStream::Receive(std::span<char> target) {
  if (ssl_ == nullptr) return recv(socket_.Get(), target.data(), target.size(), 0);
  return SSL_read(ssl_.get(), target.data(), static_cast<int>(std::min<size_t>(target.size(), INT_MAX)));
}

bool ClientStream::HasEnded() const {
  char byte = 0;
  const ssize_t bytes = recv(socket_.Get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace respite
