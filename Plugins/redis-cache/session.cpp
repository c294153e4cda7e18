#include "session.hpp"

#include <poll.h>

#include <algorithm>

#include "entry.hpp"

namespace {

using namespace std::chrono_literals;

/// The number of reads in a row without an answer in time that opens the circuit.
constexpr unsigned maximum_late = 5;
/// The time without an answer to a command after which the circuit opens.
constexpr auto patience = 2s;
/// How long nothing is written after the server refused a write, for example because its memory is full.
constexpr auto pause_of_writes = 10s;
constexpr auto pause_of_complaints = 60s;
/// Errors of a server that may have been replaced. The address may already lead to another one.
constexpr std::string_view unfit_codes[] = {"READONLY", "MASTERDOWN", "LOADING", "NOREPLICAS"};
/// Writes are taken in portions, so that a read waits for one portion at most.
constexpr size_t portion = 256 << 10;

}  // namespace

Session::Session(Client &client, Clock::time_point until)
    : client_(client),
      socket_(client.settings_.server, client.trust_, [&](int descriptor, short events) { client.wait(descriptor, events, until); }),
      reader_(std::max<size_t>(client.settings_.maximum_entry + entry::maximum_overhead, 1024)) {
  log_in(until);
}

resp::Answer Session::ask(std::initializer_list<std::string_view> words, Clock::time_point until) {
  resp::append_command(out_, words);
  for (;;) {
    send();
    const bool has_more = receive();
    if (auto answer = reader_.next()) return std::move(*answer);
    if (has_more) continue;
    if (out_.empty()) client_.wait(socket_.descriptor(), socket_.read_events(), until);
    else client_.wait(socket_.descriptor(), socket_.write_events(), until);
  }
}

void Session::log_in(Clock::time_point until) {
  const Server &server = client_.settings_.server;
  const auto demand = [&](std::initializer_list<std::string_view> words, const char *what) {
    const resp::Answer answer = ask(words, until);
    if (answer.kind == resp::Answer::Kind::Status) return;
    const std::string code = answer.error_code();
    // A server that has just started is loading its data.
    throw Lost(std::string("the server refuses ") + what + ": " + code, code != "LOADING");
  };
  if (!server.user.empty()) demand({"AUTH", server.user, server.password}, "the login");
  else if (!server.password.empty()) demand({"AUTH", server.password}, "the login");
  if (server.database != "0") demand({"SELECT", server.database}, "the database");
  demand({"PING"}, "a PING");
}

void Session::serve() {
  while (!client_.ends_.load()) {
    take_commands();
    send();
    const bool has_more = receive();
    while (auto answer = reader_.next()) {
      if (sent_.empty()) throw Lost("the server answered without a question");
      Sent command = std::move(sent_.front());
      sent_.pop_front();
      answered(std::move(command), std::move(*answer));
    }
    end_late_reads();
    // The next portion of writes is taken when this one is sent.
    if (has_more || (has_writes_left_ && out_.empty())) continue;
    const short events = static_cast<short>(socket_.read_events() | (out_.empty() ? 0 : socket_.write_events()));
    client_.poll(socket_.descriptor(), events, next_deadline());
  }
}

void Session::take_commands() {
  std::vector<Client::Read> reads;
  std::deque<Client::Write> writes;
  const auto now = Clock::now();
  {
    const std::lock_guard lock(client_.mutex_);
    client_.has_new_ = false;
    reads.swap(client_.reads_);
    for (size_t bytes = out_.size(); bytes < portion && !client_.writes_.empty();) {
      bytes += client_.writes_.front().bytes.size();
      client_.write_bytes_ -= client_.writes_.front().key.size() + client_.writes_.front().bytes.size();
      writes.push_back(std::move(client_.writes_.front()));
      client_.writes_.pop_front();
    }
    has_writes_left_ = !client_.writes_.empty();
    if (now < writes_pause_until_) {
      client_.dropped_writes_ += writes.size();
      writes.clear();
    }
  }
  const std::string epoch = client_.settings_.key_prefix + "epoch";
  for (Client::Read &read : reads) {
    resp::append_command(out_, {"MGET", epoch, read.key});
    sent_.push_back({std::move(read.waiter), true, read.deadline, now});
  }
  for (const Client::Write &write : writes) {
    resp::append_command(out_, {"SET", write.key, write.bytes, "EX", std::to_string(write.seconds)});
    sent_.push_back({nullptr, false, now, now});
  }
}

