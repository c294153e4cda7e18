package import NIOHTTP1

/// The header fields of a response.
///
/// NIO's list checks each name that is added, copies all fields to replace one, and is an array of tuples, which are copied and
/// released slowly.
package struct ReplyFields: Sendable {
  struct Field: Sendable {
    let name: String
    let value: String
  }

  /// The fields in order, including duplicates.
  private(set) var list: [Field]

  /// Takes over the fields of another list.
  package init(_ headers: HTTPHeaders) { list = headers.map { Field(name: $0.name, value: $0.value) } }

  /// Makes room for more fields.
  mutating func reserve(_ count: Int) { list.reserveCapacity(list.count + count) }

  /// Adds a field, and keeps others of the same name.
  package mutating func add(_ name: String, _ value: String) { list.append(Field(name: name, value: value)) }

  /// Adds a field, and removes others of the same name.
  package mutating func set(_ name: String, _ value: String) {
    remove(name)
    add(name, value)
  }

  /// Removes the fields of a name.
  package mutating func remove(_ name: String) {
    // A loop over the list in place: functions with closures copy each field. Most lists have no field of the name.
    var index = 0
    while index < list.count, !list[index].name.isField(name) { index += 1 }
    if index < list.count { list[index...].removeAll { $0.name.isField(name) } }
  }

  /// The fields as NIO's list.
  var headers: HTTPHeaders { HTTPHeaders(list.map { ($0.name, $0.value) }) }
}

extension ReplyFields: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, String)...) {
    list = []
    list.reserveCapacity(max(elements.count, Self.usualCount))
    for (name, value) in elements { add(name, value) }
  }

  private static let usualCount = 8
}
