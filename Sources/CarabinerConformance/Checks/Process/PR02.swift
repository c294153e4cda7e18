extension Check {
  static let pr02 = Check(
    "PR02", level: 3, "writes to no descriptor it did not open",
    page: Page(
      rule: "The plugin writes only to descriptors it has opened itself, and closes only those.",
      reason:
        "Descriptor numbers are reused at once: number 3 is a log file now, and the socket of a customer's request a moment later.",
      example: "for (int fd = 3; fd < 1024; fd++) close(fd);",
      remedy: "Log with host->log(). Keep the numbers you were given by open() and socket(), and close those."),
    .interceptor { try $0.exercise() })
}
