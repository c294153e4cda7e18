/// Translates the parts of a pattern into instructions.
struct SchemaPatternProgram {
  /// The most instructions of a program. A count such as `{1000}` repeats the instructions of its part.
  static let maximumInstructions = 5000

  private var instructions: [SchemaPattern.Instruction] = []

  static func make(from part: SchemaPatternPart) throws(SchemaPattern.Fault) -> [SchemaPattern.Instruction] {
    var program = SchemaPatternProgram()
    try program.add(part)
    try program.append(.found)
    return program.instructions
  }

  @discardableResult
  private mutating func append(_ instruction: SchemaPattern.Instruction) throws(SchemaPattern.Fault) -> Int {
    guard instructions.count < Self.maximumInstructions else {
      throw SchemaPattern.Fault(message: "its counts make it longer than \(Self.maximumInstructions) steps")
    }
    instructions.append(instruction)
    return instructions.count - 1
  }

  private mutating func add(_ part: SchemaPatternPart) throws(SchemaPattern.Fault) {
    switch part {
    case .set(let set): try append(.take(set))
    case .start: try append(.start)
    case .end: try append(.end)
    case .border(let wanted): try append(.border(wanted))
    case .sequence(let parts): for part in parts { try add(part) }
    case .choice(let parts): try add(choice: parts[...])
    case .repeated(let part, let minimum, let maximum):
      for _ in 0..<minimum { try add(part) }
      guard let maximum else { return try addLoop(part) }
      try addOptional(part, times: maximum - minimum)
    }
  }

  private mutating func add(choice parts: ArraySlice<SchemaPatternPart>) throws(SchemaPattern.Fault) {
    var ends: [Int] = []
    for (offset, part) in parts.enumerated() {
      let isLast = offset == parts.count - 1
      let fork = isLast ? nil : try append(.fork(0, 0))
      try add(part)
      if let fork {
        ends.append(try append(.jump(0)))
        instructions[fork] = .fork(fork + 1, instructions.count)
      }
    }
    for end in ends { instructions[end] = .jump(instructions.count) }
  }

  private mutating func addLoop(_ part: SchemaPatternPart) throws(SchemaPattern.Fault) {
    let fork = try append(.fork(0, 0))
    try add(part)
    try append(.jump(fork))
    instructions[fork] = .fork(fork + 1, instructions.count)
  }

  private mutating func addOptional(_ part: SchemaPatternPart, times: Int) throws(SchemaPattern.Fault) {
    var forks: [Int] = []
    for _ in 0..<times {
      forks.append(try append(.fork(0, 0)))
      try add(part)
    }
    for fork in forks { instructions[fork] = .fork(fork + 1, instructions.count) }
  }
}
