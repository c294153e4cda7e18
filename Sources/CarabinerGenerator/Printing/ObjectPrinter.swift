internal import CarabinerSchema

/// Prints the type of an object, with the types inside it.
struct ObjectPrinter {
  private let access: String
  /// The types of fragments whose properties can be set; nil if the properties here cannot.
  private let mutableFragments: Set<String>?
  var isMutable: Bool { mutableFragments != nil }
  var names: TypeNames
  var sizes: ShapeSizes

  init(
    access: GeneratorConfiguration.Access, names: TypeNames, sizes: ShapeSizes, mutableFragments: Set<String>?
  ) {
    self.mutableFragments = mutableFragments
    self.access = access == .internal ? "" : access.rawValue + " "
    self.names = names
    self.sizes = sizes
  }

  /// Prints a type.
  ///
  /// - Parameters:
  ///   - constants: Lines of code at its beginning.
  mutating func print(
    _ shape: ObjectShape, _ protocols: String = "SelectionSet", constants: [String] = [], to writer: inout CodeWriter
  ) {
    let inner = shape.children + shape.views.map(\.shape) + shape.deferred.map(\.shape)
    names.enter(inner.map(\.name) + shape.aliases.map(\.name) + (shape.hasFragments ? ["Fragments"] : []))
    writer.begin("\(access)struct \(shape.name): \(protocols)")
    for constant in constants { writer.line(access + constant) }
    if !constants.isEmpty { writer.emptyLine() }
    print(members(of: shape), access: access, to: &writer)
    for alias in shape.aliases {
      writer.emptyLine()
      let target = [names.global(alias.root)] + alias.names
      writer.line("\(access)typealias \(alias.name) = \(target.joined(separator: "."))")
    }
    for shape in inner {
      writer.emptyLine()
      print(shape, to: &writer)
    }
    if shape.hasFragments {
      writer.emptyLine()
      writer.begin("\(access)struct Fragments: FragmentContainer")
      print(fragments(of: shape), access: access, to: &writer)
      writer.end()
    }
    writer.end()
    names.leave()
  }

  // MARK: Members

  /// A property, and how it is read and written.
  struct Member {
    let name: String
    let type: String
    var wrapper: String?
    /// Whether the property has no setter although other properties of its type have one.
    var isConstant = false
    /// The value of a property that is not stored.
    var forward: String?
    /// The expression that reads the value. The first `$` is replaced by the name of the reader.
    var read = ""
    /// The statement that writes the value. The first `$` is replaced by the name of the writer, and the first `%` by the property.
    var write = ""
    var description: String?
    var deprecationReason: String?
  }

  private mutating func members(of shape: ObjectShape) -> [Member] {
    var members: [Member] = []
    if shape.hasTypeName {
      members.append(
        Member(
          name: "__typename", type: "String", isConstant: true, read: "$.value(\"__typename\")",
          write: "$.write(\"__typename\", %)"))
    }
    let properties = Set(shape.fields.map(\.property))
    for field in shape.fields {
      var member = member(field)
      // Swift stores a property wrapper under the name of the property with an underscore, which must be free.
      if member.wrapper != nil, properties.contains("_" + field.property) { member.wrapper = nil }
      members.append(member)
    }
    for view in shape.views {
      let condition = view.type.map { "on: \(names.condition($0))" } ?? ""
      members.append(
        Member(
          name: view.property, type: view.shape.name + "?", wrapper: sizes.isLarge(view.shape) ? "BoxedOptional" : nil,
          read: "$.\(view.isConditional ? "conditionalFragment" : "fragment")(\(condition))", write: "$.write(%)"))
    }
    if shape.hasFragments {
      members.append(Member(name: "fragments", type: "Fragments", read: "$.fragment()", write: "$.write(%)"))
    }
    return members
  }

  private mutating func member(_ field: FieldShape) -> Member {
    let key = SwiftLiteral.string(field.responseKey)
    let type = names.output(field)
    let coding = names.coding(field.definition.type).map { ", as: \($0).self" } ?? ""
    // The reader already makes a conditional value optional, and nil also represents null. In a mutable type, a nullable value
    // counts as conditional, because the store may lack it.
    let isConditional = field.isConditional || isMutable && !field.definition.type.isNonNull
    let isOptional = isConditional && !field.definition.type.isNonNull
    let readCoding = isOptional ? coding.replacing("?.self", with: ".self") : coding
    let writeCoding = field.isConditional && field.definition.type.isNonNull ? coding.replacing(".self", with: "?.self") : coding
    var member = Member(
      name: field.property, type: type, read: "$.\(isConditional ? "conditional" : "value")(\(key)\(readCoding))",
      write: "$.\(field.isConditional ? "writeIfGiven" : "write")(\(key), %\(writeCoding))",
      description: field.definition.description,
      deprecationReason: field.definition.deprecationReason)
    if let fragment = field.forwardedTo {
      member.forward = "fragments.\(SwiftNames.escaped(fragment)).\(SwiftNames.escaped(field.property))"
    } else if sizes.isBoxed(field) {
      member.wrapper = type.hasSuffix("?") ? "BoxedOptional" : "Boxed"
    }
    return member
  }

  private mutating func fragments(of shape: ObjectShape) -> [Member] {
    var members: [Member] = []
    for fragment in shape.fragments {
      let isOptional = fragment.isConditional || fragment.isDeferred
      var member = Member(
        name: fragment.property, type: names.global(fragment.name) + (isOptional ? "?" : ""),
        read: "$.\(fragment.isConditional ? "conditionalFragment" : "fragment")()", write: "$.write(%)")
      // A fragment type without setters has only its own members, so setting it would lose the members of other selections.
      member.isConstant = mutableFragments?.contains(fragment.name) == false
      if let origin = fragment.forwardedTo {
        let path = "\(SwiftNames.escaped(origin)).fragments"
        member.forward = "\(path).\(SwiftNames.escaped(fragment.property))"
      } else if fragment.isDeferred {
        (member.wrapper, member.read) = ("Deferred", isMutable ? "$.conditionalFragment()" : "$.deferred()")
      } else if sizes.isLarge(fragment: fragment.name) {
        member.wrapper = isOptional ? "BoxedOptional" : "Boxed"
      }
      members.append(member)
    }
    for deferred in shape.deferred {
      members.append(
        Member(
          name: deferred.property, type: deferred.shape.name + "?", wrapper: "Deferred",
          read: isMutable ? "$.conditionalFragment()" : "$.deferred()", write: "$.write(%)"))
    }
    return members
  }
}
