import CloudKit
import CloudKitCodable
import Foundation

// Types whose `init(from:)` accepts only values that `encode(to:)` wrote: some of them end the
// process on an empty text or a zero.

/// An enumeration that does not list its cases.
enum Genre: String, Codable, Sendable {
    case news, stories
}

/// An enumeration with values.
enum Cover: Codable, Equatable, Sendable {
    case plain(colour: String)
    case picture(width: Int, height: Int)
}

/// A text of parts, with at least one part.
struct Tags: Codable, Equatable, Sendable {
    var first: String
    var others: [String]

    init(_ tags: String...) {
        first = tags[0]
        others = Array(tags.dropFirst())
    }

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let parts = text.split(separator: ";").map(String.init)
        first = parts[0]
        others = Array(parts.dropFirst())
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(([first] + others).joined(separator: ";"))
    }
}

/// A price, which is never zero.
struct Price: Codable, Equatable, Sendable {
    var cents: Int

    init(cents: Int) { self.cents = cents }

    init(from decoder: any Decoder) throws {
        cents = try decoder.singleValueContainer().decode(Int.self)
        precondition(cents > 0)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(cents)
    }
}

/// An address with a host.
struct Host: Codable, Equatable, Sendable {
    var name: String

    init(name: String) { self.name = name }

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        name = URLComponents(string: text)!.host!
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("https://\(name)/")
    }
}

/// A word of letters.
struct Word: Codable, Equatable, Sendable {
    struct NoWord: Error {}

    var text: String

    init(_ text: String) { self.text = text }

    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        guard CharacterSet.letters.contains(text.unicodeScalars.first!) else { throw NoWord() }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

struct Footnote: CloudKitModel, Equatable, Sendable {
    var id: String
    var word: Word
    var recordName: String { id }
}

struct Article: CloudKitModel, Equatable, Sendable {
    var id: String
    var tags: Tags
    var host: Host
    var footnotes: [Footnote]
    var recordName: String { id }

    static var fields: CloudKitFields { [CodingKeys.footnotes: .children(via: "article")] }
}

struct Magazine: CloudKitModel, Equatable, Sendable {
    var id: String
    var genre: Genre
    var cover: Cover
    var price: Price
    var articles: [Article]
    var archive: [CloudKitReference<Article>]
    var recordName: String { id }

    static var fields: CloudKitFields { [CodingKeys.articles: .children(via: "magazine")] }

    static func sample(articles: Int = 3) -> Magazine {
        Magazine(
            id: "magazine",
            genre: .stories,
            cover: .picture(width: 3, height: 4),
            price: Price(cents: 250),
            articles: (0..<articles).map { number in
                Article(
                    id: "article\(number)",
                    tags: Tags("a", "b\(number)"),
                    host: Host(name: "example.com"),
                    footnotes: (0..<2).map {
                        Footnote(id: "footnote\(number)-\($0)", word: Word("word"))
                    }
                )
            },
            archive: []
        )
    }
}
