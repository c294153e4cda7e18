package import CarabinerWire

extension Schema {
  /// A named type with the lists and exclamation marks around it, such as `[Book!]!`.
  ///
  /// The marks are bits, so that a reference needs no memory of its own.
  public struct TypeReference: Named, CustomStringConvertible {
    /// The most lists around a name. Servers use one or two.
    public static let maximumListDepth = 63

    /// The name of the type, without lists and exclamation marks.
    public let name: String
    /// The number of the type in the table of its schema.
    private let number: Uncompared<Int>
    /// The exclamation marks from the inside: bit 0 is that of the name, and bit n that of the n-th list.
    private let marks: UInt64
    /// The number of lists around the name.
    public let listDepth: Int
    private let place: Uncompared<Location?>

    init(name: String, id: Int, listDepth: Int = 0, marks: UInt64 = 0, location: Location? = nil) {
      self.name = name
      number = Uncompared(id)
      self.listDepth = listDepth
      self.marks = marks
      place = Uncompared(location)
    }

    var id: Int { number.value }

    /// The place of the name; nil if the reference is not from a text.
    public var location: Location? { place.value }

    private var outerMark: UInt64 { 1 << UInt64(listDepth) }

    /// Whether null is not a value.
    public var isNonNull: Bool { marks & outerMark != 0 }
    /// Whether it is a list, with or without an exclamation mark.
    public var isList: Bool { listDepth > 0 }

    /// The type without its outer exclamation mark.
    public var nullable: TypeReference {
      TypeReference(name: name, id: id, listDepth: listDepth, marks: marks & ~outerMark, location: location)
    }

    /// The same lists and exclamation marks around another name.
    func renamed(_ name: String) -> TypeReference { TypeReference(name: name, id: id, listDepth: listDepth, marks: marks) }

    /// Whether each value of this type is one of another. Both name types for values.
    func fits(_ other: TypeReference) -> Bool {
      // A mark of the other type is one of this type.
      name == other.name && listDepth == other.listDepth && marks & other.marks == other.marks
    }

    /// The type of the elements of a list; nil if this is not a list.
    public var element: TypeReference? {
      guard isList else { return nil }
      return TypeReference(name: name, id: id, listDepth: listDepth - 1, marks: marks & ~outerMark, location: location)
    }

    /// A type of a document; nil if it has too many lists.
    init?(_ type: GraphQLDocument.TypeReference, id: Int) {
      var (type, wrappers) = (type, [Bool]())
      while true {
        switch type {
        case .nonNull(let inner):
          wrappers.append(true)
          type = inner
        case .list(let element):
          wrappers.append(false)
          type = element
        case .named(let name):
          var (depth, marks) = (0, UInt64(0))
          for isMark in wrappers.reversed() {
            if isMark { marks |= 1 << UInt64(depth) } else { depth += 1 }
          }
          guard depth <= Self.maximumListDepth else { return nil }
          self.init(name: name, id: id, listDepth: depth, marks: marks)
          return
        }
      }
    }

    /// The type as documents have it.
    package var documentType: GraphQLDocument.TypeReference {
      var type = GraphQLDocument.TypeReference.named(name)
      for depth in 0...listDepth {
        if depth > 0 { type = .list(type) }
        if marks & 1 << UInt64(depth) != 0 { type = .nonNull(type) }
      }
      return type
    }

    /// The type as in a text.
    public var description: String {
      var text = String(repeating: "[", count: listDepth) + name
      for depth in 0...listDepth {
        if depth > 0 { text += "]" }
        if marks & 1 << UInt64(depth) != 0 { text += "!" }
      }
      return text
    }
  }
}
