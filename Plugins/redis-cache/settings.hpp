// The configuration of the plugin.
#ifndef REDIS_CACHE_SETTINGS_HPP
#define REDIS_CACHE_SETTINGS_HPP

#include <carabiner.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Where the server is, and how to log in.
struct Server {
  /// The host and the port, or the path of a socket.
  std::string host = {};
  std::string port = "6379";
  std::string path = {};
  std::string database = "0";
  bool uses_tls = false;
  /// A file of certificates in place of those of the system; may be empty.
  std::string ca_file = {};
  std::string user = {};
  std::string password = {};

  /// Reads `redis://HOST:PORT/DB`, `rediss://HOST:PORT/DB` or `unix:PATH`. Throws crb::Failure.
  static Server at(const std::string &url);
};

struct Settings {
  static constexpr const char *schema =
      R"({"type":"object","additionalProperties":false,"required":["url","prefix"],
        "examples":[{"url":"redis://127.0.0.1:6379","prefix":"shop","headers":["x-user"],"operations":{"Prices":5}}],
        "properties":{
          "url":{"type":"string","minLength":1,"maxLength":1024},
          "user":{"type":"string","minLength":1,"maxLength":256},
          "password":{"type":"string","minLength":1,"maxLength":4096},
          "ca-file":{"type":"string","minLength":1,"maxLength":4000},
          "prefix":{"type":"string","pattern":"^[0-9A-Za-z-]+$","maxLength":64},
          "ttl-seconds":{"type":"integer","minimum":0,"maximum":31536000},
          "operations":{"type":"object","maxProperties":1024,
            "additionalProperties":{"type":"integer","minimum":0,"maximum":31536000}},
          "headers":{"type":"array","maxItems":16,
            "items":{"type":"string","minLength":1,"maxLength":64,"pattern":"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"}},
          "public":{"type":"boolean"},
          "maximum-entry-bytes":{"type":"integer","minimum":1024,"maximum":16777216},
          "read-budget-milliseconds":{"type":"integer","minimum":1,"maximum":10000},
          "write-queue-bytes":{"type":"integer","minimum":65536,"maximum":268435456}}})";

  explicit Settings(const crb::Config &config);

  Server server;
  /// `{crb:PREFIX}:`. The braces keep all keys in one slot of a cluster.
  std::string key_prefix;
  int64_t ttl_seconds;
  std::map<std::string, int64_t, std::less<>> ttl_of_operation;
  /// The headers of which the key is made, in lower case, sorted.
  std::vector<std::string> headers;
  size_t maximum_entry;
  std::chrono::nanoseconds read_budget;
  size_t write_queue;
};

#endif
