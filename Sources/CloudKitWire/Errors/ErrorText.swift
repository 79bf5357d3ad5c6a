/// What a client makes of the strings of an error that a server sent, before anybody sees them.
///
/// A server may repeat what it was shown, tokens included, and errors are printed and logged. So
/// errors pass here while they are read.
package struct ErrorText: Sendable {
    /// A string without secrets.
    package typealias Cleaning = @Sendable (String) -> String

    private let text: Cleaning
    private let name: Cleaning
    private let link: Cleaning

    /// Makes a way to read errors.
    ///
    /// - Parameters:
    ///   - text: Cleans what only people read.
    ///   - name: Cleans the name of an item, by which the app knows it.
    ///   - link: Cleans an address to which the user goes.
    package init(
        text: @escaping Cleaning,
        name: @escaping Cleaning,
        link: @escaping Cleaning
    ) {
        self.text = text
        self.name = name
        self.link = link
    }

    /// Reads errors as they come, as servers do.
    static let asItIs = ErrorText(text: { $0 }, name: { $0 }, link: { $0 })

    func text<Key: CodingKey>(
        _ container: KeyedDecodingContainer<Key>,
        _ key: Key
    ) throws -> String? {
        try container.decodeIfPresent(String.self, forKey: key).map(text)
    }

    func name<Key: CodingKey>(
        _ container: KeyedDecodingContainer<Key>,
        _ key: Key
    ) throws -> String? {
        try container.decodeIfPresent(String.self, forKey: key).map(name)
    }

    func link<Key: CodingKey>(
        _ container: KeyedDecodingContainer<Key>,
        _ key: Key
    ) throws -> String? {
        try container.decodeIfPresent(String.self, forKey: key).map(link)
    }

    func code<Key: CodingKey>(
        _ container: KeyedDecodingContainer<Key>,
        _ key: Key
    ) throws -> ServerErrorCode {
        ServerErrorCode(rawValue: text(try container.decode(String.self, forKey: key)))
    }

    func zone<Key: CodingKey>(
        _ container: KeyedDecodingContainer<Key>,
        _ key: Key
    ) throws -> WireZoneID? {
        try container.decodeIfPresent(WireZoneID.self, forKey: key).map { zone in
            WireZoneID(
                zoneName: name(zone.zoneName),
                ownerRecordName: zone.ownerRecordName.map(name),
                zoneType: zone.zoneType.map(text)
            )
        }
    }
}

extension CodingUserInfoKey {
    static let errorText: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "CloudKitWire.errorText") else {
            preconditionFailure("A user info key takes any string")
        }
        return key
    }()
}

extension Decoder {
    /// What errors are read with.
    var errorText: ErrorText { userInfo[.errorText] as? ErrorText ?? .asItIs }
}
