#include "settings.hpp"

#include <algorithm>
#include <charconv>

#include "entry.hpp"

namespace {

[[noreturn]] void refuse(const std::string &problem) { throw crb::Failure(problem); }

std::string lower(std::string text) {
  for (char &letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 32);
  }
  return text;
}

/// Removes a prefix of a text, and says whether there was one.
bool take(std::string &text, std::string_view prefix) {
  if (text.compare(0, prefix.size(), prefix) != 0) return false;
  text.erase(0, prefix.size());
  return true;
}

/// A number without sign and spaces, at most `maximum`.
bool is_number(const std::string &text, unsigned maximum) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value <= maximum;
}

}  // namespace

Server Server::at(const std::string &url) {
  Server server;
  std::string rest = url;
  if (take(rest, "unix:")) {
    if (rest.empty() || rest.front() != '/') refuse("/url: the path of a socket begins with /, as in unix:/run/redis/redis.sock");
    if (rest.size() > 107) refuse("/url: the path of a socket has at most 107 bytes");
    server.path = rest;
    return server;
  }
  if (take(rest, "rediss://")) server.uses_tls = true;
  else if (!take(rest, "redis://")) refuse("/url: it begins with redis://, rediss:// or unix:");
  // The message does not repeat the URL, which has a password in it.
  if (rest.find('@') != std::string::npos) refuse("/url: a password in a URL ends up in logs; use the keys user and password");
  if (const size_t slash = rest.find('/'); slash != std::string::npos) {
    server.database = rest.substr(slash + 1);
    if (server.database.empty()) server.database = "0";
    if (!is_number(server.database, 65535)) refuse("/url: the database after the last / is not a number");
    rest.erase(slash);
  }
  // An IPv6 address is in brackets.
  const size_t closing = rest.find(']');
  const size_t colon = rest.find(':', closing == std::string::npos ? 0 : closing);
  if (colon != std::string::npos) {
    server.port = rest.substr(colon + 1);
    if (!is_number(server.port, 65535) || server.port == "0") refuse("/url: the port is not a number from 1 to 65535");
    rest.erase(colon);
  }
  if (rest.size() > 1 && rest.front() == '[' && rest.back() == ']') rest = rest.substr(1, rest.size() - 2);
  if (rest.empty()) refuse("/url: there is no host");
  if (rest.find_first_of("[] \t?#%") != std::string::npos) refuse("/url: the host has a character that hosts do not have");
  server.host = rest;
  return server;
}

Settings::Settings(const crb::Config &config)
    : server(Server::at(config.text("url").value_or(""))),
      key_prefix("{crb:" + config.text("prefix").value_or("") + "}:"),
      ttl_seconds(config.integer("ttl-seconds").value_or(60)),
      maximum_entry(static_cast<size_t>(config.integer("maximum-entry-bytes").value_or(1 << 20))),
      read_budget(std::chrono::milliseconds(config.integer("read-budget-milliseconds").value_or(20))),
      write_queue(static_cast<size_t>(config.integer("write-queue-bytes").value_or(16 << 20))) {
  server.user = config.text("user").value_or("");
  server.password = config.text("password").value_or("");
  server.ca_file = config.text("ca-file").value_or("");
  if (!server.user.empty() && server.password.empty()) refuse("/user: a user needs a password");
  if (!server.ca_file.empty() && !server.uses_tls) refuse("/ca-file: certificates are for URLs with rediss://");
  if (const auto operations = config["operations"]) {
    for (const auto &[name, seconds] : operations->members()) ttl_of_operation[name] = seconds.as_integer();
  }
  if (const auto names = config["headers"]) {
    for (const auto &name : names->elements()) headers.push_back(lower(name.as_text()));
  }
  if (!config.boolean("public").value_or(false)) {
    headers.emplace_back("authorization");
    headers.emplace_back("cookie");
  }
  std::sort(headers.begin(), headers.end());
  headers.erase(std::unique(headers.begin(), headers.end()), headers.end());
  // An entry that does not fit would never be written.
  if (maximum_entry + entry::maximum_overhead > write_queue) {
    refuse("/write-queue-bytes: it must be larger than maximum-entry-bytes");
  }
}
