package respitetest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// packed is the compressed program for this platform; nil if the module has none.
var packed []byte

// Program returns the path of respite-server: $RESPITE_SERVER, or the one in this module, which is unpacked once into the
// user's cache, or the first one in PATH.
func Program() (string, error) {
	if given := os.Getenv("RESPITE_SERVER"); given != "" {
		return given, nil
	}
	if packed != nil {
		return unpacked()
	}
	path, err := exec.LookPath("respite-server")
	if err != nil {
		return "", errors.New("there is no respite-server for this platform; RESPITE_SERVER can name one")
	}
	return path, nil
}

func unpacked() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	digest := sha256.Sum256(packed)
	folder := filepath.Join(cache, "respite", hex.EncodeToString(digest[:8]))
	path := filepath.Join(folder, "respite-server")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	return path, unpackTo(path)
}

// unpackTo writes beside the path and renames, since other tests may do the same.
func unpackTo(path string) error {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "unpacking-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = io.Copy(file, reader)
	if err := errors.Join(err, file.Chmod(0o755), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
