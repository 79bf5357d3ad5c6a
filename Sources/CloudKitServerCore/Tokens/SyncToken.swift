import CloudKitWire

/// A place in the change feed of a database or a zone, as clients hold it.
struct SyncToken: Hashable {
    /// The row of the database or the zone.
    var feed: Int64
    /// Which life of the feed the place belongs to.
    var incarnation: Int64
    /// The last change that was answered.
    var sequence: Int64
    /// Whether the feed is read from the newest change down.
    var isReverse = false
    /// The row of the user who sees a part of the feed alone; nil for the owner, who sees all.
    var viewer: Int64?

    func sealed(by seal: TokenSeal, for purpose: TokenSeal.Purpose) -> String {
        var writer = TokenWriter()
        writer.append(feed)
        writer.append(incarnation)
        writer.append(sequence)
        writer.append(isReverse ? 1 : 0)
        if let viewer { writer.append(viewer) }
        return seal.seal(writer.bytes, for: purpose)
    }

    /// Opens a token; nil when this service did not make it for this purpose.
    static func open(_ text: String, with seal: TokenSeal, for purpose: TokenSeal.Purpose) -> Self?
    {
        guard let contents = seal.open(text, for: purpose) else { return nil }
        var reader = TokenReader(contents)
        guard let feed = reader.number(), let incarnation = reader.number(),
            let sequence = reader.number(), let isReverse = reader.number()
        else { return nil }
        let viewer = reader.number()
        guard reader.isAtEnd else { return nil }
        return Self(
            feed: feed,
            incarnation: incarnation,
            sequence: sequence,
            isReverse: isReverse != 0,
            viewer: viewer
        )
    }
}
