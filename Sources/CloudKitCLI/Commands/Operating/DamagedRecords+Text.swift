import CloudKitServerCore

extension DamagedRecords {
    /// The number and the names, such as `2 records are damaged ('a', 'b')`.
    var text: String {
        let names = names.map { "'\(DisplayText($0).text)'" }.joined(separator: ", ")
        let more = count > self.names.count ? ", …" : ""
        return Amount.text(count, "record is", "records are") + " damaged (\(names)\(more))"
    }

    /// Returns the beginning of a sentence about these records and what else is damaged.
    func sentence(_ others: [String]) -> String {
        let text = ((isEmpty ? [] : [text]) + others).joined(separator: ", and ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }
}