void Session::send() {
  while (!out_.empty()) {
    const size_t count = socket_.write(std::string_view(out_).substr(out_sent_));
    if (count == 0) return;
    out_sent_ += count;
    if (out_sent_ < out_.size() && out_sent_ < portion) continue;
    out_.erase(0, out_sent_);
    out_sent_ = 0;
    // The memory for the largest entry is not kept.
    if (out_.capacity() > 2 * portion) out_.shrink_to_fit();
  }
}

bool Session::receive() {
  char bytes[16384];
  // In portions: the reader must refuse what is too long before more is added, and reads must end in time.
  for (int count = 0; count < 8; count++) {
    const size_t length = socket_.read(bytes, sizeof bytes);
    if (length == 0) return false;
    reader_.add({bytes, length});
  }
  return true;
}

void Session::answered(Sent command, resp::Answer answer) {
  using Kind = resp::Answer::Kind;
  if (!command.is_read) {
    if (answer.kind != Kind::Error) return;
    leave_if_unfit(answer.error_code());
    writes_pause_until_ = Clock::now() + pause_of_writes;
    complain(answer.error_code());
    return;
  }
  client_.open_reads_--;
  std::optional<Found> found;
  if (answer.kind == Kind::List && answer.elements.size() == 2) {
    const auto is_value = [](const resp::Answer &element) { return element.kind == Kind::Text || element.kind == Kind::Null; };
    if (!is_value(answer.elements[0]) || !is_value(answer.elements[1])) throw resp::Malformed("an answer to MGET has other types");
    if (answer.elements[0].text.size() <= entry::maximum_epoch) {
      found = Found{std::move(answer.elements[0].text), std::nullopt};
      if (answer.elements[1].kind == Kind::Text) found->bytes = std::move(answer.elements[1].text);
    }
  } else if (answer.kind == Kind::Error) {
    complain(answer.error_code());
  } else {
    throw resp::Malformed("an answer to MGET is not a list of two");
  }
  // A late answer shows that the server works, but not in time.
  if (!command.waiter) return;
  late_in_row_ = 0;
  command.waiter->finish(std::move(found));
  if (answer.kind == Kind::Error) leave_if_unfit(answer.error_code());
}

void Session::leave_if_unfit(const std::string &code) {
  if (std::find(std::begin(unfit_codes), std::end(unfit_codes), code) == std::end(unfit_codes)) return;
  // A new connection that leads to such a server as well is kept for a while, because it may be read from.
  const auto now = Clock::now();
  if (client_.last_leave_ != Clock::time_point{} && now - client_.last_leave_ < pause_of_writes) return;
  client_.last_leave_ = now;
  throw Lost("the server refuses commands: " + code + ", so it may not be the primary any more; check where the address leads");
}

void Session::end_late_reads() {
  const auto now = Clock::now();
  if (!sent_.empty() && now - sent_.front().sent >= patience) throw Lost("the server has not answered for 2 s");
  // Reads of one budget end in the order in which they were sent. At most `maximum_late` in front of the first open one have ended.
  for (Sent &command : sent_) {
    if (!command.waiter) continue;
    if (command.deadline > now) break;
    command.waiter->finish(std::nullopt);
    command.waiter.reset();
    late_in_row_++;
  }
  if (late_in_row_ >= maximum_late) throw Lost("5 reads in a row were not answered within read-budget-milliseconds");
}

Clock::time_point Session::next_deadline() const {
  if (sent_.empty()) return Clock::time_point::max();
  auto next = sent_.front().sent + patience;
  for (const Sent &command : sent_) {
    if (!command.waiter) continue;
    next = std::min(next, command.deadline);
    break;
  }
  return next;
}

void Session::complain(const std::string &code) {
  const auto now = Clock::now();
  if (last_complaint_ != Clock::time_point{} && now - last_complaint_ < pause_of_complaints) return;
  last_complaint_ = now;
  client_.log(crb::Level::Warning, "the server refuses commands: " + code + "; see the server's log and the permissions of the user");
}
