// The format of RDB files and of DUMP payloads, as far as values go: numbers and names. RdbOutput and RdbInput know its
// primitives, rdb_value_writer.h and rdb_value_reader.h its values.
//
// Primitives (`{n}` is n octets; all numbers little endian unless it says otherwise):
//
//   length  = 00nnnnnn                        0 … 63
//           | 01nnnnnn {1}                    14 bits, big end first
//           | 10000000 {4}                    32 bits, big end first
//           | 10000001 {8}                    64 bits, big end first
//   text    = length {length}                 as it is
//           | 11000000 {1} | 11000001 {2} | 11000010 {4}
//                                             the decimal text of a signed integer
//           | 11000011 length(packed) length(text) {packed}
//                                             compressed by LZF
//   double  = {8}                             IEEE 754
//   number  = {1} {n}                         a score as decimal text of n octets; 253 NaN, 254 +inf, 255 -inf
//   millis  = {8}                             signed, of the Unix epoch
//
// Values, each behind its type octet; `n` is a length:
//
//    0 string           text
//    1 list             n text*n
//    2 set              n text*n
//    3 sorted set       n (text number)*n
//    4 hash             n (text text)*n
//    5 sorted set       n (text double)*n      what Redis and we write for large ones, best score first
//    9 hash             text of a zipmap
//   10 list             text of a ziplist
//   11 set              text of an intset
//   12 sorted set       text of a ziplist      member, score, member, score …
//   13 hash             text of a ziplist      field, value …
//   14 list             n (text of a ziplist)*n
//   16 hash             text of a listpack     field, value …
//   17 sorted set       text of a listpack     member, score … from the lowest
//   18 list             n (length 1, text of an element | length 2, text of a listpack)*n
//   20 set              text of a listpack
//   24 hash with field deadlines (Redis 7.4)   millis(first) n (length(ttl) text text)*n
//                                              ttl: 0 for none, else deadline - first + 1
//   25 the same, small                         millis(first), text of a listpack: field, value, deadline (0: none) …
//                                              from the earliest, those without a deadline last
//
//   21 stream           n (text of 16 octets: ID, text of a listpack)*n   (rdb_stream.cc has the listpack)
//                       n(entries) id(last) id(first) id(greatest deleted) n(ever added)
//                       n (text(name) id(last) n(ever read) n (ID millis n(deliveries))*n n consumer*n)*n
//                       id is two lengths, ID its 16 octets, big endian
//                       consumer is text(name) millis(seen) millis(active) n ID*n
//   19 stream           as 21, without millis(active)
//   15 stream           as 19, without what is between id(last) and the groups, and without n(ever read)
//
// 22 and 23 were written for such hashes by unfinished versions of 7.4; 6 and 7 are values of modules.
//
// A library of functions is `245 text`, the text being its code.
//
// A DUMP payload is `type value {2} {8}`: behind the value the version of the format and the CRC-64 of all before.
//
// Example, the list [ "a", "300" ]: 12 01 02  0d 0d 00 00 00 02 00 81 61 02 c1 2c 02 ff  0b 00  and the CRC-64
//   12            type 18
//   01 02         one node, which is a listpack
//   0d            a text of 13 octets follows: the listpack (see listpack.h)
//   0b 00         version 11
#pragma once

#include <cstdint>

namespace respite::rdb {

enum class Type : uint8_t {
  kString = 0,
  kList = 1,
  kSet = 2,
  kSortedSetAscii = 3,
  kHash = 4,
  kSortedSet = 5,
  kModule = 6,
  kModule2 = 7,
  kHashZipmap = 9,
  kListZiplist = 10,
  kSetIntset = 11,
  kSortedSetZiplist = 12,
  kHashZiplist = 13,
  kListQuicklist = 14,
  kStreamListpacks = 15,
  kHashListpack = 16,
  kSortedSetListpack = 17,
  kListQuicklist2 = 18,
  kStreamListpacks2 = 19,
  kSetListpack = 20,
  kStreamListpacks3 = 21,
  kTimedHashDraft = 22,
  kTimedHashListpackDraft = 23,
  kTimedHash = 24,
  kTimedHashListpack = 25,
};

// Opcodes, which stand where a type may: a library of functions (text of its code), and what unfinished versions of
// Redis 7.0 wrote for one.
inline constexpr uint8_t kFunctionLibrary = 245;
inline constexpr uint8_t kFunctionDraft = 246;

// Versions of the format: what Redis 7.2 writes, what 7.4 writes and we need for hashes with field deadlines, and the
// newest that we read.
inline constexpr uint16_t kVersion = 11;
inline constexpr uint16_t kVersionOfTimedHashes = 12;
inline constexpr uint16_t kNewestVersion = 12;

// The first octet of a length.
inline constexpr uint8_t kLength14 = 0x40;
inline constexpr uint8_t kLength32 = 0x80;
inline constexpr uint8_t kLength64 = 0x81;
// The first octet of a text that is not stored as it is.
inline constexpr uint8_t kInteger8 = 0xc0;
inline constexpr uint8_t kInteger16 = 0xc1;
inline constexpr uint8_t kInteger32 = 0xc2;
inline constexpr uint8_t kCompressed = 0xc3;

// Scores as text (type 3).
inline constexpr uint8_t kScoreNan = 253;
inline constexpr uint8_t kScoreInfinity = 254;
inline constexpr uint8_t kScoreMinusInfinity = 255;

// What a node of a list is (type 18).
inline constexpr uint64_t kNodePlain = 1;
inline constexpr uint64_t kNodePacked = 2;

}  // namespace respite::rdb
