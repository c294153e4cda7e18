// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "bench-noop",
  products: [.library(name: "BenchNoop_1_0_0", type: .dynamic, targets: ["BenchNoop_1_0_0"])],
  dependencies: [.package(name: "carabiner", path: "../../../..")],
  targets: [
    .target(
      name: "Note", dependencies: [.product(name: "CarabinerPlugin", package: "carabiner")], path: "Sources/Note"),
    .target(
      name: "BenchNoop_1_0_0",
      dependencies: ["Note", .product(name: "CarabinerPlugin", package: "carabiner")],
      path: "Sources/Noop",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .strictMemorySafety(), .treatAllWarnings(as: .error),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
