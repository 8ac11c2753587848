// The format of RDB files and of DUMP payloads: numbers and names. RdbOutput and RdbInput implement the primitives,
// rdb_value_writer.h and rdb_value_reader.h the values, rdb_file_writer.h and rdb_file_reader.h the files.
//
// Primitives (`{n}` is n bytes; all numbers are little-endian unless stated otherwise):
//
//   length  = 00nnnnnn                        0 … 63
//           | 01nnnnnn {1}                    14 bits, big-endian
//           | 10000000 {4}                    32 bits, big-endian
//           | 10000001 {8}                    64 bits, big-endian
//   text    = length {length}                 verbatim
//           | 11000000 {1} | 11000001 {2} | 11000010 {4}
//                                             the decimal text of a signed integer
//           | 11000011 length(packed) length(text) {packed}
//                                             compressed by LZF
//   double  = {8}                             IEEE 754
//   number  = {1} {n}                         a score as decimal text of n bytes; 253 NaN, 254 +inf, 255 -inf
//   millis  = {8}                             signed milliseconds since the Unix epoch
//
// Values, each after its type byte (`n` is a length):
//
//    0 string           text
//    1 list             n text*n
//    2 set              n text*n
//    3 sorted set       n (text number)*n
//    4 hash             n (text text)*n
//    5 sorted set       n (text double)*n      a large set; Redis and Respite write the best score first
//    9 hash             text of a zipmap
//   10 list             text of a ziplist
//   11 set              text of an intset
//   12 sorted set       text of a ziplist      member, score, member, score …
//   13 hash             text of a ziplist      field, value …
//   14 list             n (text of a ziplist)*n
//   16 hash             text of a listpack     field, value …
//   17 sorted set       text of a listpack     member, score … from the lowest score
//   18 list             n (length 1, text of an element | length 2, text of a listpack)*n
//   20 set              text of a listpack
//   24 hash with field deadlines (Redis 7.4)   millis(first) n (length(ttl) text text)*n
//                                              ttl: 0 for none, else deadline - first + 1
//   25 small hash with field deadlines         millis(first), text of a listpack: field, value, deadline (0: none) …
//                                              from the earliest deadline; fields without a deadline come last
//
//   21 stream           n (text of 16 bytes: ID, text of a listpack)*n   (rdb_stream.cc has the listpack)
//                       n(entries) id(last) id(first) id(greatest deleted) n(ever added)
//                       n (text(name) id(last) n(ever read) n (ID millis n(deliveries))*n n consumer*n)*n
//                       id is two lengths; ID is the same in 16 bytes, big-endian
//                       consumer is text(name) millis(seen) millis(active) n ID*n
//   26 stream           like 21, then n(seconds) n(maximum) n (text(producer) n (text id)*n)*n n(added) n(duplicates)
//                       for XADD … IDMP: how long and how many idempotent IDs are remembered, and which entry each has
//   27 stream           like 26; each group ends with n ID*n: the entries that XNACK has released
//   19 stream           like 21, without millis(active)
//   15 stream           like 19, without the part between id(last) and the groups, and without n(ever read)
//
//    7 module           n(module) part* 0      a part is as in item 247 below; JSON: 5 text, the document as JSON
//
//   28 array            n(elements) (0 | 1 n(index of the last insertion)) (n(index) element)*n, by ascending index
//                       element is 0 text | 1 {8}(integer) | 2 double | 3 text of up to 7 bytes
//
//   22 hash (Valkey)    n (text(field) text {8}(deadline in ms; -1: none))*n
//
// Unfinished versions of Redis 7.4 wrote 22 and 23 for hashes with field deadlines; 6 is a value of an old module.
//
// A file is
//
//   "REDIS" version item * 255 [{8}]
//
// The version has four digits. From version 5 on, the 255 is followed by the CRC-64 of everything before it, or by 0 if
// checksums are disabled. An AOF may continue after the RDB. An item is
//
//   250 text text             aux: the name of a property of the file, and its value
//   245 text                  the code of a function library
//   254 n                     the keys that follow belong to database n
//   251 n n                   the number of its keys, and of its keys with deadlines
//   244 n n n                 (Redis 7.4 in a cluster) a slot, its number of keys, and of keys with deadlines
//   247 n(module) 2 n(when) part * 0
//                             data that a module stores outside keys; a part is 1 n, 2 n, 3 {4}, 4 {8} or 5 text: two
//                             integers, a float, a double, a text
//   type text(key) value      a key, preceded by any of these in any order:
//     252 millis | 253 {4}    its deadline in milliseconds or seconds
//     248 n                   the seconds since its last use
//     249 {1}                 how often it is used, as the counter of LFU
//
// Redis 7.2 and Respite write, in this order: aux fields, libraries, and for each non-empty database 254, 251 and keys.
//
// The number of a module consists of its name (nine characters of 6 bits, in the high bits) and a 10-bit version.
//
// A DUMP payload is `type value {2} {8}`. The last two are the format version and the CRC-64 of everything before it.
//
// Example, the list [ "a", "300" ]: 12 01 02  0d 0d 00 00 00 02 00 81 61 02 c1 2c 02 ff  0b 00  and the CRC-64
//   12            type 18
//   01 02         one node, which is a listpack
//   0d            a text of 13 bytes follows: the listpack (see listpack.h)
//   0b 00         version 11
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace respite::rdb {

enum class Dialect : uint8_t { kRedis, kValkey };  // whether type numbers have the meaning of Redis or of Valkey 9

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
  kTimedHashDraft = 22,  // of Redis; in Valkey kValkeyTimedHash
  kValkeyTimedHash = 22,
  kTimedHashListpackDraft = 23,
  kTimedHash = 24,
  kTimedHashListpack = 25,
  kStreamListpacks4 = 26,
  kStreamListpacks5 = 27,
  kArray = 28,
};

