// The client of the server: one connection, on a thread of its own. Its functions return at once.
//
// While there is no connection, reads are misses at once and writes are dropped: the circuit is open. It opens when the connection is
// lost, when the server sends bytes that are not an answer, and after several reads in a row without an answer in time. The thread
// connects again after a pause that grows. A login and a PING close the circuit.
#ifndef REDIS_CACHE_CLIENT_HPP
#define REDIS_CACHE_CLIENT_HPP

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "settings.hpp"
#include "socket.hpp"

/// The answer of the server to a read.
struct Found {
  /// The current epoch; empty if there is none.
  std::string epoch;
  /// The stored bytes, if there are any.
  std::optional<std::string> bytes;
};

/// A read that waits. It is finished once, on any thread. If it is destroyed before, it finishes itself with nothing.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// Nothing: the server could not be asked, or did not answer in time.
  virtual void finish(std::optional<Found> found) noexcept = 0;
};

class Client {
 public:
  Client(const Settings &settings, const crb::Host &host);
  ~Client();
  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;

  /// Whether a read could be answered now. It makes no system call.
  bool is_ready() const { return is_ready_.load(std::memory_order_relaxed); }

  /// Reads the epoch and a key.
  void read(std::string key, std::unique_ptr<Waiter> waiter);
  /// Stores bytes under a key, unless too much waits to be written.
  void write(std::string key, std::string bytes, int64_t seconds);

 private:
  friend class Session;

  struct Read {
    std::string key;
    std::unique_ptr<Waiter> waiter;
    Clock::time_point deadline;
  };
  struct Write {
    std::string key;
    std::string bytes;
    int64_t seconds;
  };

  void run() noexcept;
  void connect_repeatedly();
  /// Ends the reads that nothing will answer, and drops the writes.
  void open_circuit();
  /// Waits for a descriptor, for `wake()`, or until a time. Throws Lost if the time has passed.
  void wait(int descriptor, short events, Clock::time_point until);
  /// Waits until a time, or until the end of the client.
  void sleep_until(Clock::time_point until);
  /// Waits like ppoll(), and empties the descriptor of `wake()`. Returns the events of the descriptor.
  short poll(int descriptor, short events, Clock::time_point until);
  void wake();
  void log(crb::Level level, const std::string &line) const;
  void report(const Lost &reason);

  const Settings settings_;
  const crb::Host host_;
  const TrustStore trust_;
  int wake_descriptor_;
  std::atomic<bool> is_ready_{false};
  std::atomic<bool> ends_{false};
  /// The reads in `reads_` and those that were sent.
  std::atomic<size_t> open_reads_{0};

  std::mutex mutex_;
  // With the mutex.
  std::vector<Read> reads_;
  std::deque<Write> writes_;
  size_t write_bytes_ = 0;
  uint64_t dropped_writes_ = 0;
  /// Whether there are commands that the thread has not looked at.
  bool has_new_ = false;
  /// Whether the thread waits, or is about to.
  bool must_wake_ = true;
  bool is_named_ = false;
  std::condition_variable named_;

  // Of the thread.
  std::string last_reason_;
  Clock::time_point last_report_{};
  /// When a connection was last ended because its server may have been replaced.
  Clock::time_point last_leave_{};
  /// Whether the log says that the connection is lost.
  bool is_reported_ = false;
  std::thread thread_;
};

#endif
