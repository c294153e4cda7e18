/* Runs a program on a system that lacks features of the kernel, as an older kernel or a container does: without FEATURE... -- PROGRAM...
 *
 * A filter of system calls answers in place of the kernel.  The features: namespaces (EPERM, as in a container), landlock (ENOSYS, as on
 * Linux 5.12), mounts (EPERM), and seccomp (EINVAL, as in a kernel without filters). */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sock_filter steps[64];
static unsigned short count;

static void add(uint16_t code, uint32_t value, uint8_t yes, uint8_t no) { steps[count++] = (struct sock_filter){code, yes, no, value}; }
static void load(size_t place) { add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)place, 0, 0); }

static void refuse(long number, int code) {
  add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
  add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)code, 0, 0);
}

/* Refuses a call whose first argument has a flag. */
static void refuse_flag(long number, uint32_t flag, int code) {
  add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 4);
  load(offsetof(struct seccomp_data, args));
  add(BPF_JMP | BPF_JSET | BPF_K, flag, 0, 1);
  add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)code, 0, 0);
  load(offsetof(struct seccomp_data, nr));
}

static int lack(const char *feature) {
  if (!strcmp(feature, "namespaces")) refuse_flag(SYS_clone, CLONE_NEWUSER, EPERM), refuse_flag(SYS_unshare, CLONE_NEWUSER, EPERM);
  else if (!strcmp(feature, "landlock")) refuse(SYS_landlock_create_ruleset, ENOSYS);
  else if (!strcmp(feature, "mounts")) refuse(SYS_mount, EPERM);
  else if (!strcmp(feature, "seccomp")) refuse(SYS_seccomp, EINVAL);
  else return -1;
  return 0;
}

int main(int words, char **word) {
  int index = 1;
  load(offsetof(struct seccomp_data, nr));
  for (; index < words && index < 8 && strcmp(word[index], "--") != 0; index++) {
    if (lack(word[index]) != 0) return fprintf(stderr, "unknown feature %s\n", word[index]), 2;
  }
  if (index + 1 >= words) return fputs("usage: without FEATURE... -- PROGRAM...\n", stderr), 2;
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  struct sock_fprog filter = {.len = count, .filter = steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) {
    return perror("seccomp"), 1;
  }
  execv(word[index + 1], word + index + 1);
  return perror(word[index + 1]), 1;
}
