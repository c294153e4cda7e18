/// The lines of a statement, read from the first to the last.
struct StatementLines {
  static let firstLine = "carabiner-release 1"

  private var rest: ArraySlice<ArraySlice<UInt8>>
  private var number = 0

  /// - Throws: ``ReleaseError`` if there is another byte than printable ASCII and LF, or if the last line has no LF.
  init(_ bytes: [UInt8]) throws(ReleaseError) {
    if let place = bytes.firstIndex(where: { !(0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\n") }) {
      let line = bytes[..<place].count { $0 == UInt8(ascii: "\n") } + 1
      throw ReleaseError(
        .signature, "line \(line) of the statement has the byte \(bytes[place]); only printable ASCII and LF are allowed")
    }
    guard bytes.last == UInt8(ascii: "\n") else {
      throw ReleaseError(.signature, "the statement is empty, or its last line does not end with LF")
    }
    rest = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
  }

  mutating func version() throws(ReleaseError) {
    guard try next("\"\(Self.firstLine)\"").elementsEqual(Self.firstLine.utf8) else {
      throw fault("\"\(Self.firstLine)\"")
    }
  }

  /// The value of the next line, which is a word, one space and the value.
  mutating func value<Value>(
    _ word: String, _ form: String, _ read: (ArraySlice<UInt8>) -> Value?
  ) throws(ReleaseError) -> Value {
    let expected = "\"\(word) VALUE\" with \(form)"
    let line = try next(expected)
    guard line.starts(with: "\(word) ".utf8), let value = read(line.dropFirst(word.utf8.count + 1)) else {
      throw fault(expected)
    }
    return value
  }

  /// All other lines, each `x-WORD TEXT`.
  mutating func additions() throws(ReleaseError) -> [String] {
    var lines: [String] = []
    while let line = rest.popFirst() {
      number += 1
      let word = line.prefix { $0 != UInt8(ascii: " ") }
      guard word.starts(with: "x-".utf8), ReleaseSubject.isName(word.dropFirst(2)), line.count > word.count + 1 else {
        throw fault("the end, or \"x-WORD TEXT\"")
      }
      lines.append(String(decoding: line, as: UTF8.self))
    }
    return lines
  }

  private mutating func next(_ expected: String) throws(ReleaseError) -> ArraySlice<UInt8> {
    number += 1
    guard let line = rest.popFirst() else { throw fault(expected) }
    return line
  }

  private func fault(_ expected: String) -> ReleaseError {
    ReleaseError(
      .signature,
      "line \(number) of the statement is not valid, expected: \(expected); "
        + "make statements with carabiner release statement")
  }
}
