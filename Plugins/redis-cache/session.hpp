// One connection of the client, from the login to its loss.
#ifndef REDIS_CACHE_SESSION_HPP
#define REDIS_CACHE_SESSION_HPP

#include "client.hpp"
#include "resp.hpp"

class Session {
 public:
  /// Connects and logs in. Throws Lost.
  Session(Client &client, Clock::time_point until);

  /// Sends commands and takes answers until the client ends, or throws Lost.
  void serve();

 private:
  /// A command whose answer is still to come.
  struct Sent {
    /// Of a read whose time is not over; NULL for a write.
    std::unique_ptr<Waiter> waiter;
    bool is_read;
    /// Of a read, the end of its budget.
    Clock::time_point deadline;
    Clock::time_point sent;
  };

  resp::Answer ask(std::initializer_list<std::string_view> words, Clock::time_point until);
  void log_in(Clock::time_point until);
  void take_commands();
  void send();
  /// Returns whether more may be there.
  bool receive();
  void end_late_reads();
  void answered(Sent command, resp::Answer answer);
  /// Ends the connection, by Lost, if the server may have been replaced.
  void leave_if_unfit(const std::string &code);
  void complain(const std::string &code);
  Clock::time_point next_deadline() const;

  Client &client_;
  Socket socket_;
  resp::Reader reader_;
  std::string out_;
  /// The bytes of `out_` that were sent.
  size_t out_sent_ = 0;
  bool has_writes_left_ = false;
  std::deque<Sent> sent_;
  unsigned late_in_row_ = 0;
  Clock::time_point writes_pause_until_{};
  Clock::time_point last_complaint_{};
};

#endif
