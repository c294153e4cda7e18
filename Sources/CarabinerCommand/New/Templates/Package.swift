// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "my-plugin",
  products: [.library(name: "MyPlugin_1_0_0", type: .dynamic, targets: ["MyPlugin_1_0_0"])],
  // A link to the kit of the installed Carabiner, created by make.
  dependencies: [.package(name: "carabiner", path: "kit")],
  targets: [
    // The host reads the note without running code, so it is in a section of its own, which a C initialiser can define.
    .target(name: "Note", dependencies: [.product(name: "CarabinerPlugin", package: "carabiner")]),
    // The version is part of the module's name, because two versions of a plugin may be loaded at the same time.
    .target(
      name: "MyPlugin_1_0_0",
      dependencies: ["Note", .product(name: "CarabinerPlugin", package: "carabiner")],
      path: "Sources/Interceptor",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
