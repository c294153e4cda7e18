internal import Carabiner
package import NIOHTTP1

/// The header fields of a response.
///
/// NIO's list checks each name that is added, copies all fields to replace one, and is an array of tuples, which are copied and
/// released slowly.
package struct ReplyFields: Sendable {
  /// The fields in order, including duplicates.
  private(set) var list: Carabiner.HTTPHeaders

  /// Takes over the fields of another list.
  package init(_ headers: NIOHTTP1.HTTPHeaders) {
    list = [:]
    for (name, value) in headers { add(name, value) }
  }

  /// Makes room for more fields.
  mutating func reserve(_ count: Int, bytes: Int) { list.reserve(count, bytes: bytes) }

  /// Adds a field, and keeps others of the same name.
  package mutating func add(_ name: String, _ value: String) { list.add(name: name, value: value) }

  /// Adds a field of an upstream, and keeps others of the same name. The name is a token, and the value may have bytes that are not UTF-8.
  mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) { list.append(received: name, value) }

  /// Adds a field, and removes others of the same name.
  package mutating func set(_ name: String, _ value: String) {
    remove(name)
    add(name, value)
  }

  /// Removes the fields of a name.
  package mutating func remove(_ name: String) { list.remove(name) }
}

extension ReplyFields: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, String)...) {
    list = [:]
    for (name, value) in elements { add(name, value) }
  }
}
