// swift-tools-version: 6.3
import PackageDescription

// Apple's own framework where there is one.
let whereAppleHasNone: TargetDependencyCondition? = .when(platforms: [.linux, .android])
let cloudKit: Target.Dependency = .product(
    name: "CloudKit",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)
let support: Target.Dependency = .product(name: "ExampleSupport", package: "Support")
let testing: Target.Dependency = .product(
    name: "CloudKitTesting",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)
let storeTesting: Target.Dependency = .product(
    name: "CloudKitStoreTesting",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let store: Target.Dependency = .product(name: "CloudKitStore", package: "swift-cloudkit")

let package = Package(
    name: "Notes",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-cloudkit", path: "../.."),
        // A server and a program in a terminal, for the tests.
        .package(path: "../Support"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // The app: notes in a SQLite file, synced by CloudKitStore.
        .target(name: "Notebook", dependencies: [cloudKit, store, grdb]),
        // The terminal around it.
        .executableTarget(name: "notes", dependencies: ["Notebook", cloudKit, store]),
        .testTarget(
            name: "NotebookTests",
            dependencies: [
                "Notebook", "notes", cloudKit, store, support, testing, storeTesting,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
