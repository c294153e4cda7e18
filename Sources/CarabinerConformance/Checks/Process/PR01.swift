extension Check {
  static let pr01 = Check(
    "PR01", level: 3, "leaves no processes behind",
    page: Page(
      rule: "When the process ends, no process the plugin started is alive.",
      reason: "What goes on without its host holds ports, files and memory that nobody looks after.",
      example: "if (fork() == 0) execl(\"/usr/bin/collector\", \"collector\", NULL);",
      remedy:
        "Start no processes. If there is no other way, declare it, wait for them in destroy(), and ask the kernel to end them with the host (PR_SET_PDEATHSIG)."
    ),
    .interceptor { try $0.exercise() })
}
