extension Check {
  static let me02 = Check(
    "ME02", level: 3, "does not write into what it was lent",
    page: Page(
      rule: "Views and events are for reading. They are changed with header_set(), field_set() and emit().",
      reason: "The bytes may stand in memory that others read at the same time, or that cannot be written to.",
      example: "((uint8_t *)chunk->bytes.ptr)[0] = ' ';",
      remedy: "Copy what is to be changed into a buffer of buf_alloc(), and stage it."),
    .interceptor { try $0.exercise() })
}
