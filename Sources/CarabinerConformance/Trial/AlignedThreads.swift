internal import CTestHost

/// Makes threads leave a function of the host, or take a lock, at the same moment. The code that follows then overlaps.
struct AlignedThreads {
  private let stage: StageHooks

  init(_ stage: StageHooks) { self.stage = stage }

  /// Runs work whose threads are aligned.
  func run(_ work: () throws -> Void) rethrows {
    LockWatch().begin(stage)
    CTestHost_alignThreads(1)
    defer { CTestHost_alignThreads(0) }
    try work()
  }
}
