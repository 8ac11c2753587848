package goredis

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "clients/redistest"
)

// pieceOfThePage is a piece of Go that docs/test_server_tasks.md prints, with the heading above it.
type pieceOfThePage struct{ heading, code string }

func piecesOfThePage(t *testing.T) []pieceOfThePage {
	t.Helper()
	page := string(Must(os.ReadFile(filepath.Join("..", "..", "..", "..", "..", "docs", "test_server_tasks.md"))))
	var pieces []pieceOfThePage
	heading := ""
	for _, found := range regexp.MustCompile("(?ms)^## (.*?)$|^```go\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		if found[2] == "" {
			heading = found[1]
		} else {
			pieces = append(pieces, pieceOfThePage{heading, found[2]})
		}
	}
	if len(pieces) < 2 {
		t.Fatalf("the page prints %d pieces", len(pieces))
	}
	return pieces
}

// runTestFile returns the output of `go test` for a file.
func runTestFile(t *testing.T, name, code string) (string, error) {
	t.Helper()
	port := TestAddr(t)[strings.LastIndex(TestAddr(t), ":")+1:]
	file := filepath.Join(t.TempDir(), name)
	NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(code, "6379", port)), 0o600))
	// Runs here, so that the file is compiled with the packages of this module.
	words := []string{"test", "-mod=readonly", "-count=1", "-vet=off", "-v", "-timeout=60s", file}
	said, err := exec.Command("go", words...).CombinedOutput()
	return string(said), err
}

// Each piece is run as printed, except for the port.
func TestPiecesOfThePage(t *testing.T) {
	for i, piece := range piecesOfThePage(t) {
		t.Run(piece.heading, func(t *testing.T) {
			if !strings.Contains(piece.code, "6379") {
				t.Fatal("it names no port")
			}
			said, err := runTestFile(t, fmt.Sprintf("piece%d_test.go", i), piece.code)
			if err != nil || !strings.Contains(said, "--- PASS: Test") {
				t.Fatalf("%v\n%s", err, said)
			}
		})
	}
}

const failing = `package failing_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

func client(t *testing.T, name string) *redis.Client {
	options, err := redis.ParseURL("redis://world.go-failing:any@localhost:6379")
	if err != nil {
		t.Fatal(err)
	}
	options.ClientName = name
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

func TestTheLockIsNotTaken(t *testing.T) {
	admin, worker := client(t, ""), client(t, "worker-1")
	worker.Ping(ctx)
	admin.Do(ctx, "TEST", "JOURNAL", "START")
	worker.Set(ctx, "lock:1", "a b", 0)
	worker.Get(ctx, "stock")
	if err := admin.Do(ctx, "TEST", "EXPECT", "COMMAND", "set", "KEY", "lock:*", "NONE").Err(); err != nil {
		t.Error(err)
	}
}
`

func TestAFailedExpectationIsReadable(t *testing.T) {
	said, err := runTestFile(t, "failing_test.go", failing)
	text := "EXPECT wanted none of [COMMAND set KEY lock:*], saw 1: | #1 worker-1: set lock:1 \"a b\" -> ok\n"
	if err == nil || !strings.Contains(said, text) {
		t.Fatalf("%v\n%s", err, said)
	}
}
