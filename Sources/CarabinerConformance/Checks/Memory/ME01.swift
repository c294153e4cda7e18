extension Check {
  static let me01 = Check(
    "ME01", level: 3, "reads no further than a view goes",
    page: Page(
      rule: "No byte outside of a view is read or written; no view is taken for a C string.",
      reason:
        "A view is a slice of a larger buffer: behind it stand the bytes of somebody else, or no memory at all. There is no NUL behind it.",
      example: "strlen((const char *)view.ptr)",
      remedy: "Use view.len. To hand a view to a function that wants a C string, copy it and add the NUL."),
    .interceptor { try $0.exercise() })
}
