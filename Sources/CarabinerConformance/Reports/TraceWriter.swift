internal import CarabinerWire
internal import Foundation
internal import Synchronization

/// Writes the events of children in the format of Chrome's trace viewer, which Perfetto also reads: a process for each check, hooks as
/// spans, calls of host functions as instant events.
package final class TraceWriter: Sendable {
  private struct State {
    let file: FileHandle
    var processes = 0
    var isFirst = true
    var failure: String?
  }

  private let state: Mutex<State>
  private let start = UInt64(DispatchTime.now().uptimeNanoseconds)

  /// - Throws: The error of the system if the file cannot be made.
  package init(path: String) throws {
    try Data("[".utf8).write(to: URL(filePath: path))
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seekToEnd()
    state = Mutex(State(file: file))
  }

  /// Adds the events of one child.
  func add(_ events: [TraceEvent], of check: String, _ plugin: String) {
    guard !events.isEmpty else { return }
    state.withLock { state in
      state.processes += 1
      let process = JSONValue.number(JSONNumber(state.processes))
      var lines: [JSONValue] = [
        ["name": "process_name", "ph": "M", "pid": process, "tid": 0, "args": ["name": .string("\(check) \(plugin)")]]
      ]
      lines += events.map { event in
        var line = JSONObject()
        line["name"] = .string(event.text)
        line["cat"] = .string(event.kind == .use ? "host" : "plugin")
        line["ph"] = .string(event.kind == .begin ? "B" : event.kind == .end ? "E" : "i")
        // Microseconds with three decimals.
        let (time, isBefore) = event.nanoseconds.subtractingReportingOverflow(start)
        line["ts"] = .number(JSONNumber(isBefore ? 0 : Double(time) / 1000) ?? JSONNumber(0))
        line["pid"] = process
        line["tid"] = .number(JSONNumber(Int(event.thread)))
        if event.kind == .use { line["s"] = "t" }
        return .object(line)
      }
      var text = ""
      for line in lines {
        text += (state.isFirst ? "\n" : ",\n") + line.serializedText
        state.isFirst = false
      }
      write(text, &state)
    }
  }

  /// Ends the file; returns the error of writing, if there was one.
  package func close() -> String? {
    state.withLock { state in
      write("\n]\n", &state)
      try? state.file.close()
      return state.failure
    }
  }

  private func write(_ text: String, _ state: inout State) {
    guard state.failure == nil else { return }
    do { try state.file.write(contentsOf: Data(text.utf8)) } catch { state.failure = error.localizedDescription }
  }
}
