import CloudKitServerCore

/// A difference between two schemas, in the output of `--json`.
struct SchemaChangeEntry: Encodable {
    let change: String
    let recordType: String?
    let text: String
    let losesData: Bool

    init(_ change: SchemaChange) {
        self.change =
            switch change.kind {
            case .added: "added"
            case .removed: "removed"
            case .changed: "changed"
            }
        recordType = change.recordType
        text = change.text
        losesData = change.losesData
    }

    /// Prints differences; for people, as lines that start with `+`, `-` or `~`.
    static func write(_ changes: [SchemaChange], _ output: OutputOptions) throws {
        for change in changes {
            if output.json {
                try output.write(SchemaChangeEntry(change))
            } else {
                let warning = change.losesData ? "  (loses data)" : ""
                try Console.write(DisplayText("\(change)\(warning)").text)
            }
        }
    }
}
