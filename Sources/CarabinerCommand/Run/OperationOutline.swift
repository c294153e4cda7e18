internal import Carabiner

/// The operations a document defines: type and name of each, found without reading what is inside their braces.
struct OperationOutline {
  struct Operation {
    let type: GraphQLOperationType
    let name: String?
  }

  /// A document cannot be read.
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  private(set) var operations: [Operation] = []

  init(_ text: String) throws {
    let bytes = Array(text.utf8)
    var offset = 0
    var depth = 0
    var words: [String] = []
    while offset < bytes.count {
      switch bytes[offset] {
      case UInt8(ascii: "#"):
        while offset < bytes.count, bytes[offset] != 0x0A, bytes[offset] != 0x0D { offset += 1 }
      case UInt8(ascii: "\""):
        offset = try Self.endOfString(bytes, offset)
      case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "["):
        if depth == 0, bytes[offset] == UInt8(ascii: "{") {
          try define(words)
          words = []
        }
        depth += 1
        offset += 1
      case UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"):
        depth -= 1
        guard depth >= 0 else { throw Fault(description: "a bracket at byte \(offset) closes nothing") }
        offset += 1
      case let byte where Self.isNameByte(byte):
        let start = offset
        while offset < bytes.count, Self.isNameByte(bytes[offset]) { offset += 1 }
        if depth == 0 { words.append(String(decoding: bytes[start..<offset], as: UTF8.self)) }
      default:
        offset += 1
      }
    }
    guard depth == 0 else { throw Fault(description: "the document ends with an open bracket") }
    guard words.isEmpty else { throw Fault(description: "the document ends in the middle of a definition") }
  }

  /// The definition whose words stand before a brace.
  private mutating func define(_ words: [String]) throws {
    guard let first = words.first else { return operations.append(Operation(type: .query, name: nil)) }
    if first == "fragment" { return }
    guard let type = GraphQLOperationType(rawValue: first) else {
      throw Fault(description: "\(first) begins no operation; expected query, mutation, subscription or fragment")
    }
    operations.append(Operation(type: type, name: words.dropFirst().first))
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func endOfString(_ bytes: [UInt8], _ start: Int) throws -> Int {
    let quote = UInt8(ascii: "\"")
    let isBlock = bytes[start...].starts(with: [quote, quote, quote])
    var offset = start + (isBlock ? 3 : 1)
    while offset < bytes.count {
      if bytes[offset] == UInt8(ascii: "\\") {
        offset += 2
      } else if bytes[offset] == quote, !isBlock || bytes[offset...].starts(with: [quote, quote, quote]) {
        return offset + (isBlock ? 3 : 1)
      } else {
        offset += 1
      }
    }
    throw Fault(description: "the string at byte \(start) does not end")
  }
}
