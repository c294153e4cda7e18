#include "socket.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace {

std::string text_of(int error) {
  char buffer[128] = "";
  return strerror_r(error, buffer, sizeof buffer);
}

bool is_address(const std::string &host) {
  in6_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 || inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

TrustStore::TrustStore(const Server &server) : context_(nullptr, SSL_CTX_free) {
  if (!server.uses_tls) return;
  context_.reset(SSL_CTX_new(TLS_client_method()));
  if (!context_) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context(), SSL_VERIFY_PEER, nullptr);
  // A buffer may move and grow between two tries to write it.
  SSL_CTX_set_mode(context(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  const bool is_read = server.ca_file.empty() ? SSL_CTX_set_default_verify_paths(context()) == 1
                                              : SSL_CTX_load_verify_locations(context(), server.ca_file.c_str(), nullptr) == 1;
  ERR_clear_error();
  if (!is_read) throw crb::Failure("/ca-file: there are no certificates in this file, or it cannot be read");
}

Socket::Socket(const Server &server, const TrustStore &trust, const Wait &wait)
    : tls_(nullptr, SSL_free), write_events_(POLLOUT), read_events_(POLLIN) {
  try {
    connect(server, wait);
    if (server.uses_tls) secure(server, trust, wait);
  } catch (...) {
    close_descriptor();
    throw;
  }
}

Socket::~Socket() {
  tls_.reset();
  close_descriptor();
}

void Socket::close_descriptor() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

int Socket::try_address(int family, const void *address, unsigned length, const Wait &wait) {
  descriptor_ = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0 && errno == ENOSYS) throw Lost("sockets are refused here, as in a worker; use isolation: in-process", true);
  if (descriptor_ < 0) return errno;
  const int is_on = 1;
  if (family != AF_UNIX) setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &is_on, sizeof is_on);
  int error = ::connect(descriptor_, static_cast<const sockaddr *>(address), length) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    wait(descriptor_, POLLOUT);
    socklen_t size = sizeof error;
    if (getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  }
  if (error) close_descriptor();
  return error;
}

void Socket::connect(const Server &server, const Wait &wait) {
  int error = 0;
  if (!server.path.empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, server.path.c_str(), server.path.size());
    error = try_address(AF_UNIX, &address, sizeof address, wait);
  } else {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    // An address needs no look-up, which could wait for a name server.
    hints.ai_flags = AI_NUMERICSERV | (is_address(server.host) ? AI_NUMERICHOST : 0);
    addrinfo *found = nullptr;
    if (const int problem = getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found)) {
      throw Lost(std::string("the name of the host was not found: ") + gai_strerror(problem));
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo *)> addresses(found, freeaddrinfo);
    for (const addrinfo *each = found; each; each = each->ai_next) {
      error = try_address(each->ai_family, each->ai_addr, each->ai_addrlen, wait);
      if (error == 0) break;
    }
  }
  if (error) throw Lost("no connection: " + text_of(error));
}

void Socket::secure(const Server &server, const TrustStore &trust, const Wait &wait) {
  tls_.reset(SSL_new(trust.context()));
  if (!tls_ || SSL_set_fd(tls_.get(), descriptor_) != 1) throw std::bad_alloc();
  if (is_address(server.host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_.get()), server.host.c_str());
  } else {
    SSL_set1_host(tls_.get(), server.host.c_str());
    SSL_set_tlsext_host_name(tls_.get(), server.host.c_str());
  }
  for (;;) {
    ERR_clear_error();
    const int result = SSL_connect(tls_.get());
    if (result == 1) return;
    const int problem = SSL_get_error(tls_.get(), result);
    if (problem == SSL_ERROR_WANT_READ) {
      wait(descriptor_, POLLIN);
    } else if (problem == SSL_ERROR_WANT_WRITE) {
      wait(descriptor_, POLLOUT);
    } else {
      const long verdict = SSL_get_verify_result(tls_.get());
      if (verdict != X509_V_OK) {
        throw Lost(std::string("the certificate of the server is not trusted: ") + X509_verify_cert_error_string(verdict), true);
      }
      throw Lost("the handshake of TLS failed");
    }
  }
}

size_t Socket::transferred(int result, short &events) {
  if (result > 0) return static_cast<size_t>(result);
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ: events = POLLIN; return 0;
    case SSL_ERROR_WANT_WRITE: events = POLLOUT; return 0;
    default: throw Lost("the connection was closed");
  }
}

size_t Socket::write(std::string_view bytes) {
  if (bytes.empty()) return 0;
  if (tls_) {
    ERR_clear_error();
    write_events_ = POLLOUT;
    return transferred(SSL_write(tls_.get(), bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX))), write_events_);
  }
  const ssize_t count = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return static_cast<size_t>(count);
  if (errno == EAGAIN || errno == EINTR) return 0;
  throw Lost("the connection was lost: " + text_of(errno));
}

size_t Socket::read(char *bytes, size_t capacity) {
  if (tls_) {
    ERR_clear_error();
    read_events_ = POLLIN;
    return transferred(SSL_read(tls_.get(), bytes, static_cast<int>(std::min<size_t>(capacity, INT_MAX))), read_events_);
  }
  const ssize_t count = recv(descriptor_, bytes, capacity, 0);
  if (count > 0) return static_cast<size_t>(count);
  if (count == 0) throw Lost("the connection was closed");
  if (errno == EAGAIN || errno == EINTR) return 0;
  throw Lost("the connection was lost: " + text_of(errno));
}
