internal import CarabinerBridge
internal import Foundation
internal import Synchronization

/// Stacks of children that ended by a signal.
///
/// A plugin's debug information may be as hostile as its code. Therefore a child reads it, with the same confinement.
extension Supervisor {
  /// The sources of instructions that a child has found, for all checks.
  final class KnownSources: Sendable {
    fileprivate let sources = Mutex<[UInt64: InstructionSource]>([:])
  }

  private static let timeLimit = Duration.seconds(20)

  /// The stack on which a child ended, with its functions and lines; empty if no signal ended it, or if it left none.
  func stack(of child: Child, _ copy: String) -> [StackFrame] {
    let signal: Int32
    switch child.ended.end {
    case .signal(let number): signal = number
    // The supervisor asked for it.
    case .timeout: signal = SIGABRT
    case .exit, .stopped, .crowd, .flood: return []
    }
    return stack(child.record.stack(of: signal), copy)
  }

  /// The frames for a report, down to the last one of the plugin, with its functions and lines.
  func stack(_ recorded: [RecordedFrame], _ copy: String) -> [StackFrame] {
    var frames = StackFrame.relevant(
      recorded.map { frame in
        // Checks make copies in memory and in the working folder.
        let isOfPlugin =
          frame.library == copy || frame.library.hasPrefix("/proc/self/fd/") || frame.library.hasPrefix("./")
        let library = isOfPlugin ? plugin : frame.library.isEmpty ? "carabiner" : frame.library
        return StackFrame(library: library, isOfPlugin: isOfPlugin, offset: frame.offset)
      })
    let found = sources(of: Set(frames.filter(\.isOfPlugin).map(\.offset)), copy)
    for index in frames.indices where frames[index].isOfPlugin {
      guard let source = found[frames[index].offset] else { continue }
      frames[index].function = source.function
      frames[index].file = source.file.map(Self.relativePath)
      frames[index].line = source.line
    }
    return frames
  }

  private func sources(of offsets: Set<UInt64>, _ copy: String) -> [UInt64: InstructionSource] {
    let missing = sources.sources.withLock { known in offsets.subtracting(known.keys) }.sorted()
    if !missing.isEmpty {
      let more = missing.flatMap { ["--instruction", "\($0)"] }
      let child = try? child(.wholeSharedObject, copy, TrialOptions(), more, limit: Self.timeLimit * max(options.timeScale, 1))
      sources.sources.withLock { known in
        // One that has no answer is not asked for again.
        for offset in missing { known[offset] = InstructionSource(offset: offset) }
        for source in child?.contents.sources ?? [] { known[source.offset] = source }
      }
    }
    return sources.sources.withLock(\.self)
  }

  /// The path from the working folder, as code review needs it; the same path if the file is outside of it.
  private static func relativePath(_ path: String) -> String {
    let folder = "\(FileManager.default.currentDirectoryPath)/"
    return path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path
  }
}
