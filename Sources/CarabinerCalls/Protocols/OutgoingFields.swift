internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials

/// The header fields of a request, with names in lower case, each once.
struct OutgoingFields {
  private var values: Headers

  /// The fields of a call, after all hooks.
  init(_ headers: Headers) { values = HeaderFields.merged(headers) }

  /// One value of a field; nil removes the field.
  subscript(name: String) -> String? {
    get { values[name]?.joined(separator: ",") }
    set { values[name] = newValue.map { [$0] } }
  }

  /// Sets the field of the timeout.
  ///
  /// - Parameters:
  ///   - timeout: The timeout in seconds. If it is nil or not finite, the field keeps the value of the caller.
  ///   - digits: The largest number of digits that the protocol allows.
  ///   - unit: The text after the milliseconds.
  mutating func setTimeout(_ timeout: TimeInterval?, named name: String, digits: Int, unit: String = "") {
    guard let timeout, timeout.isFinite else { return }
    // Rounded to microseconds first: the product for 70 ms is 70.00000000000001, which would become 71.
    let milliseconds = ((timeout * 1_000_000).rounded() / 1000).rounded(.up)
    let largest = (0..<digits).reduce(1) { product, _ in product * 10 } - 1
    let clamped = milliseconds < 1 ? 1 : milliseconds > Double(largest) ? largest : Int(milliseconds)
    self[name] = "\(clamped)\(unit)"
  }

  /// The fields for the transport, sorted by name.
  ///
  /// - Throws: ``ConnectError`` if a name or value cannot be sent.
  func headers() throws(ConnectError) -> HTTPHeaders {
    var fields: [HTTPHeaders.Field] = []
    fields.reserveCapacity(values.count)
    for (name, values) in values.sorted(by: { $0.key < $1.key }) where !values.isEmpty {
      let field = HTTPHeaders.Field(name: name, value: values.joined(separator: ","))
      guard field.isWellFormed else {
        throw ConnectError(
          code: .invalidArgument,
          message:
            "the header \(name.debugDescription) cannot be sent: use a token as name, and no control characters in its value"
        )
      }
      fields.append(field)
    }
    return HTTPHeaders(fields)
  }
}
