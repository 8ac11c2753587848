// TLS in process: contexts from directives, both ends of a connection over a socket pair.
#include "server/net/tls/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/net/tls/tls_context.h"
#include "server/net/tls/tls_stream.h"
#include "server/node/connection.h"
#include "tests/support/test_node.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using State = Transfer::State;
using testing::HasSubstr;
using testing::StartsWith;

// Certificates made by the openssl command, shared by all tests of the file.
class Keys {
 public:
  Keys() {
    std::string name = testing::TempDir() + "tlsXXXXXX";
    folder_ = mkdtemp(name.data());
    Make("server", "-nodes");
    Make("other", "-nodes");
    Make("locked", "-passout pass:sesame");
    std::ofstream(Path("text")) << "no certificate";
  }
  ~Keys() { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  // Settings of a server and clients that trust only its own certificate.
  Settings Good(const std::string& name = "server") const {
    Settings settings;
    settings.tls_port = 1;
    settings.tls_cert_file = Path(name + ".crt");
    settings.tls_key_file = Path(name + ".key");
    settings.tls_ca_cert_file = Path(name + ".crt");
    return settings;
  }

 private:
  void Make(const std::string& name, const std::string& lock) const {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2 -subj /CN=" + name + " -keyout " +
        Path(name + ".key") + " -out " + Path(name + ".crt") + " " + lock + " 2>/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT: a test, one thread
  }

  std::string folder_;
};

class TlsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { keys_ = std::make_unique<Keys>(); }
  static void TearDownTestSuite() { keys_.reset(); }

  static Settings Good() { return keys_->Good(); }
  static std::string ReasonOf(const Settings& settings) { return Tls().Configure(settings).value_or(""); }

  static std::unique_ptr<Keys> keys_;
};

std::unique_ptr<Keys> TlsTest::keys_;

TEST_F(TlsTest, MissingDirectivesAreReported) {
  Settings settings = Good();
  EXPECT_EQ(ReasonOf(settings), "");
  settings.tls_ca_cert_file.clear();
  EXPECT_THAT(ReasonOf(settings), StartsWith("Either tls-ca-cert-file or tls-ca-cert-dir must be specified"));
  settings.tls_auth_clients = TlsAuthClients::kNo;
  EXPECT_EQ(ReasonOf(settings), "");
  settings.tls_key_file.clear();
  EXPECT_EQ(ReasonOf(settings), "No tls-key-file configured!");
  settings.tls_cert_file.clear();
  EXPECT_EQ(ReasonOf(settings), "No tls-cert-file configured!");
}

TEST_F(TlsTest, InvalidFilesAreNamed) {
  Settings settings = Good();
  settings.tls_cert_file = keys_->Path("text");
  EXPECT_THAT(ReasonOf(settings), StartsWith("Failed to load certificate: " + settings.tls_cert_file + ": error:"));
  settings = Good();
  settings.tls_key_file = keys_->Path("other.key");
  EXPECT_THAT(ReasonOf(settings), StartsWith("Failed to load private key: " + settings.tls_key_file + ": error:"));
  EXPECT_THAT(ReasonOf(settings), HasSubstr("key values mismatch"));
  settings = Good();
  settings.tls_client_cert_file = keys_->Path("other.crt");
  settings.tls_client_key_file = keys_->Path("server.key");
  EXPECT_THAT(ReasonOf(settings), HasSubstr("key values mismatch"));
  settings = Good();
  settings.tls_dh_params_file = keys_->Path("text");
  EXPECT_EQ(ReasonOf(settings), settings.tls_dh_params_file + ": failed to read DH params.");
}

