import CarabinerHTTP1

/// The parts that a reader reported, independent of the portions of bytes.
struct Transcript: Equatable, CustomStringConvertible {
  var interim: [Int] = []
  var status = 0
  var fields: [String] = []
  var body = ""
  var trailers: [String] = []
  /// Whether the response was complete.
  var isEnded = false
  var isReusable = false
  /// The bytes after the response.
  var rest = ""
  var error: HTTP1Error.Code?

  /// Reads a response that comes in these portions.
  ///
  /// - Parameter closes: Whether the connection ends after the bytes.
  init(_ portions: [[UInt8]], isHead: Bool = false, closes: Bool = false, limits: HTTP1Limits = HTTP1Limits()) {
    var reader = ResponseReader(limits: limits)
    self.init(portions, &reader, isHead: isHead, closes: closes)
  }

  init(_ portions: [[UInt8]], _ reader: inout ResponseReader, isHead: Bool = false, closes: Bool = false) {
    reader.begin(isHead: isHead)
    do throws(HTTP1Error) {
      for (index, portion) in portions.enumerated() {
        let position = try read(portion, &reader)
        guard isEnded else { continue }
        rest = String(decoding: portion[position...] + portions[(index + 1)...].joined(), as: UTF8.self)
        break
      }
      if closes, !isEnded {
        try reader.connectionEnded()
        isEnded = true
      }
    } catch {
      self.error = error.code
    }
    isReusable = reader.isReusable
  }

  private mutating func read(_ portion: [UInt8], _ reader: inout ResponseReader) throws(HTTP1Error) -> Int {
    var position = 0
    while true {
      switch try reader.next(portion.span, &position) {
      case .needsBytes: return position
      case .interim(let status): interim.append(status)
      case .head:
        status = reader.status
        fields = (0..<reader.headers.count).map { "\(reader.headers.name(at: $0))=\(reader.headers.value(at: $0))" }
      case .body(let range): body += String(decoding: portion[range], as: UTF8.self)
      case .end:
        isEnded = true
        trailers = (0..<reader.trailers.count).map { "\(reader.trailers.name(at: $0))=\(reader.trailers.value(at: $0))" }
        return position
      }
    }
  }

  var description: String {
    "\(interim) \(status) \(fields) \(body.debugDescription) \(trailers) ended \(isEnded), reusable \(isReusable), "
      + "rest \(rest.debugDescription), \(error.map { "\($0)" } ?? "no error")"
  }
}

/// All ways in which a test sends bytes: whole, byte by byte, and in two portions that are cut at each position.
func portions(of text: String) -> [[[UInt8]]] {
  let bytes = Array(text.utf8)
  return [[bytes], bytes.map { [$0] }] + (1..<max(bytes.count, 1)).map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
}
