internal import ArgumentParser
internal import CarabinerBridge
internal import CarabinerManifest

/// The time limit of a child process.
struct ProbeOptions: ParsableArguments {
  @Option(
    name: .long, help: "The time after which a child process that loads a plugin is killed, such as 500ms or 10s.",
    transform: { text in
      do {
        let duration = try DurationText.parse(text)
        guard duration > .zero else { throw ValidationError("--probe-timeout must be longer than 0") }
        return duration
      } catch let error as MalformedQuantity {
        throw ValidationError(error.description)
      }
    })
  var probeTimeout: Duration = .seconds(10)
}
