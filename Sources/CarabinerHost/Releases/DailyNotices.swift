internal import CarabinerRelease

/// Selects the subjects to report to the operator: each once a day, while its condition lasts.
struct DailyNotices<Subject: Hashable> {
  private static var seconds: Int { 86_400 }

  /// When each subject was last reported.
  private var last: [Subject: ReleaseTime] = [:]

  /// The subjects to report at a time.
  ///
  /// - Parameter subjects: All subjects whose condition lasts.
  mutating func due(_ subjects: [Subject], at time: ReleaseTime) -> [Subject] {
    last = last.filter { subjects.contains($0.key) }
    let due = subjects.filter { subject in last[subject].map { time >= $0.adding(seconds: Self.seconds) } ?? true }
    for subject in due { last[subject] = time }
    return due
  }
}
