import ScriptedServer

/// The text of a GraphQL multipart request.
struct UploadText {
  static let boundary = "carabiner-test"
  static let query = "mutation($file: Upload!) { upload(file: $file) { name size sha256 } }"
  static let operations = #"{"query":"\#(query)","variables":{"file":null}}"#
  static let map = #"{"0":["variables.file"]}"#

  static func part(_ name: String, _ content: String) -> String {
    "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(content)\r\n"
  }

  /// The headers of a file, without its content.
  static func file(_ name: String, _ fileName: String) -> String {
    "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(fileName)\"\r\nContent-Type: text/plain\r\n\r\n"
  }

  static let end = "\r\n--\(boundary)--\r\n"

  /// The form up to the content of its file.
  static var opening: String { part("operations", operations) + part("map", map) + file("0", "a.txt") }

  /// The head of a request.
  ///
  /// - Parameter length: The length of the body; nil for a chunked body.
  static func head(length: Int?, _ fields: String = "Apollo-Require-Preflight: true\r\n") -> String {
    "POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: multipart/form-data; boundary=\(boundary)\r\n\(fields)"
      + (length.map { "Content-Length: \($0)\r\n\r\n" } ?? "Transfer-Encoding: chunked\r\n\r\n")
  }

  /// A whole request.
  static func request(_ form: String) -> String { head(length: form.utf8.count) + form }
}

extension ClientSocket {
  /// Sends bytes as a chunk of a body.
  @discardableResult
  func sendChunk(_ bytes: [UInt8]) -> Bool {
    send(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8))
  }
}
