/* carabiner-launcher makes namespaces and a root, and starts workers in them.
 *
 * It is C with one thread for its whole life: workers end with the thread that started them, and a copy of a process has one thread.
 * The starter looks at the host, becomes another user and copies itself.  The copy is process 1 of the new namespaces: when it ends, the
 * kernel ends all workers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"

/* A descriptor of 0, 1 or 2 that is closed would be given to another file. */
static int open_standard(void) {
  for (int descriptor = 0; descriptor < 3; descriptor++) {
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR) != descriptor) return -1;
  }
  return 0;
}

/* The copy.  It reports to its starter whether it has its namespaces, and then runs a worker, or serves. */
static int launch(const struct options *options, const struct program *program, const struct CConfine_launch *how, int starter) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  struct CConfine_failure why = {.code = 0};
  int is_ready = !how->layers || CConfine_settle(how->layers, options->user, options->group, options->readable, &why) == 0;
  /* This fails if the starter has ended already. */
  if (write(starter, &why, sizeof why) != sizeof why || !is_ready) return FAILED;
  close(starter);
  /* From here on workers cannot read the memory of the launcher, whose user they share, even without Landlock and namespaces. */
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  return program->socket < 0 ? run_worker(options, program, how) : serve(options, program, how);
}

/* Waits for a copy to be ready.  Returns 0, or -1 with the reason. */
static int wait_until_ready(int copy, struct CConfine_failure *why) {
  ssize_t length;
  do {
    length = read(copy, why, sizeof *why);
  } while (length < 0 && errno == EINTR);
  if (length == sizeof *why) return why->step[0] ? -1 : 0;
  *why = (struct CConfine_failure){.step = "the launcher ended", .code = 0};
  return -1;
}

static int end_of(pid_t copy) {
  int status;
  while (waitpid(copy, &status, 0) < 0) {
    if (errno != EINTR) return FAILED;
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  say("the launcher was ended by signal %d (%s), and its worker with it", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return FAILED;
}

/* Starts a copy with some layers.  Returns -1 with the reason if it cannot have them, and else the exit status. */
static int try_with(const struct options *options, const struct program *program, struct CConfine_launch *how, uint32_t layers,
                    struct CConfine_failure *why) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    *why = (struct CConfine_failure){.step = "pipe2()", .code = errno};
    return -1;
  }
  how->layers = layers;
  pid_t copy = layers ? CConfine_forkApart(layers) : fork();
  if (copy == 0) {
    close(ends[0]);
    _exit(launch(options, program, how, ends[1]));
  }
  *why = (struct CConfine_failure){.step = "clone() of namespaces", .code = errno};
  close(ends[1]);
  int is_ready = copy > 0 && wait_until_ready(ends[0], why) == 0;
  close(ends[0]);
  if (copy < 0) return -1;
  int status = end_of(copy);
  return is_ready ? status : -1;
}

int main(int count, char **words) {
  static struct options options;
  int status = take_options(&options, count, words);
  if (status >= 0) return status;
  if (open_standard() != 0) return FAILED;
  /* The host starts it from a descriptor, whose number would be its name. */
  prctl(PR_SET_NAME, "carabiner-launc", 0, 0, 0);
  signal(SIGPIPE, SIG_IGN);
  struct program program;
  if (open_program(&options, &program) != 0) return FAILED;
  struct CConfine_launch how = {.layers = 0};
  CConfine_look(&how.outside);
  /* Some containers have only one user.  The worker reports that it is root, and its other layers do not depend on the user. */
  if (CConfine_becomeUser(options.user, options.group) != 0) {
    say("cannot become user %u: %s", (unsigned)options.user, strerror(errno));
  }
  /* The socket closes with the host too, but a process that the host forked may have a copy of its end.  This is after the change of the
   * user, which clears the signal. */
  if (program.socket >= 0) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  /* Otherwise /proc/self belongs to root, and the map of the user namespace cannot be written. */
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  options.user = geteuid();
  options.group = getegid();
  fflush(NULL);
  struct CConfine_failure why;
  status = try_with(&options, &program, &how, CCONFINE_NAMESPACES | CCONFINE_ROOT, &how.root);
  if (status < 0) status = try_with(&options, &program, &how, CCONFINE_NAMESPACES, &how.namespaces);
  if (status < 0) status = try_with(&options, &program, &how, 0, &why);
  if (status >= 0) return status;
  say("%s failed: %s", why.step, why.code ? strerror(why.code) : "no reason is known");
  return FAILED;
}
