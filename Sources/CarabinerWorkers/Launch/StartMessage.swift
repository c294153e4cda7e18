internal import CLaunching
internal import CarabinerBridge
internal import Glibc

/// A request for a worker, as the launcher reads it.
struct StartMessage {
  private var start = CLaunching_start()
  private var text: [CChar] = []
  private let descriptors: [Int32]

  init(_ order: WorkerOrder) throws(HostError) {
    descriptors = order.descriptors
    let reading = order.reading.sorted()
    let strings = [reading, order.environment, order.words]
    let limits = [CLAUNCHING_MOST_FOLDERS, CLAUNCHING_MOST_VARIABLES, CLAUNCHING_MOST_WORDS]
    for (index, name) in ["folders", "variables", "words"].enumerated() where strings[index].count > limits[index] {
      throw Self.tooMany(strings[index].count, name, limits[index])
    }
    guard descriptors.count <= CLAUNCHING_MOST_DESCRIPTORS else {
      throw Self.tooMany(descriptors.count, "descriptors", CLAUNCHING_MOST_DESCRIPTORS)
    }
    for string in strings.joined() {
      guard !string.utf8.contains(0) else {
        throw HostError(.workerNotStarted, step: "worker", path: "", "a folder, variable or word has a NUL character. Remove it")
      }
      text += string.utf8.map { CChar(bitPattern: $0) } + [0]
    }
    guard text.count <= CLAUNCHING_MOST_TEXT else {
      throw Self.tooMany(text.count, "bytes of folders, variables and words", CLAUNCHING_MOST_TEXT)
    }
    start.is_strict = order.isStrict ? 1 : 0
    start.memory = order.memory
    start.folders = UInt32(reading.count)
    start.variables = UInt32(order.environment.count)
    start.words = UInt32(order.words.count)
    start.descriptors = UInt32(descriptors.count)
    start.text = UInt32(text.count)
  }

  /// Sends the message without waiting.
  ///
  /// - Returns: 0 or an error of the system.
  func send(to socket: Int32, request: UInt64) -> Int32 {
    var start = start
    start.request = request
    return unsafe CLaunching_send(socket, &start, text, descriptors) == 0 ? 0 : errno
  }

  private static func tooMany(_ count: Int, _ what: String, _ limit: some BinaryInteger) -> HostError {
    HostError(.workerNotStarted, step: "worker", path: "", "a worker cannot have \(count) \(what). \(limit) are allowed")
  }
}
