internal import CarabinerSchema

/// A variable of an operation, or a field of an input object, as a property.
struct InputMember {
  let key: String
  let property: String
  /// The type in Swift.
  let type: String
  let defaultValue: String?
  /// The type that reads and writes the value; nil if it does so itself.
  let coding: String?
  var isBoxed = false
  var description: String?
  var deprecationReason: String?

  /// A member of a type that may have a default value in the schema or the document.
  init(key: String, property: String, type: Schema.TypeReference, hasDefault: Bool, names: inout TypeNames) {
    self.key = key
    self.property = property
    coding = names.coding(type, isInput: true, hasDefault: hasDefault)
    let inner = names.input(type)
    if !type.isNonNull {
      (self.type, defaultValue) = ("GraphQLNullable<\(inner)>", ".none")
    } else if hasDefault {
      (self.type, defaultValue) = (inner + "?", "nil")
    } else {
      (self.type, defaultValue) = (inner, nil)
    }
  }

  /// The name of the stored property.
  private var stored: String { SwiftNames.escaped(deprecationReason == nil ? property : "__" + property) }

  /// Prints the properties, the initializer, and the function that writes them.
  static func print(_ members: [InputMember], access: String, parameter: String, to writer: inout CodeWriter) {
    for member in members { member.printProperty(access, to: &writer) }
    writer.emptyLine()
    let parameters = members.map { member in
      let name = SwiftNames.escaped(member.property)
      return "\(name): \(member.type)" + (member.defaultValue.map { " = \($0)" } ?? "")
    }
    writer.function(access + "init", parameters) { writer in
      for member in members {
        let name = SwiftNames.escaped(member.property)
        writer.line(
          member.isBoxed ? "_\(member.property) = Boxed(\(name))" : "self.\(member.stored) = \(name)")
      }
    }
    if members.isEmpty, parameter == "variables" { return }
    writer.emptyLine()
    writer.block("\(access)func write(to \(parameter): inout ObjectWriter)") { writer in
      for member in members {
        let key = SwiftLiteral.string(member.key)
        let value = member.stored == parameter ? "self.\(parameter)" : member.stored
        writer.line("\(parameter).writeIfGiven(\(key), \(value)\(member.coding.map { ", as: \($0).self" } ?? ""))")
      }
    }
  }

  private func printProperty(_ access: String, to writer: inout CodeWriter) {
    writer.documentation(description)
    writer.deprecation(deprecationReason)
    let name = SwiftNames.escaped(property)
    guard deprecationReason != nil else {
      return writer.line("\(isBoxed ? "@Boxed " : "")\(access)var \(name): \(type)")
    }
    writer.block("\(access)var \(name): \(type)") { writer in
      writer.line("get { \(stored) }")
      writer.line("set { \(stored) = newValue }")
    }
    writer.line("private var \(stored): \(type)")
  }
}
