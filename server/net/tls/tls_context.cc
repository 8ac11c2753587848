#include "server/net/tls/tls_context.h"

#include <openssl/decoder.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace respite {

namespace {

using Objection = std::optional<std::string>;

struct KeyPair {
  const std::string& certificate_file;
  const std::string& key_file;
  const std::string& password;
};

const char* OrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

// Returns the OpenSSL options that disable all TLS versions that are not in `list` (tls-protocols). An empty list
// disables only TLS 1.0 and 1.1. Returns nullopt if a word of the list is not a TLS version.
std::optional<uint64_t> ProtocolsTurnedOff(const std::string& list) {
  if (list.empty()) return SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1;
  uint64_t off = SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_TLSv1_2 | SSL_OP_NO_TLSv1_3;
  for (Bytes word : SplitOn(list, ' ')) {
    if (EqualsIgnoreCase(word, "tlsv1")) {
      off &= ~uint64_t{SSL_OP_NO_TLSv1};
    } else if (EqualsIgnoreCase(word, "tlsv1.1")) {
      off &= ~uint64_t{SSL_OP_NO_TLSv1_1};
    } else if (EqualsIgnoreCase(word, "tlsv1.2")) {
      off &= ~uint64_t{SSL_OP_NO_TLSv1_2};
    } else if (EqualsIgnoreCase(word, "tlsv1.3")) {
      off &= ~uint64_t{SSL_OP_NO_TLSv1_3};
    } else {
      return std::nullopt;
    }
  }
  return off;
}

// A callback of OpenSSL: gives the password of the private key. Without this callback OpenSSL would ask for the
// password at the terminal.
int GivePassword(char* target, int room, int /*writing*/, void* password) {
  const Bytes text = *static_cast<const std::string*>(password);
  if (text.empty() || text.size() > static_cast<size_t>(room)) return -1;
  return static_cast<int>(text.copy(target, text.size()));
}

Objection LoadKeyPair(SSL_CTX* context, const Folder& folder, const KeyPair& pair) {
  SSL_CTX_set_default_passwd_cb(context, GivePassword);
  std::string password = pair.password;
  SSL_CTX_set_default_passwd_cb_userdata(context, &password);
  Objection objection;
  if (SSL_CTX_use_certificate_chain_file(context, folder.Resolve(pair.certificate_file).c_str()) <= 0) {
    objection = "Failed to load certificate: " + pair.certificate_file + ": " + TakeOpenSslError();
  } else if (SSL_CTX_use_PrivateKey_file(context, folder.Resolve(pair.key_file).c_str(), SSL_FILETYPE_PEM) <= 0) {
    objection = "Failed to load private key: " + pair.key_file + ": " + TakeOpenSslError();
  }
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);  // the password is destroyed now
  return objection;
}

Objection Trust(SSL_CTX* context, const Settings& settings) {
  const std::string file = settings.folder->Resolve(settings.tls_ca_cert_file);
  const std::string directory = settings.folder->Resolve(settings.tls_ca_cert_dir);
  if (file.empty() && directory.empty()) return std::nullopt;
  if (SSL_CTX_load_verify_locations(context, OrNull(file), OrNull(directory)) > 0) return std::nullopt;
  return "Failed to configure CA certificate(s) file/directory: " + TakeOpenSslError();
}

Objection ChooseCiphers(SSL_CTX* context, const Settings& settings) {
  const std::string& ciphers = settings.tls_ciphers;
  if (!ciphers.empty() && SSL_CTX_set_cipher_list(context, ciphers.c_str()) == 0) {
    return "Failed to configure ciphers: " + ciphers;
  }
  const std::string& suites = settings.tls_ciphersuites;
  if (!suites.empty() && SSL_CTX_set_ciphersuites(context, suites.c_str()) == 0) {
    return "Failed to configure ciphersuites: " + suites;
  }
  return std::nullopt;
}

