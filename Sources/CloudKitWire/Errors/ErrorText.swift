/// The cleaning that a client applies to the strings of a server's error before anybody sees them.
///
/// A server may repeat the text it received, tokens included, and errors are printed and logged.
/// Therefore errors are cleaned while they are decoded.
package struct ErrorText: Sendable {
    /// A string without secrets.
    package typealias Cleaning = @Sendable (String) -> String

    private let text: Cleaning
    private let name: Cleaning
    private let link: Cleaning

    /// Creates a set of cleaning functions.
    ///
    /// - Parameters:
    ///   - text: Cleans text for people.
    ///   - name: Cleans the name of an item, by which the app identifies it.
    ///   - link: Cleans an address that the user visits.
    package init(
        text: @escaping Cleaning,
        name: @escaping Cleaning,
        link: @escaping Cleaning
    ) {
        self.text = text
        self.name = name
        self.link = link
    }

    /// A cleaning that changes nothing, for servers.
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
    /// The cleaning that errors are decoded with.
    var errorText: ErrorText { userInfo[.errorText] as? ErrorText ?? .asItIs }
}
