// A connection to the server that never blocks, with or without TLS.
#ifndef REDIS_CACHE_SOCKET_HPP
#define REDIS_CACHE_SOCKET_HPP

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "settings.hpp"

struct ssl_st;
struct ssl_ctx_st;

using Clock = std::chrono::steady_clock;

/// The connection is lost, or was not made. The text is for the log.
class Lost : public std::runtime_error {
 public:
  /// `is_for_operator`: it does not end until the configuration or the server is changed.
  explicit Lost(const std::string &reason, bool is_for_operator = false)
      : std::runtime_error(reason), is_for_operator(is_for_operator) {}
  const bool is_for_operator;
};

/// Certificates to trust, read once.
class TrustStore {
 public:
  /// Does nothing for a server without TLS. Throws crb::Failure if the file cannot be read.
  explicit TrustStore(const Server &server);

  ssl_ctx_st *context() const { return context_.get(); }

 private:
  std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st *)> context_;
};

class Socket {
 public:
  /// Waits until a descriptor is ready for the events of poll(), and throws if it takes too long.
  using Wait = std::function<void(int descriptor, short events)>;

  /// Connects, and does the handshake of TLS. Only `wait` takes time, and the look-up of a name.
  Socket(const Server &server, const TrustStore &trust, const Wait &wait);
  ~Socket();
  Socket(const Socket &) = delete;
  Socket &operator=(const Socket &) = delete;

  int descriptor() const { return descriptor_; }

  /// The number of bytes written or read; 0 if the socket is not ready. Throws Lost.
  size_t write(std::string_view bytes);
  size_t read(char *bytes, size_t capacity);
  /// The events of poll() after which an unfinished `write` or `read` can go on.
  short write_events() const { return write_events_; }
  short read_events() const { return read_events_; }

 private:
  void connect(const Server &server, const Wait &wait);
  /// 0 or an errno.
  int try_address(int family, const void *address, unsigned length, const Wait &wait);
  void secure(const Server &server, const TrustStore &trust, const Wait &wait);
  size_t transferred(int result, short &events);
  void close_descriptor();

  int descriptor_ = -1;
  std::unique_ptr<ssl_st, void (*)(ssl_st *)> tls_;
  short write_events_;
  short read_events_;
};

#endif
