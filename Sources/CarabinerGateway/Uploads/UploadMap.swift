internal import Carabiner
internal import CarabinerWire

/// The map of a form. It assigns files to variables.
struct UploadMap: Sendable {
  /// The maximum size of the map, in bytes.
  static let maximumBytes = 64 << 10
  private static let limits = JSONLimits(maximumDepth: 8)

  let files: [UploadedForm.File]

  /// Parses a map.
  ///
  /// - Parameters:
  ///   - variables: The variables of the operation, with null wherever a file belongs.
  ///   - maximumFiles: The maximum number of files.
  /// - Throws: A refusal with the status 400 or 413.
  init(_ bytes: [UInt8], variables: JSONObject, maximumFiles: Int) throws(RequestRefusal) {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: bytes, limits: Self.limits)
    } catch {
      throw .form("the part map is not JSON: \(error)")
    }
    guard let entries = value.object else { throw .form("the part map is a JSON \(value.kind), not an object") }
    guard entries.count <= maximumFiles else { throw .tooManyFiles(maximumFiles) }
    let request: JSONValue = ["variables": .object(variables)]
    var files: [UploadedForm.File] = []
    var taken: Set<String> = []
    var names: Set<String> = []
    for (name, places) in entries {
      let texts = places.array?.compactMap(\.string) ?? []
      guard !name.isEmpty, !texts.isEmpty, texts.count == places.array?.count else {
        throw .form("map: \(Self.quoted(name)) must be a list of paths such as variables.file")
      }
      guard names.insert(name).inserted else { throw .form("map names the file \(Self.quoted(name)) twice") }
      for text in texts {
        guard text.hasPrefix("variables."), request.value(at: text) == .null else {
          throw .form("map: \(Self.quoted(text)) is not the path of a variable that is null; write it like variables.file")
        }
        guard taken.insert(text).inserted else { throw .form("map has two files for \(Self.quoted(text))") }
      }
      files.append(UploadedForm.File(name: name, places: texts))
    }
    self.files = files
  }

  /// A client's text for a message, cut to a length that fits into one line.
  static func quoted(_ text: String) -> String { String(text.prefix(80)).debugDescription }
}

extension RequestRefusal {
  /// The refusal of a form that does not follow the GraphQL multipart request specification.
  static func form(_ message: String) -> RequestRefusal { RequestRefusal(400, message, code: "BAD_UPLOAD") }

  static func tooManyFiles(_ most: Int) -> RequestRefusal {
    RequestRefusal(413, "an upload may have \(most) files (maximum-files); send fewer at once", code: "TOO_MANY_FILES")
  }

  static func fileTooLarge(_ most: Int) -> RequestRefusal {
    RequestRefusal(413, "a file of an upload may have \(most) bytes (maximum-file); send a smaller file", code: "FILE_TOO_LARGE")
  }
}
