import Foundation
import TestTools
import Testing

/// A hostile plugin: a C statement, where it runs, and the expected result of the check that runs it.
struct WorstPlugin: CustomTestStringConvertible, Sendable {
  /// Where the statement runs.
  enum Place: String, Sendable {
    case constructor
    case create
    case destructor
  }

  let name: String
  let place: Place
  let statement: String
  /// The expected status of SE01; for destructors, of LC09.
  let status: String
  let detail: String

  var check: String { place == .destructor ? "LC09" : "SE01" }
  var testDescription: String { name }

  init(_ name: String, at place: Place = .create, _ statement: String, _ status: String = "PASS", _ detail: String = "") {
    self.name = name
    self.place = place
    self.statement = statement
    self.status = status
    self.detail = detail
  }

  /// Compiles it. The names of the files it tries to write contain the mark.
  func build(into folder: FixturePlugin.Folder, mark: String) async throws -> String {
    let source = folder.file("\(name).c")
    let output = folder.file("\(name).so").path
    let attribute = place == .create ? "" : "__attribute__((\(place.rawValue))) "
    try Data(
      """
      #define _GNU_SOURCE
      #include <carabiner.h>
      #include <dlfcn.h>
      #include <fcntl.h>
      #include <locale.h>
      #include <pthread.h>
      #include <signal.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      #include <sys/mman.h>
      #include <sys/prctl.h>
      #include <sys/ptrace.h>
      #include <sys/stat.h>
      #include <sys/syscall.h>
      #include <sys/wait.h>
      #include <unistd.h>
      #define MARK "\(mark)"
      static void *sleeping(void *nothing) { for (;;) pause(); return nothing; }
      \(attribute)static void worst(void) {
        (void)sleeping;
        \(statement)
      }
      static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
        (void)h, (void)info, (void)why, (void)worst;
        \(place == .create ? "worst();" : "")
        *inst = NULL;
        return CRB_OK;
      }
      #define CREATE create
      #define DESTROY NULL
      #include "sound.h"
      """.utf8
    ).write(to: source)
    let root = Repository.root.path
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/cc"),
      [
        "-std=gnu11", "-w", "-fPIC", "-shared", "-fvisibility=hidden", "-I\(root)/Tests/Fixtures/Plugins/bad",
        "-I\(root)/Sources/CCarabiner/include", "-o", output, source.path, "-lpthread",
      ])
    guard run.status == 0 else { throw FixturePlugin.CompilerFailure(output: run.errors) }
    return output
  }
}

extension WorstPlugin {
  static let all = endings + processes + descriptors + memory + files + processState

  /// The plugin ends the process, or prevents its end.
  private static let endings = [
    WorstPlugin("segfault", "*(volatile int *)0 = 1;", "CRASH", "signal 11"),
    WorstPlugin("abort", "abort();", "CRASH", "signal 6"),
    WorstPlugin("exit", "exit(0);", "CRASH", "status 0"),
    WorstPlugin("exit-at-once", "_exit(0);", "CRASH", "status 0"),
    WorstPlugin("kills-itself", "kill(getpid(), SIGKILL);", "CRASH", "signal 9"),
    WorstPlugin("stops", "raise(SIGSTOP);", "TIMEOUT"),
    WorstPlugin("loops", "for (;;) {}", "TIMEOUT"),
    WorstPlugin(
      "hears-no-signal",
      "for (int s = 1; s < 65; s++) signal(s, SIG_IGN); sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, NULL); for (;;) pause();",
      "TIMEOUT"),
    WorstPlugin("recurses", "volatile char room[4096]; room[0] = 1; worst(); room[1] = 2;", "CRASH", "signal 11"),
    WorstPlugin("crashes-when-loaded", at: .constructor, "*(volatile int *)0 = 1;", "CRASH", "signal 11"),
    WorstPlugin("ends-when-loaded", at: .constructor, "exit(0);", "CRASH", "status 0"),
    WorstPlugin("raises-when-loaded", at: .constructor, "raise(SIGTERM);", "CRASH", "signal 15"),
    WorstPlugin("loops-when-loaded", at: .constructor, "for (;;) {}", "TIMEOUT"),
    WorstPlugin("crashes-at-exit", at: .destructor, "abort();", "CRASH", "signal 6"),
    WorstPlugin("waits-at-exit", at: .destructor, "for (;;) pause();", "TIMEOUT"),
  ]

