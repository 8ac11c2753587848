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

// pieceOfThePage is a piece of Go that docs/test_server_tasks.md prints, named by the heading it is below.
type pieceOfThePage struct{ heading, code string }

func piecesOfThePage(t *testing.T) []pieceOfThePage {
	t.Helper()
	page := string(Must(os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "test_server_tasks.md"))))
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

// Each piece is run as it is printed, but for the port.
func TestPiecesOfThePage(t *testing.T) {
	port := TestAddr(t)[strings.LastIndex(TestAddr(t), ":")+1:]
	for i, piece := range piecesOfThePage(t) {
		t.Run(piece.heading, func(t *testing.T) {
			if !strings.Contains(piece.code, "6379") {
				t.Fatal("it names no port")
			}
			file := filepath.Join(t.TempDir(), fmt.Sprintf("piece%d_test.go", i))
			NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(piece.code, "6379", port)), 0o600))
			// Run from here, so that it is compiled with the packages of this module.
			words := []string{"test", "-mod=readonly", "-count=1", "-vet=off", "-v", "-timeout=60s", file}
			said, err := exec.Command("go", words...).CombinedOutput()
			if err != nil || !strings.Contains(string(said), "--- PASS: Test") {
				t.Fatalf("%v\n%s", err, said)
			}
		})
	}
}
