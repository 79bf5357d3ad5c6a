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
    /// The newest change when the reading began that the token goes on with; 0 once all of that was
    /// answered.
    var begun: Int64 = 0

    /// Whose deletions the holder has heard of, or never needs to: the records were not there when
    /// the reading began.
    var knownDeletions: Int64 { isReverse ? begun : max(sequence, begun) }

    func sealed(by seal: TokenSeal, for purpose: TokenSeal.Purpose) -> String {
        var writer = TokenWriter()
        writer.append(feed)
        writer.append(incarnation)
        writer.append(sequence)
        writer.append(isReverse ? 1 : 0)
        // The row of a user is never 0.
        if viewer != nil || begun != 0 {
            writer.append(viewer ?? 0)
            writer.append(begun)
        }
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
        let viewer = reader.number().flatMap { $0 == 0 ? nil : $0 }
        let begun = reader.number() ?? 0
        guard reader.isAtEnd else { return nil }
        return Self(
            feed: feed,
            incarnation: incarnation,
            sequence: sequence,
            isReverse: isReverse != 0,
            viewer: viewer,
            begun: begun
        )
    }
}
