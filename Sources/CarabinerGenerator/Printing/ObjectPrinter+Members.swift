extension ObjectPrinter {
  /// Prints properties, and the functions that read and write them.
  func print(_ members: [Member], access: String, to writer: inout CodeWriter) {
    if isMutable { return printMutable(members, access: access, to: &writer) }
    for member in members {
      writer.documentation(member.description)
      writer.deprecation(member.deprecationReason)
      let name = SwiftNames.escaped(member.name)
      if let forward = member.forward {
        writer.line("\(access)var \(name): \(member.type) { \(forward) }")
      } else if member.deprecationReason != nil {
        // The functions below use the property without a warning.
        writer.line("\(access)var \(name): \(member.type) { \(member.stored) }")
        writer.line("\(member.wrapper.map { "@\($0) private var" } ?? "private let") \(member.stored): \(member.type)")
      } else if let wrapper = member.wrapper {
        let setter = wrapper == "Deferred" ? "" : "private(set) "
        writer.line("@\(wrapper) \(access)\(setter)var \(name): \(member.type)")
      } else {
        writer.line("\(access)let \(name): \(member.type)")
      }
    }
    let stored = members.filter { $0.forward == nil }
    let object = parameter(members)
    writer.emptyLine()
    writer.block("\(access)init(reading \(object): ObjectReader) throws") { writer in
      for member in stored {
        let read = member.read.replacingFirst("$", with: object)
        switch member.wrapper {
        case nil: writer.line("\(member.reference) = try \(read)")
        case "Deferred"?: writer.line("_\(member.stored) = try \(read)")
        case let wrapper?: writer.line("_\(member.stored) = try \(wrapper)(\(read))")
        }
      }
    }
    writer.emptyLine()
    writer.block("\(access)func write(to \(object): inout ObjectWriter)") { writer in
      for member in stored {
        writer.line(
          member.write.replacingFirst("$", with: object).replacingFirst("%", with: member.reference))
      }
    }
  }

  /// Prints properties that get and set the members of one object.
  private func printMutable(_ members: [Member], access: String, to writer: inout CodeWriter) {
    writer.line("private var __object: MutableObject")
    for member in members {
      writer.documentation(member.description)
      writer.deprecation(member.deprecationReason)
      let read = member.read.replacingFirst("$", with: "$0")
      let name = SwiftNames.escaped(member.name)
      if member.isConstant {
        writer.line("\(access)var \(name): \(member.type) { __object.get { try \(read) } }")
        continue
      }
      writer.block("\(access)var \(name): \(member.type)") { writer in
        writer.line("get { __object.get { try \(read) } }")
        let write = member.write.replacing("writeIfGiven", with: "write").replacingFirst("$", with: "$0")
        writer.line("set { __object.set { \(write.replacingFirst("%", with: "newValue")) } }")
      }
    }
    writer.emptyLine()
    writer.begin("\(access)init(reading object: ObjectReader) throws")
    writer.block("__object = try MutableObject(reading: object)") { writer in
      for member in members where member.forward == nil {
        let read = "try \(member.read.replacingFirst("$", with: "object")) as \(member.type)"
        writer.line(member.write.replacingFirst("$", with: "$0").replacingFirst("%", with: read))
      }
    }
    writer.end()
    writer.emptyLine()
    writer.block("\(access)func write(to object: inout ObjectWriter)") { $0.line("object.write(__object)") }
  }

  /// A name for the reader and the writer that no property has.
  private func parameter(_ members: [Member]) -> String {
    let used = Set(members.map(\.name))
    if !used.contains("object") { return "object" }
    var number = 2
    while used.contains("object\(number)") { number += 1 }
    return "object\(number)"
  }
}

extension ObjectPrinter.Member {
  /// The name of the stored property. No field has a name that begins with two underscores.
  var stored: String { deprecationReason == nil ? name : "__" + name }

  /// The stored property in a function. Even in backticks, a bare `self` is the whole value.
  fileprivate var reference: String { (stored == "self" ? "self." : "") + SwiftNames.escaped(stored) }
}

extension String {
  fileprivate func replacingFirst(_ mark: Character, with text: String) -> String {
    guard let index = firstIndex(of: mark) else { return self }
    return self[..<index] + text + self[self.index(after: index)...]
  }
}
