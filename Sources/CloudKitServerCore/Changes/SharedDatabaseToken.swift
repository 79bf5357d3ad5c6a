import CloudKitWire

/// A position in the change feed of a shared database: the newest change seen of each zone.
///
/// The zones belong to different databases, so a single number is not enough.
struct SharedDatabaseToken: Hashable {
    var user: Int64
    /// The generation of the user's databases.
    var incarnation: Int64
    /// The number of the newest change seen, by zone.
    var seen: [Int64: Int64] = [:]

    func sealed(by seal: TokenSeal) -> String {
        var writer = TokenWriter()
        writer.append(user)
        writer.append(incarnation)
        writer.append(Int64(seen.count))
        for (zone, sequence) in seen.sorted(by: { $0.key < $1.key }) {
            writer.append(zone)
            writer.append(sequence)
        }
        return seal.seal(writer.bytes, for: .sharedChanges)
    }

    /// Opens a token; returns nil if this service did not create it.
    static func open(_ text: String, with seal: TokenSeal) -> Self? {
        guard let contents = seal.open(text, for: .sharedChanges) else { return nil }
        var reader = TokenReader(contents)
        guard let user = reader.number(), let incarnation = reader.number(),
            let count = reader.number(), count >= 0
        else { return nil }
        var token = Self(user: user, incarnation: incarnation)
        for _ in 0..<count {
            guard let zone = reader.number(), let sequence = reader.number() else { return nil }
            token.seen[zone] = sequence
        }
        return reader.isAtEnd ? token : nil
    }
}
