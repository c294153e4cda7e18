import CarabinerManifest

extension Refusal {
  /// A mistake in `isolation`.
  static func isolation(
    _ name: String, _ value: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    .plugin(name, "{name: a, file: present.plugin, isolation: \(value)}", code, "/isolation\(pointer)", fragment)
  }

  /// A mistake in the settings of a worker.
  static func worker(
    _ name: String, _ keys: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    .isolation(name, "{mode: worker, \(keys)}", code, "/\(pointer)", fragment)
  }

  /// A mistake in the user of workers.
  private static func user(_ name: String, _ value: String) -> Refusal {
    Refusal(
      name, "carabiner: 1\nsettings: {worker-user: '\(value)'}", .invalidValue, "/settings/worker-user",
      "write the name of a user other than root, or the numbers of user and group, as in 65534:65534")
  }

  private static let modes: [Refusal] = [
    .isolation(
      "a slip in the isolation", "proces", .invalidValue, "", "\"proces\" is not an isolation; write in-process or"),
    .isolation("a slip in the mode", "{mode: proces}", .invalidValue, "/mode", "write in-process or worker"),
    .isolation(
      "an isolation as truth value", "true", .wrongType, "", "an object that begins with mode: worker, and is a boolean"),
    .isolation("an isolation as list", "[worker]", .wrongType, "", "in-process, worker, or an object"),
    .isolation("an isolation without mode", "{memory: 64MiB}", .missing, "", "the mode is missing; write mode: worker"),
    .isolation(
      "a setting of workers in-process", "{mode: in-process, memory: 64MiB}", .invalidValue, "/memory",
      "the mode is in-process; remove it, or write mode: worker"),
    .worker("an unknown key of a worker", "memroy: 64MiB", .unknownKey, "memroy", "(did you mean memory?)"),
    .plugin(
      "isolation beside ffi", "{name: a, ffi: {}, isolation: worker}", .invalidValue, "/isolation",
      "isolation is not allowed beside ffi; remove it"),
  ]

  private static let numbers: [Refusal] = [
    .worker("a group with capitals", "group: Signing", .invalidValue, "group", "lower-case letters, digits and -"),
    .worker("an empty group", "group: ''", .invalidValue, "group", "this text is empty"),
    .worker("no workers", "workers: 0", .invalidValue, "workers", "0 is not a whole number from 1 to 16; write one"),
    .worker("too many workers", "workers: 17", .invalidValue, "workers", "from 1 to 16"),
    .worker("half a worker", "workers: 0.5", .invalidValue, "workers", "from 1 to 16"),
    .worker("no lanes", "lanes: 0", .invalidValue, "lanes", "from 1 to 16"),
    .worker("too many lanes", "lanes: 17", .invalidValue, "lanes", "from 1 to 16"),
    .worker(
      "too little memory", "memory: 1MiB", .invalidValue, "memory", "1MiB is too small; write a size from 16MiB to 1024GiB"),
    .worker("too little memory in bytes", "memory: 16777215", .invalidValue, "memory", "write a size from 16MiB"),
    .worker("memory in another unit", "memory: 256M", .invalidValue, "memory", "\"M\" is not a unit of size"),
    .worker("too small an arena", "arena: 512KiB", .invalidValue, "arena", "too small; write a size from 1MiB to 4GiB"),
    .worker("too large an arena", "arena: 5GiB", .invalidValue, "arena", "5GiB is too large; write a size from 1MiB to 4GiB"),
    .worker(
      "arenas without addresses", "lanes: 16, arena: 4GiB", .isolation, "arena",
      "a process has 64GiB of addresses, and 16 lanes with two arenas of 4GiB each, two for control, and a memory of 256MiB need "
        + "141568MiB; write an arena of at most 1859MiB, or fewer lanes"),
    .worker(
      "memory without addresses", "memory: 64GiB", .isolation, "memory",
      "write a memory of at most 32GiB"),
    .worker("cpu as number", "cpu: 50", .invalidValue, "cpu", "a whole number from 1 to 1600 and a per cent sign, as in 50%"),
    .worker("no cpu", "cpu: 0%", .invalidValue, "cpu", "from 1 to 1600"),
    .worker("too much cpu", "cpu: 1601%", .invalidValue, "cpu", "from 1 to 1600"),
    .worker("cpu with a fraction", "cpu: 0.5%", .invalidValue, "cpu", "a whole number"),
    .worker("no time for hooks", "hang: 0s", .invalidValue, "hang", "is zero"),
    .worker("a time without unit", "hang: 1", .invalidValue, "hang", "write it with a unit"),
  ]

  private static let lists: [Refusal] = [
    .worker("a relative path", "read: [certs]", .invalidValue, "read/0", "certs is a relative path; write an absolute one"),
    .worker("the root", "read: [/etc, /]", .invalidValue, "read/1", "/ is the whole file system; name the folders"),
    .worker("the root in other letters", "read: [//]", .invalidValue, "read/0", "the whole file system"),
    .worker("a way up", "read: [/etc/../root]", .invalidValue, "read/0", "write the path without them"),
    .worker("other processes", "read: [/proc/1]", .invalidValue, "read/0", "a worker has a /proc of its own; remove it"),
    .worker("a path that does not exist", "read: [/absent/a]", .missing, "read/0", "there is no file or folder /absent/a"),
    .worker("a path twice", "read: [/etc, /etc/]", .duplicateName, "read/1", "/etc is in the list already"),
    .worker("a path as text", "read: /etc", .wrongType, "read", "a list of absolute paths"),
    .worker("a number as path", "read: [1]", .wrongType, "read/0", "a text, and is a number"),
    .worker("a variable with its value", "environment: ['TZ=UTC']", .invalidValue, "environment/0", "write the name only"),
    .worker(
      "a variable of the linker", "environment: [LD_PRELOAD]", .invalidValue, "environment/0", "is never passed on; remove"),
    .worker("a variable of glibc", "environment: [GLIBC_TUNABLES]", .invalidValue, "environment/0", "is never passed on"),
    .worker("a variable twice", "environment: [TZ, TZ]", .duplicateName, "environment/1", "TZ is in the list already"),
    .worker("variables as text", "environment: TZ", .wrongType, "environment", "a list of names of variables"),
  ]

  private static let restarts: [Refusal] = [
    .worker("restarts as number", "restart: 5", .wrongType, "restart", "an object, and is a number"),
    .worker("a slip about restarts", "restart: {back-off: 1s}", .unknownKey, "restart/back-off", "(did you mean backoff?)"),
    .worker("no delay", "restart: {backoff: 0s}", .invalidValue, "restart/backoff", "is zero"),
    .worker("zero crashes of a worker", "restart: {after: 0}", .invalidValue, "restart/after", "from 1 to 1000"),
    .worker("crashes within no time", "restart: {within: 1}", .invalidValue, "restart/within", "write it with a unit"),
    .worker(
      "a maximum below the first delay", "restart: {backoff: 2s, maximum: 1s}", .isolation, "restart/maximum",
      "the maximum of 1s is shorter than the backoff of 2s; write a longer maximum, or a shorter backoff"),
    .worker("an unknown confinement", "confine: loose", .invalidValue, "confine", "write strict or available"),
  ]

  private static let users: [Refusal] = [
    .user("root as the user of workers", "root"), .user("the number of root", "0:65534"), .user("the group of root", "65534:00"),
    .user("a user with a name and a number", "nobody:65534"), .user("a user with capitals", "Nobody"),
    .user("a number too high for a user", "4294967295:1"),
  ]

  /// All mistakes about workers.
  static let isolations = modes + numbers + lists + restarts + users
}
