internal import Carabiner
internal import CarabinerWire

/// The description of a part of a form (RFC 7578).
struct PartDisposition: Sendable {
  /// The maximum length of a name or a file name, in bytes.
  private static let maximumNameBytes = 1 << 10

  let name: String
  let fileName: String?
  let mediaType: String

  /// - Throws: A refusal with the status 400.
  init(_ headers: [MultipartPart.Header]) throws(RequestRefusal) {
    let dispositions = headers.filter { $0.name.lowercased() == "content-disposition" }
    // The syntax of the parameters is that of a media type.
    guard dispositions.count == 1, let text = dispositions.first?.value,
      text.prefix(9).lowercased() == "form-data", let parsed = MediaType("form/\(Self.escapingBackslashes(text))"),
      let name = parsed.parameter("name"), name.utf8.count <= Self.maximumNameBytes
    else { throw .form("a part of the form has no Content-Disposition: form-data with a name") }
    self.name = name
    fileName = parsed.parameter("filename").map { Self.unescaped($0) }
    guard (fileName ?? "").utf8.count <= Self.maximumNameBytes else { throw .form("a file name of the form is too long") }
    let type = headers.first { $0.name.lowercased() == "content-type" }?.value ?? GraphQLFile.octetStream
    guard type.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
      throw .form("the Content-Type of the part \(UploadMap.quoted(name)) is malformed")
    }
    mediaType = type
  }

  /// The text with each literal backslash escaped.
  ///
  /// Browsers do not escape backslashes in names. Other clients escape both quotes and backslashes.
  private static func escapingBackslashes(_ text: String) -> String {
    var escaped = ""
    var rest = Substring(text)
    while let next = rest.popFirst() {
      escaped.append(next)
      guard next == "\\" else { continue }
      let isEscape = rest.first == "\\" || rest.first == "\"" && rest.count > 1
      escaped.append(isEscape ? rest.removeFirst() : "\\")
    }
    return escaped
  }

  /// The file name without the escapes of browsers, which are added again when the part is written.
  private static func unescaped(_ text: String) -> String {
    text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
  }
}
