#include "server/net/tls/tls.h"

#include <openssl/ssl.h>

#include <utility>

#include "server/net/tls/tls_context.h"
#include "server/net/tls/tls_stream.h"

namespace respite {

namespace {

int VerifyMode(TlsAuthClients clients) {
  switch (clients) {
    case TlsAuthClients::kNo:
      return SSL_VERIFY_NONE;
    case TlsAuthClients::kOptional:
      return SSL_VERIFY_PEER;
    case TlsAuthClients::kYes:
      break;
  }
  return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
}

// Returns an error text if a necessary directive is not set, otherwise nullopt. Does not look at the files.
std::optional<std::string> Missing(const Settings& settings) {
  if (settings.tls_cert_file.empty()) return "No tls-cert-file configured!";
  if (settings.tls_key_file.empty()) return "No tls-key-file configured!";
  const bool verifies =
      settings.tls_auth_clients != TlsAuthClients::kNo || settings.tls_cluster || settings.tls_replication;
  if (verifies && settings.tls_ca_cert_file.empty() && settings.tls_ca_cert_dir.empty()) {
    return "Either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster, tls-replication or "
           "tls-auth-clients are enabled!";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Tls::Configure(const Settings& settings) {
  if (auto reason = Missing(settings)) return reason;
  auto server = MakeTlsServerContext(settings);
  if (!server) return std::move(server).error();
  auto client = MakeTlsClientContext(settings);
  if (!client) return std::move(client).error();
  server_context_ = std::move(server).value();
  client_context_ = std::move(client).value();
  certificates_.reset();
  return std::nullopt;
}

const TlsCertificates& Tls::Certificates(const Settings& settings) {
  if (!certificates_) {
    certificates_ = IsConfigured() ? CollectTlsCertificates(settings, server_context_.get(), client_context_.get())
                                   : TlsCertificates();
  }
  return *certificates_;
}

void Tls::Drop() {
  server_context_.reset();
  client_context_.reset();
  certificates_.reset();
}

std::unique_ptr<TlsStream> Tls::Accept(int descriptor, TlsAuthClients clients) const {
  SslHandle connection(SSL_new(server_context_.get()));
  if (connection == nullptr) return nullptr;
  SSL_set_verify(connection.get(), VerifyMode(clients), nullptr);
  // Makes tls-auth-clients part of the session ID context. So a session that began without a certificate cannot be
  // resumed after certificates have become required.
  const auto kind = static_cast<unsigned char>(clients);
  SSL_set_session_id_context(connection.get(), &kind, sizeof kind);
  SSL_set_accept_state(connection.get());
  return std::make_unique<TlsStream>(std::move(connection), descriptor);
}

std::unique_ptr<TlsStream> Tls::Connect(int descriptor) const {
  SslHandle connection(SSL_new(client_context_.get()));
  if (connection == nullptr) return nullptr;
  SSL_set_connect_state(connection.get());
  return std::make_unique<TlsStream>(std::move(connection), descriptor);
}

}  // namespace respite
