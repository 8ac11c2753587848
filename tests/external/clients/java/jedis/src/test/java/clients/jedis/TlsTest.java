package clients.jedis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import clients.support.OwnServer;
import clients.support.Servers;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisConnectionException;

class TlsTest extends OnSuiteServer {
  private static final char[] PASSWORD = "secret".toCharArray();

  @TempDir Path keys;

  @Test
  void aClientWithACertificateGetsInAndOthersWhenNobodyAsks() throws Exception {
    assumeTrue(run("speaks_tls.sh", Servers.BINARY), "a server without TLS");
    assertTrue(run("make_certificates.sh", keys.toString()));
    int port = Servers.freePort();
    try (OwnServer server = OwnServer.start("--tls-port", "" + port, "--tls-cert-file", file("server.crt"),
            "--tls-key-file", file("server.key"), "--tls-ca-cert-file", file("ca.crt"));
        Jedis client = connect(port, true)) {
      String value = "0123456789abcdef".repeat(100_000);
      assertEquals("OK", client.set("long", value));
      assertEquals(value, client.get("long"));
      Pipeline pipeline = client.pipelined();
      Response<Long> last = null;
      for (int i = 0; i < 1000; i++) {
        last = pipeline.incr("n");
      }
      pipeline.sync();
      assertEquals(1000, last.get());

      assertThrows(JedisConnectionException.class, () -> {
        try (Jedis stranger = connect(port, false)) {
          stranger.ping();
        }
      });
      assertEquals("OK", client.configSet("tls-auth-clients", "no"));
      try (Jedis stranger = connect(port, false)) {
        assertEquals("PONG", stranger.ping());
      }
    }
  }

  private String file(String name) {
    return keys.resolve(name).toString();
  }

  /** Returns whether one of the scripts in tests/external/clients/scripts succeeds. */
  private boolean run(String name, String argument) throws Exception {
    try (InputStream script = TlsTest.class.getResourceAsStream("/scripts/" + name)) {
      Path copy = Files.write(keys.resolve(name), script.readAllBytes());
      Process process = new ProcessBuilder("bash", copy.toString(), argument).directory(keys.toFile())
          .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
      return process.waitFor() == 0;
    }
  }

  private Jedis connect(int port, boolean withCertificate) throws Exception {
    return new Jedis(new HostAndPort("localhost", port), DefaultJedisClientConfig.builder()
        .ssl(true).sslSocketFactory(factory(withCertificate)).build());
  }

  private SSLSocketFactory factory(boolean withCertificate) throws Exception {
    KeyStore authorities = KeyStore.getInstance("PKCS12");
    authorities.load(null, null);
    try (InputStream authority = Files.newInputStream(keys.resolve("ca.crt"))) {
      authorities.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(authority));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(authorities);
    KeyStore own = KeyStore.getInstance("PKCS12");
    own.load(null, null);
    if (withCertificate) {
      try (InputStream store = Files.newInputStream(keys.resolve("client.p12"))) {
        own.load(store, PASSWORD);
      }
    }
    KeyManagerFactory identity = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    identity.init(own, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(identity.getKeyManagers(), trust.getTrustManagers(), null);
    return context.getSocketFactory();
  }
}