  /// The plugin starts processes and threads.
  private static let processes = [
    WorstPlugin("leaves-a-child", "if (fork() == 0) { setsid(); setpgid(0, 0); for (;;) pause(); }"),
    WorstPlugin("leaves-a-grandchild", "if (fork() == 0) { if (fork() == 0) for (;;) pause(); _exit(0); } wait(NULL);"),
    WorstPlugin("leaves-a-program", #"if (fork() == 0) { chdir("/"); execl("/bin/sleep", MARK, "1000", NULL); _exit(1); }"#),
    WorstPlugin(
      "leaves-a-sibling", "if (syscall(SYS_clone, 0x8000 /* CLONE_PARENT */ | SIGCHLD, 0, 0, 0, 0) == 0) for (;;) pause();"),
    WorstPlugin("forks-like-rabbits", "for (int i = 0; i < 9; i++) fork(); sleep(20);", "CRASH", "more than 100 processes"),
    WorstPlugin(
      "outlives-its-parent",
      "if (fork() == 0) { prctl(PR_SET_PDEATHSIG, 0); for (int s = 1; s < 65; s++) signal(s, SIG_IGN); for (;;) {} } _exit(0);",
      "CRASH", "status 0"),
    WorstPlugin("kills-its-parent", "if (kill(getppid(), SIGKILL) == 0) abort();"),
    WorstPlugin("kills-everybody", "if (kill(-1, SIGKILL) == 0) abort();"),
    WorstPlugin("traces-its-parent", "if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0) abort();"),
    WorstPlugin(
      "thousand-threads",
      "for (int i = 0; i < 1000; i++) { pthread_t t; if (pthread_create(&t, NULL, sleeping, NULL) != 0) break; pthread_detach(t); }"
    ),
  ]

  /// The plugin uses descriptors of other owners, or too many of its own.
  private static let descriptors = [
    WorstPlugin("closes-all", "for (int fd = 0; fd < 4096; fd++) close(fd);", "CRASH", "status 0"),
    WorstPlugin("opens-all", #"while (open("/dev/null", O_RDONLY) >= 0) {}"#),
    WorstPlugin("forges-a-report", #"write(3, "{\"end\":true}\nPASS\n", 18); _exit(0);"#, "CRASH", "status 0"),
    WorstPlugin("cuts-the-record", "ftruncate(4, 0); abort();", "CRASH", "signal 6"),
    WorstPlugin(
      "spoils-the-record", "char text[1024]; memset(text, 27, sizeof text); pwrite(4, text, sizeof text, 0); abort();", "CRASH",
      "signal 6"),
    WorstPlugin(
      "says-a-gigabyte",
      "char *text = malloc(1 << 20); memset(text, 'x', 1 << 20); for (int i = 0; i < 1024; i++) write(1 + i % 2, text, 1 << 20); free(text);"
    ),
    WorstPlugin(
      "reports-a-gigabyte",
      "char *text = malloc(1 << 20); memset(text, 'x', 1 << 20); for (int i = 0; i < 1024; i++) write(3, text, 1 << 20); free(text);",
      "CRASH", "wrote too much"),
  ]

  /// The plugin exhausts memory or disk space.
  private static let memory = [
    WorstPlugin("takes-100-gigabytes", "char *all = malloc(100l << 30); if (all) memset(all, 1, 100l << 30);"),
    WorstPlugin(
      "maps-100-gigabytes",
      "for (int i = 0; i < 100; i++) mmap(NULL, 1l << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);"
    ),
    WorstPlugin(
      "unmaps-its-stack", "char here; munmap((void *)((unsigned long)&here & ~4095ul), 4096); ((volatile char *)&here)[0] = 1;",
      "CRASH", "signal 11"),
    WorstPlugin(
      "unloads-itself",
      #"Dl_info info; if (dladdr((void *)worst, &info)) { void *self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD); for (int i = 0; i < 100 && self; i++) dlclose(self); }"#
    ),
  ]

  /// The plugin writes to files of other owners, or leaves files that are hard to remove.
  private static let files = [
    WorstPlugin(
      "writes-elsewhere",
      #"const char *places[] = {"/tmp/", "/var/tmp/", "/dev/shm/", "/", "../", "../../", "/root/"}; for (int i = 0; i < 7; i++) { char path[200]; snprintf(path, sizeof path, "%s%s", places[i], MARK); int file = open(path, O_CREAT | O_WRONLY, 0600); if (file >= 0) close(file); mkdir(path, 0700); symlink("/", path); }"#
    ),
    WorstPlugin(
      "writes-beside-itself",
      #"Dl_info info; if (dladdr((void *)worst, &info)) { char path[4096]; snprintf(path, sizeof path, "%s-%s", info.dli_fname, MARK); close(open(path, O_CREAT | O_WRONLY, 0600)); unlink(info.dli_fname); truncate(info.dli_fname, 0); }"#
    ),
    WorstPlugin(
      "writes-too-much",
      #"int file = open("large", O_CREAT | O_WRONLY, 0600); signal(SIGXFSZ, SIG_IGN); char *text = calloc(1, 1 << 20); for (int i = 0; i < 200; i++) if (write(file, text, 1 << 20) < 0) break;"#
    ),
    WorstPlugin(
      "digs",
      #"for (int i = 0; i < 2000; i++) if (mkdir("a-folder-in-a-folder", 0700) != 0 || chdir("a-folder-in-a-folder") != 0) break;"#
    ),
    WorstPlugin(
      "locks-up",
      #"mkdir("locked", 0700); close(open("locked/file", O_CREAT | O_WRONLY, 0)); chmod("locked", 0); close(open("no\xfftext\n", O_CREAT | O_WRONLY, 0)); symlink("/", "link"); char path[40]; for (int i = 0; i < 1000; i++) { snprintf(path, sizeof path, "file-%d", i); close(open(path, O_CREAT | O_WRONLY, 0)); }"#
    ),
  ]

  /// The plugin changes state that the whole process shares.
  private static let processState = [
    WorstPlugin(
      "changes-everything",
      #"sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, NULL); chdir("/"); umask(0); setlocale(LC_ALL, "tr_TR.UTF-8"); setenv("PATH", "", 1); clearenv(); nice(19); alarm(1000);"#
    )
  ]
}
