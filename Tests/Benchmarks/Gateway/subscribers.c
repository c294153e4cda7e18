/* Many subscriptions through a proxy, in one thread: the upstream that sends the events, and the clients that receive them.
 *
 * usage: subscribers UPSTREAM-PORT PROXY-PORT CLIENTS
 *
 * Both sides speak HTTP/1.1 with a multipart body (subscriptionSpec=1.0). Reads commands from standard input, and answers each with
 * a line of JSON. A round sends one event to each subscription, and ends when all clients have it.
 *
 *   open             opens the subscriptions, and says how many requests had the header of the last stage
 *   rounds NUMBER    sends this many rounds
 *   seconds NUMBER   sends rounds for this time
 *
 * The end of standard input ends the program. A failure ends it with status 1 and a message. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Subscriptions that are being opened at the same time: more would overflow the queues of listeners. */
enum { OPENING = 32, BUFFER = 16384, PATIENCE_MS = 60000 };

static const char BODY[] =
    "{\"query\":\"subscription Ticks($every: Int!) { tick(every: $every) { count item { id name price } } }\","
    "\"operationName\":\"Ticks\",\"variables\":{\"every\":1}}";
static const char MARK[] = "\"count\":";

enum kind { LISTENER, COMMANDS, UPSTREAM, CLIENT };

typedef struct peer {
  enum kind kind;
  int fd;
  /* Of a client: the events so far. */
  uint64_t events;
  /* Of the upstream: whether the head of the response was sent. */
  bool is_open;
  size_t length;
  char buffer[BUFFER];
} peer;

static int poll_fd;
static peer **streams;
static size_t clients, stream_count, receiving, stages_seen;
static uint64_t sequence;
/* The delays of one command, in ns. */
static uint32_t *delays;
static size_t delay_count, delay_room;
static uint64_t round_start;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("subscribers: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static peer *watch(int fd, enum kind kind) {
  peer *p = calloc(1, sizeof *p);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = p};
  if (!p || fd < 0 || epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
    fail("a connection cannot be opened: %s", strerror(errno));
  p->fd = fd;
  p->kind = kind;
  if (kind == UPSTREAM || kind == CLIENT) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  return p;
}

static struct sockaddr_in loopback(const char *port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Everything that is sent fits into the buffer of a socket, because each event is received before the next is sent. */
static void send_all(int fd, const char *text, size_t length) {
  if (send(fd, text, length, MSG_NOSIGNAL) != (ssize_t)length) fail("sending failed: %s", strerror(errno));
}

static void connect_client(const char *port) {
  struct sockaddr_in address = loopback(port);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) fail("port %s: %s", port, strerror(errno));
  watch(fd, CLIENT);
  char request[1024];
  const int length = snprintf(
      request, sizeof request,
      "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: application/json\r\n"
      "Accept: multipart/mixed;subscriptionSpec=1.0, application/json\r\nContent-Length: %zu\r\n\r\n%s",
      port, sizeof BODY - 1, BODY);
  send_all(fd, request, (size_t)length);
}

static void send_chunk(int fd, const char *text) {
  char chunk[1024];
  const int length = snprintf(chunk, sizeof chunk, "%zx\r\n%s\r\n", strlen(text), text);
  send_all(fd, chunk, (size_t)length);
}

/* Answers a request when it is complete. */
static void serve(peer *p) {
  char *end = memmem(p->buffer, p->length, "\r\n\r\n", 4);
  if (p->is_open || !end) return;
  p->buffer[p->length] = 0;
  const char *declared = strcasestr(p->buffer, "\r\ncontent-length:");
  const size_t head = (size_t)(end - p->buffer) + 4;
  if (declared && declared < end && p->length < head + strtoul(declared + 17, NULL, 10)) return;
  if (!strstr(end, "subscription")) {
    /* A question whether the proxy runs. */
    static const char answer[] =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"data\":null}";
    send_all(p->fd, answer, sizeof answer - 1);
    p->length = 0;
    return;
  }
  static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed;boundary=\"-\";subscriptionSpec=1.0\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n";
  send_all(p->fd, answer, sizeof answer - 1);
  send_chunk(p->fd, "---");
  p->is_open = true;
  const char *stage = strcasestr(p->buffer, "\r\nx-stage-10-down:");
  if (stage && stage < end) stages_seen++;
  p->length = 0;
  streams[stream_count++] = p;
}

/* Counts the events in what a client has received. */
static void receive(peer *p) {
  char *from = p->buffer, *const end = p->buffer + p->length;
  *end = 0;
  const size_t whole = sizeof MARK - 1 + 12;
  while ((from = memmem(from, (size_t)(end - from), MARK, sizeof MARK - 1)) && (size_t)(end - from) >= whole) {
    if (strtoull(from + sizeof MARK - 1, NULL, 10) != 100000000000u + ++p->events)
      fail("a client did not get event %llu, but:\n%.*s", (unsigned long long)p->events, (int)(end - from), from);
    if (p->events == sequence && receiving > 0) {
      receiving--;
      if (delay_count == delay_room) {
        delay_room = delay_room ? delay_room * 2 : 65536;
        if (!(delays = realloc(delays, delay_room * sizeof *delays))) fail("there is no memory for the delays");
      }
      delays[delay_count++] = (uint32_t)(now() - round_start);
    }
    from += whole;
  }
  /* A mark may be incomplete. A complete one is longer than the bytes that stay. */
  const size_t rest = p->length < whole ? p->length : whole - 1;
  memmove(p->buffer, end - rest, rest);
  p->length = rest;
}