Objection LoadDhParameters(SSL_CTX* context, const Settings& settings) {
  const std::string& path = settings.tls_dh_params_file;
  if (path.empty()) {
    SSL_CTX_set_dh_auto(context, 1);
    return std::nullopt;
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(settings.folder->Resolve(path).c_str(), "re"),
                                                   &std::fclose);
  if (file == nullptr) return "Failed to load " + path + ": " + std::strerror(errno);
  EVP_PKEY* parameters = nullptr;
  const std::unique_ptr<OSSL_DECODER_CTX, void (*)(OSSL_DECODER_CTX*)> decoder(
      OSSL_DECODER_CTX_new_for_pkey(&parameters, "PEM", nullptr, "DH", OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS, nullptr,
                                    nullptr),
      &OSSL_DECODER_CTX_free);
  if (decoder == nullptr || OSSL_DECODER_from_fp(decoder.get(), file.get()) == 0) {
    return path + ": failed to read DH params.";
  }
  if (SSL_CTX_set0_tmp_dh_pkey(context, parameters) > 0) return std::nullopt;  // the context owns them now
  EVP_PKEY_free(parameters);
  return "Failed to load DH params file: " + path + ": " + TakeOpenSslError();
}

// Turns the resumption of TLS sessions on or off (tls-session-caching). Unlike in Redis, "no" disables all resumption.
// In Redis, sessions can then still be resumed by tickets.
void KeepSessions(SSL_CTX* context, const Settings& settings) {
  if (settings.tls_session_caching) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_SERVER);
    SSL_CTX_sess_set_cache_size(context, settings.tls_session_cache_size);
    SSL_CTX_set_timeout(context, settings.tls_session_cache_timeout);
  } else {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
  }
}

Result<SslContextHandle, std::string> MakeContext(const Settings& settings, const KeyPair& pair) {
  const std::optional<uint64_t> protocols_off = ProtocolsTurnedOff(settings.tls_protocols);
  if (!protocols_off) {
    return Failure<std::string>(
        "Invalid tls-protocols specified. Use a combination of 'TLSv1', 'TLSv1.1', 'TLSv1.2' and 'TLSv1.3'.");
  }
  ERR_clear_error();
  SslContextHandle context(SSL_CTX_new(TLS_method()));
  if (context == nullptr) return Failure(TakeOpenSslError());
  SSL_CTX_set_options(context.get(), *protocols_off | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // PARTIAL_WRITE: SSL_write may send only the beginning of the reply.
  // ACCEPT_MOVING_WRITE_BUFFER: SSL_write may be repeated after the rest of the reply has grown and moved in memory.
  // RELEASE_BUFFERS: idle connections free their buffers (35 KB).
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context.get(), 1);  // reads header and content of a record with one system call
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  Objection objection = LoadKeyPair(context.get(), *settings.folder, pair);
  if (!objection) objection = Trust(context.get(), settings);
  if (!objection) objection = ChooseCiphers(context.get(), settings);
  if (objection) return Failure(std::move(*objection));
  return context;
}

}  // namespace

Result<SslContextHandle, std::string> MakeTlsServerContext(const Settings& settings) {
  auto context = MakeContext(settings, {settings.tls_cert_file, settings.tls_key_file, settings.tls_key_file_pass});
  if (!context) return context;
  SSL_CTX* made = context.value().get();
  KeepSessions(made, settings);
  if (settings.tls_prefer_server_ciphers) SSL_CTX_set_options(made, SSL_OP_CIPHER_SERVER_PREFERENCE);
  if (Objection objection = LoadDhParameters(made, settings)) return Failure(std::move(*objection));
  return context;
}

Result<SslContextHandle, std::string> MakeTlsClientContext(const Settings& settings) {
  if (settings.tls_client_cert_file.empty() || settings.tls_client_key_file.empty()) {
    return MakeContext(settings, {settings.tls_cert_file, settings.tls_key_file, settings.tls_key_file_pass});
  }
  return MakeContext(settings,
                     {settings.tls_client_cert_file, settings.tls_client_key_file, settings.tls_client_key_file_pass});
}

}  // namespace respite