// Opcodes: the first byte of an item, or of an attribute of the next key (its deadline, idle time or frequency). Any
// smaller first byte is the type of a value, and begins a key.
inline constexpr uint8_t kSlotImport = 243;  // of Valkey 9: slots that a node is importing
inline constexpr uint8_t kSlotInfo = 244;
inline constexpr uint8_t kFunctionLibrary = 245;
inline constexpr uint8_t kFunctionDraft = 246;  // written by unfinished versions of Redis 7.0
inline constexpr uint8_t kModuleAux = 247;
inline constexpr uint8_t kIdleSeconds = 248;
inline constexpr uint8_t kFrequency = 249;
inline constexpr uint8_t kAux = 250;
inline constexpr uint8_t kResizeDatabase = 251;
inline constexpr uint8_t kDeadlineMs = 252;
inline constexpr uint8_t kDeadlineSeconds = 253;
inline constexpr uint8_t kSelectDatabase = 254;
inline constexpr uint8_t kEnd = 255;

// The number before each part of a module's data, which tells what the part is.
inline constexpr uint64_t kPartEnd = 0;
inline constexpr uint64_t kPartSigned = 1;
inline constexpr uint64_t kPartUnsigned = 2;
inline constexpr uint64_t kPartFloat = 3;
inline constexpr uint64_t kPartDouble = 4;
inline constexpr uint64_t kPartText = 5;

// The characters that the name of a module can have.
inline constexpr std::string_view kModuleCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
inline constexpr int kModuleVersionBits = 10;  // the lowest bits of the number of a module are its version
// Requires: `name` has nine characters of kModuleCharacters, and `version` is below 1024.
constexpr uint64_t ModuleNumber(std::string_view name, uint64_t version) {  // the ID of a module, as RDB files have it
  uint64_t number = 0;
  for (const char c : name) number = number << 6 | kModuleCharacters.find(c);
  return number << kModuleVersionBits | version;
}

inline constexpr std::string_view kSignature = "REDIS";
inline constexpr size_t kVersionDigits = 4;
// Valkey 9 has versions of its own. Its files begin with "VALKEY080". Such files are like those of Redis' version 11,
// except that type 22 is a hash with field deadlines.
inline constexpr std::string_view kValkeySignature = "VALKEY";
inline constexpr size_t kValkeyVersionDigits = 3;
inline constexpr uint16_t kValkeyVersion = 80;

// The auxiliary field with the slots that a node is importing (server/storage/hidden_slots_text.h).
inline constexpr std::string_view kHiddenSlotsAux = "respite-hidden-slots";
inline constexpr std::string_view kRedisTaskAux = "cluster-asm-task";  // the field of Redis 8.4 with the same purpose

// Versions of the format. Redis 7.0 writes kVersionOf70, which this server writes for RdbDialect::k70, and in payloads
// for older versions. Redis 7.2 writes kVersion. Redis 7.4 writes kVersionOfTimedHashes, which this server writes only
// if hashes have field deadlines. Redis 8.6 writes kVersionOfProducers, which this server writes only in DUMP payloads
// of streams with idempotent production. Redis 8.8 writes kVersionOfArrays, which this server writes only in DUMP
// payloads of arrays. The server reads versions up to kNewestVersion. Files end with a checksum from kFirstWithChecksum
// on.
inline constexpr uint16_t kVersionOf70 = 10;
inline constexpr uint16_t kVersion = 11;
inline constexpr uint16_t kVersionOfTimedHashes = 12;
inline constexpr uint16_t kVersionOfProducers = 13;
inline constexpr uint16_t kVersionOfArrays = 14;
inline constexpr uint16_t kNewestVersion = 14;
inline constexpr uint16_t kFirstWithChecksum = 5;

// First bytes of lengths that take more than one byte.
inline constexpr uint8_t kLength14 = 0x40;
inline constexpr uint8_t kLength32 = 0x80;
inline constexpr uint8_t kLength64 = 0x81;
// First bytes of texts that are not stored verbatim.
inline constexpr uint8_t kInteger8 = 0xc0;
inline constexpr uint8_t kInteger16 = 0xc1;
inline constexpr uint8_t kInteger32 = 0xc2;
inline constexpr uint8_t kCompressed = 0xc3;

// Special values of the length byte of a score that is stored as text (type 3).
inline constexpr uint8_t kScoreNan = 253;
inline constexpr uint8_t kScoreInfinity = 254;
inline constexpr uint8_t kScoreMinusInfinity = 255;

// The kinds of elements of an array (type 28).
inline constexpr uint64_t kElementText = 0;
inline constexpr uint64_t kElementInteger = 1;
inline constexpr uint64_t kElementDouble = 2;
inline constexpr uint64_t kElementShortText = 3;

// The kinds of nodes in a list of RDB type 18: kNodePlain is a single element, kNodePacked is a listpack.
inline constexpr uint64_t kNodePlain = 1;
inline constexpr uint64_t kNodePacked = 2;

}  // namespace respite::rdb