/* Handles what happens until the next command, or until a connection made progress. Returns the command, or NULL. */
static char *step(void) {
  static char command[256];
  struct epoll_event events[256];
  const int count = epoll_wait(poll_fd, events, 256, stream_count || receiving ? PATIENCE_MS : -1);
  if (count == 0 && receiving) fail("%zu clients got no event for %d s", receiving, PATIENCE_MS / 1000);
  char *found = NULL;
  for (int i = 0; i < count; i++) {
    peer *p = events[i].data.ptr;
    if (p->kind == LISTENER) {
      watch(accept4(p->fd, NULL, NULL, SOCK_CLOEXEC), UPSTREAM);
    } else if (p->kind == COMMANDS) {
      if (!fgets(command, sizeof command, stdin)) exit(0);
      found = command;
    } else {
      const ssize_t got = recv(p->fd, p->buffer + p->length, BUFFER - 1 - p->length, 0);
      if (got > 0) {
        p->length += (size_t)got;
        p->kind == UPSTREAM ? serve(p) : receive(p);
      } else if (p->kind == CLIENT || p->is_open) {
        fail("a %s was closed after %llu events", p->kind == CLIENT ? "client" : "stream", (unsigned long long)sequence);
      } else {
        /* The proxy closed a connection that it does not need. */
        close(p->fd);
        free(p);
      }
    }
  }
  return found;
}

static void open_all(const char *port) {
  const uint64_t start = now();
  for (size_t started = 0; stream_count < clients;) {
    while (started < clients && started - stream_count < OPENING) {
      connect_client(port);
      started++;
    }
    step();
    if (now() - start > PATIENCE_MS * 10000000ull) fail("only %zu of %zu subscriptions opened", stream_count, clients);
  }
  printf("{\"open\":%zu,\"stages\":%zu,\"seconds\":%.3f}\n", stream_count, stages_seen, (double)(now() - start) / 1e9);
}

static void send_round(void) {
  char event[512];
  snprintf(event, sizeof event,
           "\r\nContent-Type: application/json\r\n\r\n{\"payload\":{\"data\":{\"tick\":{\"__typename\":\"Tick\",%s%llu,"
           "\"item\":{\"__typename\":\"Item\",\"id\":\"1\",\"name\":\"Item number 1\",\"price\":1.5}}}}}\r\n---",
           MARK, (unsigned long long)(100000000000u + ++sequence));
  receiving = clients;
  round_start = now();
  for (size_t i = 0; i < stream_count; i++) send_chunk(streams[i]->fd, event);
  while (receiving > 0) step();
}

static int ascending(const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

static void run(uint64_t rounds, double seconds) {
  const uint64_t start = now();
  delay_count = 0;
  uint64_t sent = 0;
  while (rounds ? sent < rounds : (double)(now() - start) < seconds * 1e9) {
    send_round();
    sent++;
  }
  const double time = (double)(now() - start) / 1e9;
  qsort(delays, delay_count, sizeof *delays, ascending);
  printf("{\"requests\":%zu,\"seconds\":%.6f,\"p50\":%.3f,\"p99\":%.3f}\n", delay_count, time, delays[delay_count / 2] / 1e6,
         delays[delay_count * 99 / 100] / 1e6);
}

int main(int argc, char **argv) {
  if (argc != 4 || (clients = strtoul(argv[3], NULL, 10)) == 0) {
    fputs("usage: subscribers UPSTREAM-PORT PROXY-PORT CLIENTS\n", stderr);
    return 2;
  }
  setvbuf(stdin, NULL, _IONBF, 0);
  setvbuf(stdout, NULL, _IOLBF, 0);
  poll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (!(streams = calloc(clients, sizeof(peer *)))) fail("there is no memory for %zu clients", clients);
  struct sockaddr_in address = loopback(argv[1]);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1024) != 0)
    fail("cannot listen on port %s: %s", argv[1], strerror(errno));
  watch(listener, LISTENER);
  watch(STDIN_FILENO, COMMANDS);
  for (;;) {
    const char *command = step();
    if (!command) continue;
    double number = 0;
    if (strcmp(command, "open\n") == 0) {
      open_all(argv[2]);
    } else if (sscanf(command, "rounds %lf", &number) == 1 && number >= 1) {
      run((uint64_t)number, 0);
    } else if (sscanf(command, "seconds %lf", &number) == 1 && number > 0) {
      run(0, number);
    } else {
      fail("unknown command %s", command);
    }
  }
}
