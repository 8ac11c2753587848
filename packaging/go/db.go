package respitetest

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"time"
)

// ErrKeyNotFound means that there is no such key, or no such field or element in it.
var ErrKeyNotFound = errors.New("ERR no such key")

// DB is a database of the server. Its methods panic if the connection to the server is lost.
type DB struct {
	connection *connection
	number     int
}

// Do sends any command.
func (db *DB) Do(words ...any) (any, error) { return db.connection.askIn(db.number, words...) }

func (db *DB) do(words ...any) any {
	reply, err := db.Do(words...)
	if err != nil {
		panic(fmt.Sprintf("%v: %v", words, err))
	}
	return reply
}

// text sends a command whose reply is a text, or nil if there is none.
func (db *DB) text(words ...any) (string, error) {
	reply, err := db.Do(words...)
	if err == nil && reply == nil {
		err = ErrKeyNotFound
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprint(reply), nil
}

// many sends a command about a key whose reply is an array.
func (db *DB) many(key string, words ...any) ([]string, error) {
	if !db.Exists(key) {
		return nil, ErrKeyNotFound
	}
	reply, err := db.Do(words...)
	if err != nil {
		return nil, err
	}
	return texts(reply), nil
}

func (db *DB) count(words ...any) (int, error) {
	reply, err := db.Do(words...)
	if err != nil {
		return 0, err
	}
	return number(reply), nil
}

func number(reply any) int {
	value, _ := reply.(int64)
	return int(value)
}

func texts(reply any) []string {
	values, _ := reply.([]any)
	found := make([]string, len(values))
	for i, value := range values {
		found[i] = fmt.Sprint(value)
	}
	return found
}

func sorted(values []string) []string {
	sort.Strings(values)
	return values
}

func with(first []any, rest []string) []any {
	for _, word := range rest {
		first = append(first, word)
	}
	return first
}

// Keys returns all keys, sorted.
func (db *DB) Keys() []string { return sorted(texts(db.do("KEYS", "*"))) }

// FlushDB empties this database.
func (db *DB) FlushDB() { db.do("FLUSHDB") }

// Exists tells whether there is such a key.
func (db *DB) Exists(key string) bool { return number(db.do("EXISTS", key)) == 1 }

// Type returns string, list, …; "" if there is no such key.
func (db *DB) Type(key string) string {
	if name := fmt.Sprint(db.do("TYPE", key)); name != "none" {
		return name
	}
	return ""
}

// Del removes a key, and tells whether it existed.
func (db *DB) Del(key string) bool { return number(db.do("DEL", key)) == 1 }

// TTL returns the remaining time to live; 0 if there is none.
func (db *DB) TTL(key string) time.Duration {
	return time.Duration(max(number(db.do("PTTL", key)), 0)) * time.Millisecond
}

// SetTTL sets the time to live.
func (db *DB) SetTTL(key string, ttl time.Duration) { db.do("PEXPIRE", key, ttl.Milliseconds()) }

// Get returns the value of a string key.
func (db *DB) Get(key string) (string, error) { return db.text("GET", key) }

// Set sets a string key, without a time to live.
func (db *DB) Set(key, value string) error {
	_, err := db.Do("SET", key, value)
	return err
}

// Incr adds to a number.
func (db *DB) Incr(key string, delta int) (int, error) { return db.count("INCRBY", key, delta) }

// HGet returns a field; "" if there is none.
func (db *DB) HGet(key, field string) string {
	value, _ := db.text("HGET", key, field)
	return value
}

// HSet sets fields: HSet(key, field, value, …).
func (db *DB) HSet(key string, pairs ...string) { db.do(with([]any{"HSET", key}, pairs)...) }

// HDel removes a field.
func (db *DB) HDel(key, field string) { db.do("HDEL", key, field) }

// HKeys returns all fields, sorted.
func (db *DB) HKeys(key string) ([]string, error) {
	found, err := db.many(key, "HKEYS", key)
	return sorted(found), err
}

// List returns all elements of a list.
func (db *DB) List(key string) ([]string, error) { return db.many(key, "LRANGE", key, 0, -1) }

// Lpush puts an element at the beginning, and returns the length.
func (db *DB) Lpush(key, value string) (int, error) { return db.count("LPUSH", key, value) }

// Push puts elements at the end, and returns the length.
func (db *DB) Push(key string, values ...string) (int, error) {
	return db.count(with([]any{"RPUSH", key}, values)...)
}

// Lpop removes and returns the first element.
func (db *DB) Lpop(key string) (string, error) { return db.text("LPOP", key) }

// Pop removes and returns the last element.
func (db *DB) Pop(key string) (string, error) { return db.text("RPOP", key) }

// SAdd adds members to a set, and returns how many are new.
func (db *DB) SAdd(key string, members ...string) (int, error) {
	return db.count(with([]any{"SADD", key}, members)...)
}

// SetAdd is SAdd.
func (db *DB) SetAdd(key string, members ...string) (int, error) { return db.SAdd(key, members...) }

// SRem removes members, and returns how many existed.
func (db *DB) SRem(key string, members ...string) (int, error) {
	return db.count(with([]any{"SREM", key}, members)...)
}

// Members returns all members of a set, sorted.
func (db *DB) Members(key string) ([]string, error) {
	found, err := db.many(key, "SMEMBERS", key)
	return sorted(found), err
}

// SMembers is Members.
func (db *DB) SMembers(key string) ([]string, error) { return db.Members(key) }

// IsMember tells whether a member is in a set.
func (db *DB) IsMember(key, member string) (bool, error) {
	if !db.Exists(key) {
		return false, ErrKeyNotFound
	}
	count, err := db.count("SISMEMBER", key, member)
	return count == 1, err
}

// ZAdd sets the score of a member, and tells whether it is new.
func (db *DB) ZAdd(key string, score float64, member string) (bool, error) {
	count, err := db.count("ZADD", key, strconv.FormatFloat(score, 'g', -1, 64), member)
	return count == 1, err
}

// ZScore returns the score of a member.
func (db *DB) ZScore(key, member string) (float64, error) {
	text, err := db.text("ZSCORE", key, member)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

// ZMembers returns all members by their score.
func (db *DB) ZMembers(key string) ([]string, error) { return db.many(key, "ZRANGE", key, 0, -1) }

// XAdd adds an entry to a stream, and returns its ID: XAdd(key, "*", []string{field, value, …}).
func (db *DB) XAdd(key, id string, pairs []string) (string, error) {
	return db.text(with([]any{"XADD", key, id}, pairs)...)
}
