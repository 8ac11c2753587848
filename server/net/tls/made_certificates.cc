#include "server/net/tls/made_certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "server/net/tls/openssl_handles.h"

namespace respite {

namespace {

constexpr long kDay_s = 24L * 60 * 60;
constexpr long kValid_s = 3650 * kDay_s;
constexpr int kVersion3 = 2;  // X.509 counts versions from 0
constexpr size_t kSerialBytes = 8;
constexpr mode_t kKeyMode = 0644;  // tests of other users must read the keys

struct Deleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter>;
using Certificate = std::unique_ptr<X509, Deleter>;
using File = std::unique_ptr<std::FILE, Deleter>;

struct Identity {
  Key key;
  Certificate certificate;
};

struct Extension {
  int id;
  const char* value;
};

constexpr std::array kOfAuthority = {Extension{NID_basic_constraints, "critical,CA:TRUE"},
                                     Extension{NID_key_usage, "critical,keyCertSign,cRLSign"}};
constexpr std::array kOfServer = {Extension{NID_basic_constraints, "CA:FALSE"},
                                  Extension{NID_subject_alt_name, "DNS:localhost,DNS:*,IP:127.0.0.1,IP:::1"}};
constexpr std::array kOfClient = {Extension{NID_basic_constraints, "CA:FALSE"},
                                  Extension{NID_ext_key_usage, "clientAuth"}};

bool SetSerial(X509* certificate) {
  const std::unique_ptr<BIGNUM, Deleter> number(BN_new());
  return BN_rand(number.get(), 8 * kSerialBytes - 1, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool SetName(X509* certificate, const std::string& name) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(name.data());
  return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, bytes,
                                    static_cast<int>(name.size()), -1, 0) == 1;
}

bool AddExtensions(X509* certificate, std::span<const Extension> extensions) {
  for (const Extension& wanted : extensions) {
    const std::unique_ptr<X509_EXTENSION, Deleter> made(X509V3_EXT_conf_nid(nullptr, nullptr, wanted.id, wanted.value));
    if (made == nullptr || X509_add_ext(certificate, made.get(), -1) != 1) return false;
  }
  return true;
}

// Makes a key, and a certificate that `issuer` signs. If `issuer` is null, the certificate is self-signed. Returns
// nullopt on failure.
std::optional<Identity> Issue(const std::string& name, std::span<const Extension> extensions, const Identity* issuer) {
  Identity made{Key(EVP_EC_gen("P-256")), Certificate(X509_new())};
  X509* const certificate = made.certificate.get();
  if (made.key == nullptr || certificate == nullptr) return std::nullopt;
  const Identity& signer = issuer == nullptr ? made : *issuer;
  const bool is_made = X509_set_version(certificate, kVersion3) == 1 && SetSerial(certificate) &&
                       X509_gmtime_adj(X509_getm_notBefore(certificate), -kDay_s) != nullptr &&
                       X509_gmtime_adj(X509_getm_notAfter(certificate), kValid_s) != nullptr &&
                       SetName(certificate, name) &&
                       X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate.get())) == 1 &&
                       X509_set_pubkey(certificate, made.key.get()) == 1 && AddExtensions(certificate, extensions) &&
                       X509_sign(certificate, signer.key.get(), EVP_sha256()) > 0;
  return is_made ? std::optional(std::move(made)) : std::nullopt;
}

bool Write(const Identity& identity, const std::string& path) {
  const File key(std::fopen((path + ".key").c_str(), "we"));
  const File certificate(std::fopen((path + ".crt").c_str(), "we"));
  return key != nullptr && certificate != nullptr && fchmod(fileno(key.get()), kKeyMode) == 0 &&
         PEM_write_PrivateKey(key.get(), identity.key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1 &&
         PEM_write_X509(certificate.get(), identity.certificate.get()) == 1;
}

}  // namespace

std::optional<std::string> MakeCertificates(const std::string& folder, std::span<const std::string> client_names) {
  std::error_code error;
  if (std::filesystem::exists(folder + "/ca.crt", error)) return std::nullopt;
  std::filesystem::create_directories(folder, error);
  const auto failed = [&] { return "Cannot make certificates in " + folder + ": " + TakeOpenSslError(); };
  const auto authority = Issue("Respite test authority", kOfAuthority, nullptr);
  if (!authority) return failed();
  const auto put = [&](const std::string& name, const std::string& common_name, std::span<const Extension> kind) {
    const auto made = Issue(common_name, kind, &*authority);
    return made && Write(*made, folder + "/" + name);
  };
  bool is_done = put("redis", "localhost", kOfServer) && put("client", "client", kOfClient);
  for (const std::string& name : client_names) is_done = is_done && put(name, name, kOfClient);
  // Writes ca.crt last, because the next call takes its existence as a sign that all files exist.
  return is_done && Write(*authority, folder + "/ca") ? std::nullopt : std::optional(failed());
}

}  // namespace respite