TEST_F(TlsTest, ALockedKeyNeedsItsPassword) {
  Settings settings = keys_->Good("locked");
  EXPECT_THAT(ReasonOf(settings), StartsWith("Failed to load private key: "));
  settings.tls_key_file_pass = "simsalabim";
  EXPECT_THAT(ReasonOf(settings), StartsWith("Failed to load private key: "));
  settings.tls_key_file_pass = std::string(10'000, 'x');
  EXPECT_THAT(ReasonOf(settings), StartsWith("Failed to load private key: "));
  settings.tls_key_file_pass = "sesame";
  EXPECT_EQ(ReasonOf(settings), "");
}

TEST_F(TlsTest, ProtocolsAreWordsOfAList) {
  Settings settings = Good();
  for (const char* list : {"", "TLSv1.2", "tlsv1.3 TLSv1.2", "TLSv1 TLSv1.1 TLSv1.2 TLSv1.3"}) {
    settings.tls_protocols = list;
    EXPECT_EQ(ReasonOf(settings), "") << list;
  }
  for (const char* list : {"TLSv1.4", "TLSv1.2,TLSv1.3", " TLSv1.2", "TLSv1.2 "}) {
    settings.tls_protocols = list;
    EXPECT_THAT(ReasonOf(settings), StartsWith("Invalid tls-protocols specified.")) << list;
  }
}

TEST_F(TlsTest, AFailureKeepsTheOldConfiguration) {
  Tls tls;
  EXPECT_FALSE(tls.IsConfigured());
  ASSERT_EQ(tls.Configure(Good()), std::nullopt);
  Settings bad = Good();
  bad.tls_ciphers = "NONESUCH";
  EXPECT_EQ(tls.Configure(bad), "Failed to configure ciphers: NONESUCH");
  EXPECT_TRUE(tls.IsConfigured());
  tls.Drop();
  EXPECT_FALSE(tls.IsConfigured());
}

// Both ends of a connection in one process. Bytes stay in the socket until the other end receives.
class TlsStreamTest : public TlsTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(tls_.Configure(Good()), std::nullopt);
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    const int room = 100'000;
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    server_ = std::make_unique<ByteStream>(Descriptor(ends[0]), tls_.Accept(ends[0], TlsAuthClients::kYes));
    client_ = std::make_unique<ByteStream>(Descriptor(ends[1]), tls_.Connect(ends[1]));
  }
  void Greet() {
    for (int steps = 0; steps < 10 && (client_->InHandshake() || server_->InHandshake()); ++steps) {
      if (client_->InHandshake()) client_->Handshake();
      if (server_->InHandshake()) server_->Handshake();
    }
    ASSERT_FALSE(client_->InHandshake());
    ASSERT_FALSE(server_->InHandshake());
  }
  static std::string ReceiveAll(ByteStream& stream) {
    std::string text;
    std::array<char, 5000> part;  // NOLINT: written before it is read
    for (Transfer got = stream.Receive(part); got.state == State::kMoved; got = stream.Receive(part)) {
      text.append(part.data(), got.bytes);
    }
    return text;
  }

  Tls tls_;
  std::unique_ptr<ByteStream> server_;
  std::unique_ptr<ByteStream> client_;
};

TEST_F(TlsStreamTest, BytesArriveAfterAHandshake) {
  EXPECT_EQ(server_->Handshake().state, State::kLater);
  EXPECT_EQ(server_->EventsToAwait({.readable = true}), (SocketPoller::Events{.readable = true}));
  Greet();
  EXPECT_EQ(client_->Send(Bytes("hello")).bytes, 5u);
  std::array<char, 100> target{};
  const Transfer got = server_->Receive(target);
  EXPECT_EQ(got.state, State::kMoved);
  EXPECT_EQ(Bytes(target.data(), got.bytes), "hello");
  EXPECT_EQ(server_->Receive(target).state, State::kLater);
  EXPECT_FALSE(server_->HasBufferedInput());
}

TEST_F(TlsStreamTest, HasReceivedReportsBufferedBytes) {
  Greet();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client_->Send(Bytes("0123456789")).bytes, 10u);
  std::array<char, 4> target{};
  std::string text;
  do {
    const Transfer got = server_->Receive(target);
    ASSERT_EQ(got.state, State::kMoved);
    text.append(target.data(), got.bytes);
  } while (server_->HasBufferedInput());
  EXPECT_EQ(text, "012345678901234567890123456789");
}

constexpr ByteStream::SendLimits kAll = {.preferred = SIZE_MAX, .allowed = SIZE_MAX};

