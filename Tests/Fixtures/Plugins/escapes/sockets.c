/* Reaches other processes by sockets, io_uring and other kernel interfaces for communication. */
#include "escape.h"

#include <arpa/inet.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

static int opens_socket(int domain, int kind) { return socket(domain, kind | SOCK_CLOEXEC, 0) >= 0; }
static int local_stream(void) { return opens_socket(AF_UNIX, SOCK_STREAM); }
static int local_datagram(void) { return opens_socket(AF_UNIX, SOCK_DGRAM); }
static int local_packets(void) { return opens_socket(AF_UNIX, SOCK_SEQPACKET); }
static int pair(void) {
  int ends[2];
  return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0;
}
static int binds_name(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int local = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(name.sun_path, mine("socket"), sizeof name.sun_path - 1);
  return local >= 0 && bind(local, (struct sockaddr *)&name, sizeof name) == 0;
}
static int binds_abstract(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int local = socket(AF_UNIX, SOCK_STREAM, 0);
  snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "carabiner-escape-%d", (int)getpid());
  return local >= 0 && bind(local, (struct sockaddr *)&name, sizeof name) == 0;
}
/* Success and a refused connection both mean that the outside was reached. */
static int connects_to(int domain, const void *address, socklen_t length) {
  int out = socket(domain, SOCK_STREAM | SOCK_NONBLOCK, 0);
  return out >= 0 && (connect(out, address, length) == 0 || errno == ECONNREFUSED || errno == EINPROGRESS);
}
static int connects(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return connects_to(AF_INET, &to, sizeof to);
}
static int connects_locally(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "carabiner-nobody-listens");
  return connects_to(AF_UNIX, &name, sizeof name);
}
static int stream(void) { return opens_socket(AF_INET, SOCK_STREAM); }
static int datagram(void) { return opens_socket(AF_INET, SOCK_DGRAM); }
static int stream6(void) { return opens_socket(AF_INET6, SOCK_STREAM); }
static int multipath(void) { return socket(AF_INET, SOCK_STREAM, 262 /* IPPROTO_MPTCP */) >= 0; }
static int raw(void) { return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0; }
static int netlink(void) { return opens_socket(AF_NETLINK, SOCK_RAW); }
static int virtual_machine(void) { return opens_socket(AF_VSOCK, SOCK_STREAM); }
static int packets(void) { return opens_socket(AF_PACKET, SOCK_RAW); }
static int cipher(void) { return opens_socket(AF_ALG, SOCK_SEQPACKET); }
static int listens(void) {
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int port = socket(AF_INET, SOCK_STREAM, 0);
  return port >= 0 && bind(port, (struct sockaddr *)&any, sizeof any) == 0 && listen(port, 1) == 0;
}
static int sets_up_ring(void) {
  struct io_uring_params parameters = {0};
  return syscall(SYS_io_uring_setup, 4, &parameters) >= 0;
}
/* This needs no ring: every error except "no such call" comes from io_uring. */
static int registers_ring(void) { return syscall(SYS_io_uring_register, -1, 0, NULL, 0) >= 0 || errno == EBADF || errno == EINVAL; }
static int enters_ring(void) { return syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0) >= 0 || errno == EBADF || errno == EINVAL; }
static int queues_messages(void) {
  struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
  char name[64];
  snprintf(name, sizeof name, "/carabiner-escape-%d", (int)getpid());
  mqd_t queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
  if (queue == (mqd_t)-1) return 0;
  mq_unlink(name);
  return 1;
}
static int shares_memory(void) {
  int memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  if (memory < 0) return 0;
  shmctl(memory, IPC_RMID, NULL);
  return 1;
}
static int shares_semaphores(void) {
  int set = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
  if (set < 0) return 0;
  semctl(set, 0, IPC_RMID);
  return 1;
}
static int shares_messages(void) {
  int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  if (queue < 0) return 0;
  msgctl(queue, IPC_RMID, NULL);
  return 1;
}
static int names_memory(void) {
  char name[64];
  snprintf(name, sizeof name, "/carabiner-escape-%d", (int)getpid());
  int memory = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (memory < 0) return 0;
  shm_unlink(name);
  return 1;
}
/* Uses the number of socket() on x32 or another architecture. It may not exist here, so its failure without confinement proves nothing. */
static int socket_of_x32(void) { return syscall(0x40000000 + 41, AF_UNIX, SOCK_STREAM, 0) >= 0; }
static int socket_of_i386(void) {
#if defined(__x86_64__)
  long answer;
  __asm__ volatile("int $0x80" : "=a"(answer) : "a"(359l), "b"((long)AF_UNIX), "c"((long)SOCK_STREAM), "d"(0l)
                   : "memory", "r8", "r9", "r10", "r11");
  return (int)answer >= 0;
#else
  return 0;
#endif
}

ESCAPES({41, "AF_UNIX, a stream", local_stream, 0}, {42, "AF_UNIX, datagrams", local_datagram, 0}, {43, "AF_UNIX, packets", local_packets, 0},
        {44, "socketpair", pair, 0}, {45, "a socket with a name", binds_name, 0}, {46, "an abstract socket", binds_abstract, 0},
        {47, "connect", connects, 0}, {48, "connect to an abstract socket", connects_locally, 0}, {49, "AF_INET, a stream", stream, 0},
        {50, "AF_INET, datagrams", datagram, 0}, {51, "AF_INET6", stream6, 0}, {52, "MPTCP", multipath, 0}, {53, "SOCK_RAW", raw, 0},
        {54, "AF_NETLINK", netlink, 0}, {55, "AF_VSOCK", virtual_machine, 0}, {56, "AF_PACKET", packets, 0}, {57, "AF_ALG", cipher, 0},
        {58, "listen", listens, 0}, {59, "io_uring_setup", sets_up_ring, 0}, {60, "io_uring_register", registers_ring, 0},
        {61, "io_uring_enter", enters_ring, 0}, {62, "mq_open", queues_messages, 0}, {63, "shmget", shares_memory, 0},
        {64, "semget", shares_semaphores, 0}, {65, "msgget", shares_messages, 0}, {66, "shm_open", names_memory, 0},
        {67, "socket by its number of x32", socket_of_x32, 0}, {68, "socket by its number of i386", socket_of_i386, 0})
