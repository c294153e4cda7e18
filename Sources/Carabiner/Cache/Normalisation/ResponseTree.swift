internal import CarabinerWire

/// The values of a response by their places on its tape.
///
/// A function for keys gets whole objects. Parsing each object alone would parse its parts once for every object around them.
struct ResponseTree {
  private let root: Int
  /// One value for each entry from the root on. The parts of a value share its storage.
  private var values: [JSONValue]

  /// The values of a container and its parts.
  ///
  /// - Parameter root: The place of the container.
  init(_ tape: [JSONTape.Entry], root: Int, in text: Span<UInt8>) {
    self.root = root
    let end = Int(tape[root].next)
    values = Array(repeating: .null, count: end - root)
    // Parts come after their container on the tape. From the end backwards, the parts are ready before their container.
    for place in (root..<end).reversed() { values[place - root] = value(at: place, tape, in: text) }
  }

  /// The object at a place of the tape; nil if another value is there.
  func object(at place: Int) -> JSONObject? { values[place - root].object }

  private func value(at place: Int, _ tape: [JSONTape.Entry], in text: Span<UInt8>) -> JSONValue {
    let entry = tape[place]
    switch entry.kind {
    case .null: return .null
    // The text was checked when the tape was made.
    case .scalar: return (try? JSONValue(parsing: text.extracting(entry.range))) ?? .null
    case .string, .escapedString: return .string(JSONTape.string(entry, in: text))
    case .array:
      var elements: [JSONValue] = []
      var element = place + 1
      while element < Int(entry.next) {
        elements.append(values[element - root])
        element = Int(tape[element].next)
      }
      return .array(elements)
    case .object:
      var object = JSONObject()
      var name = place + 1
      while name < Int(entry.next) {
        object[values[name - root].string ?? ""] = values[name + 1 - root]
        name = Int(tape[name + 1].next)
      }
      return .object(object)
    }
  }
}
