// Reads any bytes where the directives tls-* name a file, or where the other end of a connection sends its handshake.
// The result must be a context, or a reason. The first byte selects which: certificate, key, trusted certificates,
// parameters for Diffie-Hellman, the handshake of a client, or the handshake of a server.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "base/str_cat.h"
#include "server/config/folder.h"
#include "server/config/settings.h"
#include "server/net/tls/made_certificates.h"
#include "server/net/tls/tls.h"
#include "server/net/tls/tls_stream.h"

namespace respite {
namespace {

constexpr size_t kMaxBytes = 64 * 1024;  // fits into the buffer of a socket

// Valid certificates and keys in a folder that is removed at the end.
class SoundFiles {
 public:
  SoundFiles() {
    std::string pattern = std::filesystem::temp_directory_path() / "certificate_fuzz.XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
    if (MakeCertificates(folder_, {})) std::abort();
  }
  ~SoundFiles() { std::filesystem::remove_all(folder_); }
  SoundFiles(const SoundFiles&) = delete;
  SoundFiles& operator=(const SoundFiles&) = delete;

  Settings Directives() const {
    Settings settings;
    settings.folder = &ProcessFolder::Instance();
    settings.tls_port = 1;
    settings.tls_cert_file = folder_ + "/redis.crt";
    settings.tls_key_file = folder_ + "/redis.key";
    settings.tls_ca_cert_file = folder_ + "/ca.crt";
    return settings;
  }

 private:
  std::string folder_;
};

// A file in memory that has a path.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("certificate_fuzz", MFD_CLOEXEC)) {
    if (!file_.IsOpen()) std::abort();
  }
  std::string path() const { return StrCat("/proc/self/fd/", file_.Get()); }
  void Replace(Bytes text) {
    const bool is_written = ftruncate(file_.Get(), 0) == 0 &&
                            pwrite(file_.Get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
    if (!is_written) std::abort();
  }

 private:
  Descriptor file_;
};

using FileDirective = std::string Settings::*;
constexpr std::array<FileDirective, 4> kFiles = {&Settings::tls_cert_file, &Settings::tls_key_file,
                                                 &Settings::tls_ca_cert_file, &Settings::tls_dh_params_file};
constexpr uint8_t kKinds = kFiles.size() + 2;

void ReadAsFile(Settings directives, FileDirective directive, Bytes text) {
  static MemoryFile file;
  file.Replace(text);
  directives.*directive = file.path();
  Tls tls;
  const std::optional<std::string> reason = tls.Configure(directives);
  if (reason ? reason->empty() || tls.IsConfigured() : !tls.IsConfigured()) std::abort();
}

void ShakeHands(const Tls& tls, bool is_server, Bytes text) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
  const Descriptor ours(ends[0]);
  const Descriptor peer(ends[1]);
  if (send(peer.Get(), text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) std::abort();
  shutdown(peer.Get(), SHUT_WR);
  const auto stream = is_server ? tls.Accept(ours.Get(), TlsAuthClients::kYes) : tls.Connect(ours.Get());
  if (stream == nullptr) std::abort();
  // A step consumes what has arrived; the peer cannot finish, since it does not know the keys.
  for (int step = 0; step < 100; ++step) {
    if (stream->Handshake().state == Transfer::State::kFailed) break;
  }
  if (!stream->InHandshake()) std::abort();
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  if (size == 0 || size > kMaxBytes) return 0;
  static const SoundFiles files;
  static Tls tls;
  if (!tls.IsConfigured() && tls.Configure(files.Directives())) std::abort();
  const Bytes text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t kind = data[0] % kKinds;
  if (kind < kFiles.size()) {
    ReadAsFile(files.Directives(), kFiles[kind], text);
  } else {
    ShakeHands(tls, kind == kFiles.size(), text);
  }
  return 0;
}
