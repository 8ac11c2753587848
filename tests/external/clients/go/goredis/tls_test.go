package goredis

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

// startWithTLS starts a server with a TLS port. Returns its address and the configuration of a client with a
// certificate.
func startWithTLS(t *testing.T) (string, *tls.Config) {
	t.Helper()
	scripts := filepath.Join("..", "..", "scripts")
	if exec.Command(filepath.Join(scripts, "speaks_tls.sh"), os.Getenv("REDIS_SERVER")).Run() != nil {
		t.Skip("a server without TLS")
	}
	folder := t.TempDir()
	NoError(t, exec.Command(filepath.Join(scripts, "make_certificates.sh"), folder).Run())
	file := func(name string) string { return filepath.Join(folder, name) }
	listener := Must(net.Listen("tcp", "127.0.0.1:0"))
	address := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(address)
	NewServer(t, "--tls-port", port, "--tls-cert-file", file("server.crt"), "--tls-key-file", file("server.key"),
		"--tls-ca-cert-file", file("ca.crt"))
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(Must(os.ReadFile(file("ca.crt"))))
	certificate := Must(tls.LoadX509KeyPair(file("client.crt"), file("client.key")))
	return address, &tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{certificate}}
}

func TestTLS(t *testing.T) {
	address, config := startWithTLS(t)
	rdb := redis.NewClient(&redis.Options{Addr: address, TLSConfig: config})
	defer rdb.Close()
	value := strings.Repeat("0123456789abcdef", 100_000)
	NoError(t, rdb.Set(ctx, "long", value, 0).Err())
	Equal(t, rdb.Get(ctx, "long").Val() == value, true)
	pipe := rdb.Pipeline()
	for range 1000 {
		pipe.Incr(ctx, "n")
	}
	results := Must(pipe.Exec(ctx))
	Equal(t, results[999].(*redis.IntCmd).Val(), int64(1000))

	config = config.Clone()
	config.Certificates = nil
	stranger := redis.NewClient(&redis.Options{Addr: address, TLSConfig: config, MaxRetries: -1})
	defer stranger.Close()
	if err := stranger.Ping(ctx).Err(); err == nil {
		t.Fatal("a client without a certificate got in")
	}
	NoError(t, rdb.ConfigSet(ctx, "tls-auth-clients", "no").Err())
	Equal(t, stranger.Ping(ctx).Val(), "PONG")
}
