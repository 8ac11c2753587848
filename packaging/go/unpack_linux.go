package respitetest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

func init() { unpack = unpacked }

const executable = 1 // as access(2) numbers it

// unpacked returns the program in the user's cache. If nothing can be kept or run there, it returns the program in the
// user's own folder for temporary files.
func unpacked() (string, error) {
	digest := sha256.Sum256(packed)
	name := hex.EncodeToString(digest[:8])
	if cache, err := os.UserCacheDir(); err == nil {
		if path, err := unpackedIn(filepath.Join(cache, "respite", name)); err == nil {
			return path, nil
		}
	}
	folder, err := ownFolder()
	if err != nil {
		return "", err
	}
	return unpackedIn(filepath.Join(folder, name))
}

// ownFolder is below a folder to which every user can write, so another user may have created it.
func ownFolder() (string, error) {
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("respite-%d", os.Getuid()))
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	found, err := os.Lstat(folder)
	if err != nil {
		return "", err
	}
	owner := int(found.Sys().(*syscall.Stat_t).Uid)
	if !found.IsDir() || owner != os.Getuid() || found.Mode().Perm()&0o022 != 0 {
		return "", fmt.Errorf("%s is not a folder of this user alone; RESPITE_SERVER can name the program", folder)
	}
	return folder, nil
}

func unpackedIn(folder string) (string, error) {
	path := filepath.Join(folder, "respite-server")
	if isWhole(path) {
		return path, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	if err := unpackTo(path); err != nil {
		return "", err
	}
	if !isWhole(path) {
		return "", fmt.Errorf("%s may not be run there; RESPITE_SERVER can name the program", path)
	}
	return path, nil
}

// isWhole tells whether a file has the size of the program, which is at the end of gzip's output, and is executable.
func isWhole(path string) bool {
	found, err := os.Stat(path)
	size := int64(binary.LittleEndian.Uint32(packed[len(packed)-4:]))
	return err == nil && found.Size() == size && syscall.Access(path, executable) == nil
}

// unpackTo writes to a file next to the path and renames it, since other tests may unpack at the same time. Nothing is
// started meanwhile: a new process would have the file open for writing for a moment, and a file that is open for
// writing cannot be run.
func unpackTo(path string) error {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
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
