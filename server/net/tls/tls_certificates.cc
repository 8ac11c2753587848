#include "server/net/tls/tls_certificates.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace respite {

namespace {

std::string SerialOf(const X509* certificate) {
  const std::unique_ptr<BIGNUM, void (*)(BIGNUM*)> number(
      ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr), &BN_free);
  if (number == nullptr) return "none";
  char* digits = BN_bn2hex(number.get());
  if (digits == nullptr) return "none";
  std::string text = digits;
  OPENSSL_free(digits);
  return text;
}

int64_t ExpiryOf(const X509* certificate) {
  std::tm moment{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &moment) != 1) return 0;
  return timegm(&moment);
}

CertificateFacts FactsOf(const X509* certificate) {
  if (certificate == nullptr) return {};
  return {SerialOf(certificate), ExpiryOf(certificate)};
}

void KeepEarlier(CertificateFacts& earliest, const X509* certificate) {
  CertificateFacts facts = FactsOf(certificate);
  if (earliest.serial == "none" || facts.expires_at_s < earliest.expires_at_s) earliest = std::move(facts);
}

void AddFromStore(CertificateFacts& earliest, const SSL_CTX* context) {
  const STACK_OF(X509_OBJECT)* objects = X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
    const X509* certificate = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));
    if (certificate != nullptr) KeepEarlier(earliest, certificate);
  }
}

void AddFromFile(CertificateFacts& earliest, const std::string& path) {
  const std::unique_ptr<BIO, void (*)(BIO*)> file(BIO_new_file(path.c_str(), "r"), &BIO_free_all);
  if (file == nullptr) return;
  while (true) {
    const std::unique_ptr<X509, void (*)(X509*)> certificate(PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr),
                                                             &X509_free);
    if (certificate == nullptr) return;
    KeepEarlier(earliest, certificate.get());
  }
}

void AddFromDirectory(CertificateFacts& earliest, const std::string& path) {
  std::error_code error;
  std::filesystem::directory_iterator at(path, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (at->is_regular_file(error)) AddFromFile(earliest, at->path().string());
  }
}

}  // namespace

TlsCertificates CollectTlsCertificates(const Settings& settings, SSL_CTX* server_context, SSL_CTX* client_context) {
  TlsCertificates all;
  all.server = FactsOf(SSL_CTX_get0_certificate(server_context));
  if (!settings.tls_client_cert_file.empty()) all.client = FactsOf(SSL_CTX_get0_certificate(client_context));
  AddFromStore(all.ca, server_context);
  if (!settings.tls_ca_cert_dir.empty()) {
    AddFromDirectory(all.ca, settings.folder->Resolve(settings.tls_ca_cert_dir));
  }
  ERR_clear_error();  // the end of a file is an error of OpenSSL
  return all;
}

}  // namespace respite
