internal import CarabinerWire

/// An object whose members a local change of the store may set.
///
/// A type that is generated for a document with `@apollo_client_ios_localCacheMutation` has one, and all its properties are in it. It also has
/// the members that other parts of the document select. Therefore a field that is set in a view or a fragment is set in the whole object.
public struct MutableObject: Sendable, Hashable {
  fileprivate var members: JSONObject

  /// Creates an object with the members of a response or a store, and those that are written.
  public init(reading object: ObjectReader, _ write: (inout ObjectWriter) throws -> Void) throws {
    var writer = ObjectWriter(try object.members())
    try write(&writer)
    members = writer.object
  }

  /// Reads a property. It was in the object when the object was read, so it is there.
  public func get<Value>(_ read: (ObjectReader) throws -> Value) -> Value {
    do {
      return try read(ObjectReader(JSONTapeDecoder(reading: JSONValue.object(members).serialized())))
    } catch {
      preconditionFailure(
        "an object was set that lacks a field of a fragment, which is needed as \(Value.self): \(error); set one that was read at the same place"
      )
    }
  }

  /// Sets the members that are written.
  public mutating func set(_ write: (inout ObjectWriter) -> Void) {
    var writer = ObjectWriter()
    write(&writer)
    for (name, value) in writer.object { members[name] = value }
  }
}

extension ObjectWriter {
  /// Writes the members of an object.
  public mutating func write(_ object: MutableObject) { for (name, value) in object.members { set(name, value) } }
}