TEST_F(TlsStreamTest, NoMoreIsSentThanAllowed) {
  Greet();
  BlockPool pool;
  ReplyBuffer output(pool);
  output.Append(std::string(50'000, 'x'));  // several segments
  for (const size_t allowed : {size_t{3}, size_t{20'000}}) {
    size_t left = allowed;
    while (left != 0) {
      const Transfer sent = server_->Send(output, {.preferred = SIZE_MAX, .allowed = left});
      ASSERT_EQ(sent.state, State::kMoved);
      output.Consume(sent.bytes);
      left -= sent.bytes;
    }
    EXPECT_EQ(ReceiveAll(*client_).size(), allowed);
  }
}

TEST_F(TlsStreamTest, AReplyThatGrewMeanwhileGoesOnWhereItStopped) {
  Greet();
  BlockPool pool;
  ReplyBuffer output(pool);
  std::string wanted;
  const auto write = [&](char letter) {
    wanted += std::string(30'001, letter);
    output.Append(Bytes(wanted).substr(wanted.size() - 30'001));
  };
  std::string received;
  char letter = 'a';
  for (int rounds = 0; rounds < 2000 && (letter <= 'z' || !output.IsEmpty()); ++rounds) {
    if (letter <= 'z') write(letter++);
    Transfer sent = server_->Send(output, kAll);
    for (; sent.state == State::kMoved && !output.IsEmpty(); sent = server_->Send(output, kAll)) {
      output.Consume(sent.bytes);
      if (output.IsEmpty()) break;
    }
    if (letter % 5 == 0 || letter > 'z') received += ReceiveAll(*client_);
  }
  received += ReceiveAll(*client_);
  EXPECT_TRUE(received == wanted) << received.size() << " of " << wanted.size();
}

TEST_F(TlsStreamTest, ACloseNotifyEndsInputOnly) {
  Greet();
  ASSERT_EQ(client_->Send(Bytes("last words")).bytes, 10u);
  client_->Close();
  EXPECT_EQ(ReceiveAll(*server_), "last words");
  std::array<char, 100> target{};
  EXPECT_EQ(server_->Receive(target).state, State::kEnded);
}

TEST_F(TlsStreamTest, InputThatIsNotTlsFailsWithAReason) {
  const Bytes text = "GET / HTTP/1.0\r\n\r\n";
  ASSERT_EQ(send(client_->FileDescriptor(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(server_->Handshake().state, State::kFailed);
  EXPECT_EQ(server_->ErrorText(), "error:0A00009C:SSL routines::http request");
}

// The loop measures handshakes in real time.
TEST_F(TlsStreamTest, AHandshakeGoesOnWhileTheClockStandsStill) {
  const ManualClock clock;
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  TestNode node(loop, clock);
  Session& session = node->services().clients.registry.Create(clock.MonotonicMs());
  std::make_shared<Connection>(node.host(), session, std::move(*server_))->Start();
  std::string received;
  bool asked = false;
  std::function<void()> step = [&] {
    if (client_->InHandshake()) {
      client_->Handshake();
    } else {
      if (!asked) asked = client_->Send(Bytes("PING\r\n")).bytes == 6;
      received += ReceiveAll(*client_);
    }
    if (received == "+PONG\r\n") return loop.Stop(0);
    loop.Post(nullptr, step);
  };
  loop.Post(nullptr, step);
  loop.Run();
  EXPECT_EQ(received, "+PONG\r\n");
}

// Each key update costs arithmetic, but delivers no data that would end the call.
TEST_F(TlsStreamTest, NobodyKeepsUsBusyWithKeyUpdates) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const int room = 1 << 20;
  setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  ByteStream server{Descriptor(ends[0]), tls_.Accept(ends[0], TlsAuthClients::kYes)};
  const Descriptor peer(ends[1]);
  const auto context = MakeTlsClientContext(Good());
  const SslHandle client(SSL_new(context.value().get()));
  BIO* received = BIO_new(BIO_s_mem());
  BIO* sent = BIO_new(BIO_s_mem());
  SSL_set_bio(client.get(), received, sent);
  SSL_set_connect_state(client.get());
  const auto exchange = [&] {
    std::vector<char> bytes(1 << 20);
    const int size = BIO_read(sent, bytes.data(), static_cast<int>(bytes.size()));
    if (size > 0) send(peer.Get(), bytes.data(), static_cast<size_t>(size), MSG_NOSIGNAL);
    if (server.InHandshake()) server.Handshake();
    const ssize_t back = recv(peer.Get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (back > 0) BIO_write(received, bytes.data(), static_cast<int>(back));
  };
  for (int steps = 0; steps < 5 && server.InHandshake(); ++steps) {
    SSL_do_handshake(client.get());
    exchange();
  }
  ASSERT_FALSE(server.InHandshake());
  for (int i = 0; i < 20'000; ++i) {
    SSL_key_update(client.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
    SSL_do_handshake(client.get());
  }
  exchange();
  int before = 0;
  ioctl(ends[0], FIONREAD, &before);
  ASSERT_GT(before, 200'000);
  std::array<char, 100> target{};
  EXPECT_EQ(server.Receive(target).state, State::kLater);
  int after = 0;
  ioctl(ends[0], FIONREAD, &after);
  EXPECT_EQ(before - after, 128 * 1024);
  EXPECT_EQ(server.EventsToAwait({.readable = true}), (SocketPoller::Events{.readable = true}));
}

// A connection of the server whose peer is the test.
class TlsConnectionTest : public TlsStreamTest {
 protected:
  void SetUp() override {
    TlsStreamTest::SetUp();
    session_ = &(*server_under_test_)
                    ->services()
                    .clients.registry.Create((*server_under_test_)->services().env.clock.MonotonicMs());
    connection_ = std::make_shared<Connection>(*host_, *session_, std::move(*server_));
    connection_->Start();
  }
  void TearDown() override {
    connection_.reset();
    host_.reset();
    loop_.reset();
  }
  void Turn() {
    connection_->OnReadable();
    while (!loop_->handshakes().IsEmpty()) loop_->handshakes().ServeShare();
    (*server_under_test_)->housekeeping().EndTurn();
  }

  ManualClock real_clock_;
  std::unique_ptr<TestServer> server_under_test_ = std::make_unique<TestServer>();
  std::unique_ptr<EventLoop> loop_ = std::make_unique<EventLoop>(real_clock_);
  std::unique_ptr<NodeHost> host_ = std::make_unique<NodeHost>(*loop_, **server_under_test_);
  Session* session_ = nullptr;
  std::shared_ptr<Connection> connection_;
};

TEST_F(TlsConnectionTest, AnUnfinishedHandshakeTimesOut) {
  Node& server = **server_under_test_;
  client_->Handshake();
  Turn();
  EXPECT_EQ(server.services().env.stats.connections, 0u);
  server_under_test_->clock().AdvanceMs(1'000'000);
  real_clock_.AdvanceMs(30'000);
  server.services().clients.limits.Check(*session_, server.services().env.clock.MonotonicMs());
  EXPECT_FALSE(session_->closing) << "the Clock does not count";
  EXPECT_FALSE(connection_->IsHandshakeLate());
  real_clock_.AdvanceMs(1);
  server.services().clients.limits.Check(*session_, server.services().env.clock.MonotonicMs());
  EXPECT_TRUE(session_->closing);
}

// The step runs after the server was destroyed.
TEST_F(TlsConnectionTest, TheServerMayBeDestroyedDuringAHandshake) {
  client_->Handshake();
  connection_->OnReadable();
  ASSERT_EQ(loop_->handshakes().Size(), 1u);
  host_.reset();
  EXPECT_EQ((*server_under_test_)->services().clients.registry.Count(), 0u);
  loop_->handshakes().ServeAll();
  loop_->closings().ServeAll();
  EXPECT_EQ(connection_.use_count(), 1);
}

TEST_F(TlsConnectionTest, AFinishedHandshakeDoesNotTimeOut) {
  Node& server = **server_under_test_;
  client_->Handshake();
  Turn();
  EXPECT_EQ(client_->Handshake().state, State::kMoved);
  Turn();
  EXPECT_EQ(server.services().env.stats.connections, 1u);
  real_clock_.AdvanceMs(1'000'000);
  server.services().clients.limits.Check(*session_, server.services().env.clock.MonotonicMs());
  EXPECT_FALSE(session_->closing);
  ASSERT_EQ(client_->Send(Bytes("PING\r\n")).bytes, 6u);
  Turn();
  EXPECT_EQ(ReceiveAll(*client_), "+PONG\r\n");
}

// The queue may contain a step of a client that was closed.
TEST_F(TlsConnectionTest, AClosedClientTakesNoStep) {
  client_->Handshake();
  connection_->OnReadable();
  ASSERT_FALSE(loop_->handshakes().IsEmpty());
  (*server_under_test_)->services().clients.registry.Close(*session_);
  loop_->handshakes().ServeShare();
  EXPECT_TRUE(loop_->handshakes().IsEmpty());
  EXPECT_EQ(client_->Handshake().state, State::kLater);
}

}  // namespace
}  // namespace respite
