package import CarabinerWire

/// A call into an unmodified C library, as a manifest declares it.
///
/// The host checks that the library and the function exist, that the symbol is a function, that the types exist and constants fit
/// them, and that a pointer is passed with its length. The host cannot check that the declared signature is the function's own, that
/// several threads may call the function at once, and that it does not keep the pointer. As in C, a wrong declaration is undefined
/// behaviour: declare only what the library's header says.
package struct FFIDeclaration: Sendable, Hashable {
  /// A C type that a declaration may use.
  package enum CType: String, Sendable, Hashable, CaseIterable {
    case i8, i16, i32, i64, u8, u16, u32, u64, f32, f64
    /// `const char *`
    case string
    /// `const void *`
    case pointer
    /// Valid only as a result.
    case void
  }

  /// An argument.
  package enum Argument: Sendable, Hashable {
    case integer(CType, Int64)
    case unsigned(CType, UInt64)
    case real(CType, Double)
    case text(String)
    /// The address of the request's body.
    case body
    /// The length of the request's body in bytes.
    case bodyLength(CType)
  }

  /// The notation of the result in the header.
  package enum Format: String, Sendable, Hashable, CaseIterable {
    case decimal
    case hex
    case text
  }

  /// The most arguments of a call.
  package static let maximumArguments = 16

  package let library: String
  package let function: String
  package let returns: CType
  package let arguments: [Argument]
  package let header: String
  package let format: Format

  /// Whether an argument is the request's body or its length.
  package var readsBody: Bool {
    arguments.contains { argument in
      switch argument {
      case .body, .bodyLength: true
      default: false
      }
    }
  }

  private static let keys = ["library", "function", "returns", "arguments", "header", "format"]

  /// Reads a declaration.
  ///
  /// - Throws: ``ManifestProblem`` with the place of the first mistake.
  package init(_ json: JSONValue, at pointer: JSONPointer) throws {
    guard case .object(let object) = json else {
      throw ManifestProblem(.wrongType, at: pointer, "ffi must be an object, and is a \(json.kind)")
    }
    try Self.refuseUnknownKeys(of: object, at: pointer, knowing: Self.keys)
    func text(_ key: String) throws -> String {
      guard let value = object[key]?.string, !value.isEmpty else {
        throw ManifestProblem(.missing, at: pointer.appending(key), "ffi needs \(key), a text")
      }
      return value
    }
    library = try text("library")
    function = try text("function")
    header = try text("header")
    guard HeaderText.isName(header) else {
      throw ManifestProblem(.invalidValue, at: pointer.appending("header"), "\(header.debugDescription) is not a header name")
    }
    returns = try Self.type(try text("returns"), at: pointer.appending("returns"))
    let formatName = object["format"] ?? .string(returns == .string ? "text" : "decimal")
    guard let format = formatName.string.flatMap(Format.init(rawValue:)) else {
      throw ManifestProblem(
        .invalidValue, at: pointer.appending("format"), "\(formatName) is not a format; use decimal, hex or text")
    }
    self.format = format
    guard returns != .void, returns != .pointer else {
      throw ManifestProblem(
        .invalidValue, at: pointer.appending("returns"), "a result of type \(returns) cannot be written into a header")
    }
    let isText = returns == .string
    let isReal = returns == .f32 || returns == .f64
    guard (format == .text) == isText, !(format == .hex && isReal) else {
      throw ManifestProblem(
        .invalidValue, at: pointer.appending("format"), "the format \(format) does not fit a result of type \(returns)")
    }
    // A call without the arguments that the function reads crashes the host, so the list is never left out by mistake.
    guard let given = object["arguments"] else {
      throw ManifestProblem(
        .missing, at: pointer.appending("arguments"),
        "ffi needs arguments, a list of what \(function) takes in C; write arguments: [] only if it takes nothing")
    }
    guard let list = given.array else {
      throw ManifestProblem(.wrongType, at: pointer.appending("arguments"), "arguments must be a list")
    }
    guard list.count <= Self.maximumArguments else {
      throw ManifestProblem(
        .invalidValue, at: pointer.appending("arguments"), "at most \(Self.maximumArguments) arguments are possible")
    }
    arguments = try list.enumerated().map { index, element in
      try Self.argument(element, at: pointer.appending("arguments").appending(index))
    }
    let hasLength = arguments.contains { if case .bodyLength = $0 { true } else { false } }
    guard !arguments.contains(.body) || hasLength else {
      throw ManifestProblem(
        .invalidValue, at: pointer.appending("arguments"),
        "the body is passed by address but not its length, and it does not end with NUL; add {type: u64, from: body-length}")
    }
  }

  private static func refuseUnknownKeys(
    of object: JSONObject, at pointer: JSONPointer, knowing keys: [String]
  ) throws {
    for key in object.keys where !keys.contains(key) {
      throw ManifestProblem(
        .unknownKey, at: pointer.appending(key), "unknown key \(key)\(Suggestion.text(for: key, among: keys))")
    }
  }

  private static func type(_ name: String, at pointer: JSONPointer) throws -> CType {
    guard let type = CType(rawValue: name) else {
      throw ManifestProblem(
        .invalidValue, at: pointer,
        "\(name) is not a C type\(Suggestion.text(for: name, among: CType.allCases.map(\.rawValue))); use one of "
          + CType.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return type
  }

  private static func argument(_ json: JSONValue, at pointer: JSONPointer) throws -> Argument {
    guard case .object(let object) = json, let name = object["type"]?.string else {
      throw ManifestProblem(.missing, at: pointer, "an argument is {type: …, value: …} or {type: …, from: body or body-length}")
    }
    try refuseUnknownKeys(of: object, at: pointer, knowing: ["type", "value", "from"])
    let type = try type(name, at: pointer.appending("type"))
    guard object.contains("value") != object.contains("from") else {
      throw ManifestProblem(.invalidValue, at: pointer, "an argument has either value or from; write one of them")
    }
    guard object["from"].map({ ["body", "body-length"].contains($0) }) ?? true else {
      throw ManifestProblem(.invalidValue, at: pointer.appending("from"), "from must be body or body-length")
    }
    guard object["value"].map({ ["number", "string"].contains($0.kind) }) ?? true else {
      throw ManifestProblem(.wrongType, at: pointer.appending("value"), "value must be a number or a text")
    }
    switch (json["from"]?.string, type) {
    case ("body", .pointer): return .body
    case ("body-length", .i32), ("body-length", .u32), ("body-length", .i64), ("body-length", .u64): return .bodyLength(type)
    case (let source?, _):
      throw ManifestProblem(
        .invalidValue, at: pointer, "\(source) cannot be passed as \(name); body goes with pointer, body-length with i32 to u64")
    case (nil, _): return try constant(json["value"], type, at: pointer)
    }
  }

  private static func constant(_ value: JSONValue?, _ type: CType, at pointer: JSONPointer) throws -> Argument {
    func outOfRange() -> ManifestProblem {
      ManifestProblem(.invalidValue, at: pointer.appending("value"), "\(value ?? .null) does not fit the type \(type)")
    }
    switch type {
    case .i8, .i16, .i32, .i64:
      guard let number = value?.number.flatMap({ Int64($0.lexeme) }), type.signedRange.contains(number) else {
        throw outOfRange()
      }
      return .integer(type, number)
    case .u8, .u16, .u32, .u64:
      guard let number = value?.number.flatMap({ UInt64($0.lexeme) }), number <= type.highest else { throw outOfRange() }
      return .unsigned(type, number)
    case .f32, .f64:
      guard let number = value?.double, number.isFinite else { throw outOfRange() }
      return .real(type, number)
    case .string:
      guard let text = value?.string, !text.utf8.contains(0) else { throw outOfRange() }
      return .text(text)
    case .pointer, .void:
      throw ManifestProblem(.invalidValue, at: pointer, "a constant cannot have the type \(type)")
    }
  }
}

extension FFIDeclaration.CType {
  fileprivate var signedRange: ClosedRange<Int64> {
    switch self {
    case .i8: Int64(Int8.min)...Int64(Int8.max)
    case .i16: Int64(Int16.min)...Int64(Int16.max)
    case .i32: Int64(Int32.min)...Int64(Int32.max)
    default: .min ... .max
    }
  }

  fileprivate var highest: UInt64 {
    switch self {
    case .u8: UInt64(UInt8.max)
    case .u16: UInt64(UInt16.max)
    case .u32: UInt64(UInt32.max)
    default: .max
    }
  }
}
