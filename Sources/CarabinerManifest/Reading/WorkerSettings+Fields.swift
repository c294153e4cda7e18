internal import CarabinerWire
internal import Glibc

extension WorkerSettings {
  static let fields = Fields(Self(group: "")) {
    $0.other(
      "mode", #""enum": ["in-process", "worker"]"#, "All other keys need worker.",
      missing: "the mode is missing; write mode: worker", check: { $0.isMode($1, $2) })
    $0.key("group", \.group, .group, "Entries with the same group share their processes.", usual: .null)
    $0.key(
      "workers", \.workers, .count(counts),
      "The number of processes. Each has instances of its own, so caches and limits count per process.")
    $0.key(
      "lanes", \.lanes, .count(counts),
      "The number of threads that call hooks, in each process. SERIAL plugins use one.")
    $0.key(
      "memory", \.memoryBytes, .size(in: memorySizes, #", "minimum": \#(memorySizes.lowerBound)"#),
      "The writable memory of each process. At least 16MiB.")
    $0.key(
      "cpu", \.processorPercentage, .percentage,
      "The processor time of each process; 100% is one processor. Needs a delegated cgroup v2. Unlimited without it.")
    $0.key(
      "arena", \.arenaBytes, .arena,
      "The shared memory for messages, in each direction. 1MiB to 4GiB. A part of a message may have half of it.")
    $0.key(
      "hang", \.hang, .duration, "The longest time that a hook may run. Then its worker is killed. A suspended hook does not run."
    )
    $0.key(
      "read", \.readablePaths, .sorted(.readablePath, "a list of absolute paths"),
      "Files and folders that the plugin may read, besides libraries. Absolute paths.", usual: [])
    $0.key(
      "environment", \.environment, .sorted(.variable, "a list of names of variables"),
      "Variables of the host that are passed on. LANG and TZ always are.", usual: [])
    $0.key(
      "restart", \.restarts, .object(Restarts.fields), "The restarts of a worker that crashes. The first is at once.")
    $0.key(
      "confine", \.confinement, .word("is not a confinement; write"),
      "strict does not start a worker if this system lacks a layer of confinement; available does, and logs what is missing.")
    $0.rule(#""anyOf": [{"properties": {"mode": {"const": "worker"}}}, {"maxProperties": 1}]"#) { $0.checkAddresses($1, $2, $3) }
  }
}

extension WorkerSettings.Restarts {
  fileprivate static let fields = Fields(Self()) {
    $0.key(
      "backoff", \.backoff, .duration, "The delay before the second restart. It doubles with each further one.")
    $0.key("maximum", \.maximum, .duration, "The longest delay.")
    $0.key(
      "after", \.after, .count(counts),
      "The number of crashes that is too many. Then there is one restart per breaker-cool-down.")
    $0.key("within", \.within, .duration, "The time in which crashes are counted.")
    $0.rule("") { reader, restarts, _, pointer in
      guard restarts.backoff > restarts.maximum else { return }
      reader.problem(
        .isolation, pointer.appending("maximum"),
        "the maximum of \(DurationText.print(restarts.maximum)) is shorter than the backoff of "
          + "\(DurationText.print(restarts.backoff)); write a longer maximum, or a shorter backoff")
    }
  }
}

// MARK: Kinds of values

extension ValueKind<Int> {
  fileprivate static func size(in range: ClosedRange<Int>, _ limits: String) -> Self {
    size(limits).checked(range.contains) { _, bytes in
      "\(ByteSizeText.print(bytes)) is too \(bytes < range.lowerBound ? "small" : "large"); write a size from "
        + "\(ByteSizeText.print(range.lowerBound)) to \(ByteSizeText.print(range.upperBound))"
    }
  }

  /// The size of an arena, rounded up to whole blocks.
  fileprivate static var arena: Self {
    let (range, block) = (WorkerSettings.arenaSizes, WorkerSettings.arenaBlock)
    let size = size(in: range, #", "minimum": \#(range.lowerBound), "maximum": \#(range.upperBound)"#)
    return Self(
      size.schema, json: size.json, read: { size.read(&$0, $1, $2).map { ($0 + block - 1) / block * block } })
  }

  fileprivate static var percentage: Self {
    Self(
      #""type": "string", "pattern": "^([1-9][0-9]?[0-9]?|1[0-5][0-9][0-9]|1600)%$""#, json: { .string("\($0)%") },
      read: { reader, json, place in
        if let text = json.string, text.wholeMatch(of: /[1-9][0-9]{0,3}%/) != nil, let percent = Int(text.dropLast()),
          WorkerSettings.processorPercentages.contains(percent)
        {
          return percent
        }
        reader.problem(
          .invalidValue, place,
          "\(json) is not a share of processors; write a whole number from 1 to 1600 and a per cent sign, as in 50%; 100% is one "
            + "processor")
        return nil
      })
  }
}

extension ValueKind<[String]> {
  /// The texts of a list in sorted order.
  fileprivate static func sorted(_ text: ValueKind<String>, _ wanted: String) -> Self {
    let list = list(of: text, wanted, isUnique: true)
    return Self(list.schema, json: list.json, read: { list.read(&$0, $1, $2).map { Set($0).sorted() } })
  }
}

extension ValueKind<String> {
  fileprivate static var group: Self {
    text(##""$ref": "#/$defs/name""##, { ManifestReader.isName($0) }, "is not a name; use lower-case letters, digits and -")
  }

  fileprivate static var readablePath: Self {
    text(#""type": "string", "pattern": "^/+[^/]", "not": {"pattern": "(^|/)[.][.]?(/|$)|^/+proc(/|$)"}"#) {
      reader, json, place in
      guard let path = reader.text(json, place) else { return nil }
      let components = path.split(separator: "/")
      let reason: String? =
        if path.utf8.contains(0) {
          "a path cannot hold NUL; correct it"
        } else if !path.hasPrefix("/") {
          "\(path) is a relative path; write an absolute one, as in /etc/ssl/certs"
        } else if components.contains(where: { $0 == "." || $0 == ".." }) {
          "\(path) has . or .. in it; write the path without them"
        } else if components.isEmpty {
          "\(path) is the whole file system; name the folders that the plugin needs, as in /etc/ssl/certs"
        } else if components[0] == "proc" {
          "\(path) shows other processes, and a worker has a /proc of its own; remove it"
        } else {
          nil
        }
      if let reason {
        reader.problem(.invalidValue, place, reason)
        return nil
      }
      let normal = "/\(components.joined(separator: "/"))"
      if unsafe access(normal, F_OK) == 0 { return normal }
      reader.problem(.missing, place, "there is no file or folder \(normal); correct the path, or remove it")
      return nil
    }
  }

  fileprivate static var variable: Self {
    text(
      #""type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": {"pattern": "^(LD_|GLIBC_TUNABLES$)"}"#
    )
    .checked(
      { $0.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil },
      { "\($1.debugDescription) is not a name of a variable; write the name only, as in [TZ]" }
    )
    // The dynamic linker reads them before the worker confines itself.
    .checked(
      { !$0.hasPrefix("LD_") && $0 != "GLIBC_TUNABLES" },
      { "\($1) changes how a worker is loaded, before it is confined, and is never passed on; remove it" })
  }
}
