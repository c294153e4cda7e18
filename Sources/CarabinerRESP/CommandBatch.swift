/// Commands in the form in which they are sent: arrays of texts, in RESP2 and in RESP3.
///
/// ```swift
/// var commands = CommandBatch()
/// commands.begin("HMGET", arguments: 2)
/// commands.add(key)
/// commands.add("name")
/// ```
///
/// All commands are in one buffer. Each has one answer, in the same order.
package struct CommandBatch: Sendable {
  /// The bytes of all commands.
  package private(set) var bytes: [UInt8] = []
  /// The number of commands.
  package private(set) var count = 0
  /// The number of arguments that the last command still needs.
  private var missing = 0

  /// Creates an empty batch.
  ///
  /// - Parameter capacity: The number of bytes to reserve.
  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Whether each command has all of its arguments.
  package var isComplete: Bool { missing == 0 }

  // MARK: Commands

  /// Begins a command.
  ///
  /// - Parameters:
  ///   - name: The name, a single word.
  ///   - arguments: How many arguments follow by ``add(_:)-(String)`` and its variants.
  package mutating func begin(_ name: StaticString, arguments: Int) {
    precondition(missing == 0 && arguments >= 0, "the command before has too few arguments")
    missing = arguments
    count += 1
    appendHeader(0x2A, arguments + 1)
    appendHeader(0x24, name.utf8CodeUnitCount)
    name.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    endLine()
  }

  /// Adds all commands of another batch.
  package mutating func append(_ other: CommandBatch) {
    precondition(missing == 0 && other.missing == 0, "a command has too few arguments")
    bytes.append(contentsOf: other.bytes)
    count += other.count
  }

  /// Each command as a batch of its own.
  package var commands: [CommandBatch] {
    precondition(missing == 0, "a command has too few arguments")
    var (commands, position): ([CommandBatch], Int) = ([], 0)
    /// Reads the number in the header at the position, and moves the position past it.
    func header() -> Int {
      var number = 0
      position += 1
      while bytes[position] != 0x0D { (number, position) = (number * 10 + Int(bytes[position] - 0x30), position + 1) }
      position += 2
      return number
    }
    for _ in 0..<count {
      let start = position
      for _ in 0..<header() {
        let length = header()
        position += length + 2
      }
      var command = CommandBatch()
      (command.bytes, command.count) = (Array(bytes[start..<position]), 1)
      commands.append(command)
    }
    return commands
  }

  // MARK: Arguments

  /// Adds a text in UTF-8.
  package mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { unsafe addBytes($0) }
  }

  /// Adds bytes unchanged.
  package mutating func add(_ argument: some Collection<UInt8>) { addBytes(argument) }

  /// Adds a number in decimal digits.
  package mutating func add(_ number: Int) {
    beginArgument(Self.digits(of: number.magnitude) + (number < 0 ? 1 : 0))
    if number < 0 { bytes.append(0x2D) }
    appendDigits(number.magnitude)
    endLine()
  }

  /// Adds one argument of several parts, such as a key after its prefix.
  ///
  /// - Parameter parts: The parts, joined without a separator.
  package mutating func add(joining parts: String...) {
    beginArgument(parts.reduce(0) { $0 + $1.utf8.count })
    for part in parts { bytes.append(contentsOf: part.utf8) }
    endLine()
  }

  private mutating func addBytes(_ argument: some Collection<UInt8>) {
    beginArgument(argument.count)
    bytes.append(contentsOf: argument)
    endLine()
  }

  // MARK: Bytes

  private mutating func beginArgument(_ length: Int) {
    precondition(missing > 0, "the command has all of its arguments")
    missing -= 1
    appendHeader(0x24, length)
  }

  private mutating func appendHeader(_ type: UInt8, _ number: Int) {
    bytes.append(type)
    appendDigits(number.magnitude)
    endLine()
  }

  private mutating func endLine() {
    bytes.append(0x0D)
    bytes.append(0x0A)
  }

  private mutating func appendDigits(_ number: UInt) {
    var divisor: UInt = 1
    for _ in 1..<Self.digits(of: number) { divisor *= 10 }
    while divisor > 0 {
      bytes.append(0x30 + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }

  private static func digits(of number: UInt) -> Int {
    var (rest, digits) = (number / 10, 1)
    while rest > 0 { (rest, digits) = (rest / 10, digits + 1) }
    return digits
  }
}
