/// The part of `swift package dump-package` that `Scripts/layers` reads.
struct Dump: Encodable {
    struct Target: Encodable {
        var name: String
        var type: String
        var path: String?
        var dependencies: [[String: [String?]]]
    }

    var targets: [Target]
}
