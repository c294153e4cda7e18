package import CarabinerWire
internal import CarabinerYAML

/// The text of a manifest as a value, with the places of its parts.
package struct ManifestDocument {
  /// The content of the text.
  package let value: JSONValue
  private let text: String
  private let yaml: YAMLDocument?

  /// Parses a text and detects its format.
  ///
  /// - Throws: ``ManifestProblem`` with the place of the first mistake.
  package init(_ text: String) throws(ManifestProblem) {
    try self.init(text, Manifest.Format(path: "", text: text))
  }

  /// Parses a text.
  ///
  /// - Throws: ``ManifestProblem`` with the place of the first mistake.
  init(_ text: String, _ format: Manifest.Format) throws(ManifestProblem) {
    guard text.utf8.count <= Manifest.maximumFileBytes else {
      throw ManifestProblem(.tooLarge, "the manifest has more than \(ByteSizeText.print(Manifest.maximumFileBytes))")
    }
    self.text = text
    switch format {
    case .yaml:
      let document = try Self.yaml(text)
      value = document.value
      yaml = document
    case .json:
      value = try Self.json(text)
      yaml = nil
    }
  }

  private static func yaml(_ text: String) throws(ManifestProblem) -> YAMLDocument {
    do throws(YAMLProblem) {
      return try YAMLDocument(text)
    } catch {
      throw ManifestProblem(error)
    }
  }

  private static func json(_ text: String) throws(ManifestProblem) -> JSONValue {
    let tree: JSONTree
    do {
      tree = try JSONTree(
        parsing: text.utf8Span.span, limits: JSONLimits(maximumDepth: YAMLDocument.maximumDepth))
    } catch {
      var problem = ManifestProblem(error.code == .tooDeep ? .tooDeep : .syntax, "this is not JSON: \(error.message)")
      problem.position = position(of: error.offset, in: text)
      throw problem
    }
    guard tree.duplicates == 0 else {
      // The YAML reader reports which key it is.
      do throws(ManifestProblem) {
        _ = try yaml(asYAML(text))
      } catch  where error.code == .duplicateName {
        throw error
      } catch {}
      throw ManifestProblem(.duplicateName, "a key occurs twice in one object; remove one of them")
    }
    return tree.value
  }

  /// The same JSON for the YAML reader, with all places unchanged. YAML has no surrogate pairs, so their escapes are disabled.
  private static func asYAML(_ json: String) -> String {
    var bytes = Array(json.utf8)
    var offset = 0
    while offset < bytes.count {
      defer { offset += 1 }
      guard bytes[offset] == UInt8(ascii: "\\"), offset + 2 < bytes.count else { continue }
      if bytes[offset + 1] == UInt8(ascii: "u"), "dD".utf8.contains(bytes[offset + 2]) { bytes[offset] = UInt8(ascii: "_") }
      offset += 1
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func position(of offset: Int, in text: String) -> ManifestProblem.TextPosition {
    let before = text.utf8.prefix(offset)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { before.index(after: $0) } ?? before.startIndex
    return ManifestProblem.TextPosition(line: line, column: Substring(before[start...]).unicodeScalars.count + 1)
  }

  /// The problems with their places in the text, in the order of the text.
  func placed(_ problems: [ManifestProblem]) -> [ManifestProblem] {
    guard !problems.isEmpty, let yaml = yaml ?? (try? YAMLDocument(Self.asYAML(text))) else { return problems }
    let placed = problems.map { problem in
      var problem = problem
      problem.position = problem.position ?? yaml.place(of: problem.pointer).map { ManifestProblem.TextPosition($0) }
      return problem
    }
    return placed.enumerated().sorted { left, right in
      guard let first = left.element.position, let second = right.element.position, first != second else {
        return left.offset < right.offset
      }
      return first < second
    }.map(\.element)
  }
}

extension ManifestProblem {
  fileprivate init(_ problem: YAMLProblem) {
    switch problem.code {
    case .syntax: self.init(.syntax, at: problem.pointer, problem.message)
    case .tooDeep: self.init(.tooDeep, at: problem.pointer, problem.message)
    case .duplicateName: self.init(.duplicateName, at: problem.pointer, problem.message)
    case .empty: self.init(.syntax, "the manifest is empty; begin with carabiner: 1")
    }
    position = problem.place.map { TextPosition($0) }
  }
}

extension ManifestProblem.TextPosition {
  fileprivate init(_ place: YAMLProblem.Place) { self.init(line: place.line, column: place.column) }
}
