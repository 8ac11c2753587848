package respitetest

import (
	"slices"
	"testing"
)

// CheckGet fails the test if a string key has another value.
func (db *DB) CheckGet(t testing.TB, key, expected string) {
	t.Helper()
	found, err := db.Get(key)
	if err != nil {
		t.Errorf("GET %q: %v", key, err)
	} else if found != expected {
		t.Errorf("%q is %q, not %q", key, found, expected)
	}
}

// CheckList fails the test if a list has other elements.
func (db *DB) CheckList(t testing.TB, key string, expected ...string) {
	t.Helper()
	found, err := db.List(key)
	check(t, key, found, expected, err)
}

// CheckSet fails the test if a set has other members.
func (db *DB) CheckSet(t testing.TB, key string, expected ...string) {
	t.Helper()
	found, err := db.Members(key)
	check(t, key, found, sorted(slices.Clone(expected)), err)
}

func check(t testing.TB, key string, found, expected []string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%q: %v", key, err)
	} else if !slices.Equal(found, expected) {
		t.Errorf("%q has %q, not %q", key, found, expected)
	}
}
