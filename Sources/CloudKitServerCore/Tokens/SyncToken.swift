import CloudKitWire

/// A change token: a position in the change feed of a database or a zone, as clients hold it.
///
/// It names the feed with its incarnation, which a reset or a restore changes, and the participant
/// whose part of the feed it is, so that no other feed accepts it.
struct SyncToken: Hashable {
    /// The row of the database or the zone.
    var feed: Int64
    /// The incarnation of the feed.
    var incarnation: Int64
    /// The last change that was returned.
    var sequence: Int64
    /// `true` when the feed is read from the newest change down.
    var isReverse = false
    /// The row of the user who sees only a part of the feed; nil for the owner, who sees all.
    var viewer: Int64?
    /// The newest change at the time when reading began; 0 once everything up to it was returned.
    var begun: Int64 = 0

    /// The number up to which the holder knows of deletions or does not need them, because the
    /// records did not exist when reading began.
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

    /// Opens a token; returns nil if this service did not create it for this purpose.
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
