extension Check {
  static let er10 = Check(
    "ER10", level: 3, "gives services somebody to tell",
    page: Page(
      rule: "What a service is asked for comes with a function to call when it is done.",
      reason: "Without one the answer is nobody's.",
      example: "fetch->start(self, &request, NULL, NULL);",
      remedy: "Give a function, and in it resume the hook that waits."),
    .interceptor { try $0.exercise() })
}
