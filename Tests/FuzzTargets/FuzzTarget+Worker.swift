internal import CarabinerWorkers

extension FuzzTarget {
  /// The first byte selects what the others are: the steps of a worker, an answer of the control thread, or edits of a hook.
  func checkWorker(_ bytes: [UInt8]) throws {
    guard let first = bytes.first else { return }
    let rehearsal = try WorkerRehearsal()
    let rest = Array(bytes.dropFirst())
    let finding =
      switch first % 3 {
      case 0: rehearsal.play(rest)
      case 1: rehearsal.readMessage(rest)
      default: try rehearsal.stage(rest, of: first / 3)
      }
    try require(finding == nil, finding ?? "")
  }
}
