/// Writes lines of code, indented by two spaces.
struct CodeWriter {
  /// The longest line, as in the settings of swift-format of this package.
  static let lineLength = 130

  private(set) var text = ""
  private var indent = 0
  private var isBlockStart = true

  /// Writes a line.
  mutating func line(_ line: String) {
    text += String(repeating: "  ", count: indent) + line + "\n"
    isBlockStart = false
  }

  /// Writes an empty line, unless a block begins or the line before is empty.
  mutating func emptyLine() {
    if !isBlockStart { text += "\n" }
    isBlockStart = true
  }

  /// Writes lines in braces.
  mutating func block(_ head: String, _ body: (inout CodeWriter) -> Void) {
    begin(head)
    body(&self)
    end()
  }

  /// Opens a brace.
  mutating func begin(_ head: String) {
    line(head + " {")
    indent += 1
    isBlockStart = true
  }

  /// Closes a brace.
  mutating func end() {
    indent -= 1
    line("}")
  }

  /// Writes a function with its parameters, one per line if they are too long for one line.
  mutating func function(_ head: String, _ parameters: [String], _ body: (inout CodeWriter) -> Void) {
    let whole = "\(head)(\(parameters.joined(separator: ", ")))"
    if whole.utf8.count + 2 * indent + 2 <= Self.lineLength { return block(whole, body) }
    line(head + "(")
    indent += 1
    for (position, parameter) in parameters.enumerated() { line(parameter + (position < parameters.count - 1 ? "," : "")) }
    indent -= 1
    block(")", body)
  }

  /// Writes a description as a documentation comment.
  mutating func documentation(_ description: String?) {
    guard let description, !description.isEmpty else { return }
    for part in description.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      let end = part.lastIndex { !$0.isWhitespace }.map { part.index(after: $0) } ?? part.startIndex
      line(end == part.startIndex ? "///" : "/// " + part[..<end])
    }
  }

  /// Writes the attribute of a deprecated declaration.
  mutating func deprecation(_ reason: String?) {
    guard let reason else { return }
    line("@available(*, deprecated, message: \(SwiftLiteral.string(reason)))")
  }
}

extension CodeWriter {
  /// Writes the first lines of a file.
  mutating func header(importing modules: [String], _ access: GeneratorConfiguration.Access) {
    line(GeneratedFile.firstLine)
    line("// swift-format-ignore-file")
    if !modules.isEmpty { emptyLine() }
    // A plain import is internal with and without the feature InternalImportsByDefault. A level would be ambiguous beside a plain import
    // of the module in another file.
    for module in modules { line(access == .internal ? "import \(module)" : "\(access.rawValue) import \(module)") }
  }

  /// Writes a declaration with a list, in several lines if it is too long for one.
  mutating func list(_ head: String, _ elements: [String], _ end: String = "") {
    let whole = head + "[" + elements.joined(separator: ", ") + "]" + end
    if whole.utf8.count + 2 <= Self.lineLength { return line(whole) }
    line(head + "[")
    for element in elements { line("  \(element),") }
    line("]" + end)
  }
}
