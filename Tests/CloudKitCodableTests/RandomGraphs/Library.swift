import CloudKit
import CloudKitCodable
import Foundation

// The models of the random graphs. Mappers tend to lose parts of such types: types that accept only
// some values, properties that are encoded by hand, and relations declared after all of these.

/// A raw value that cannot be guessed, because the type does not list its cases.
enum BookGenre: String, Codable {
    case novel, essay, poem
}

/// An enumeration with payloads, whose keys differ from case to case.
enum Mood: Codable, Equatable {
    case calm
    case loud(Int)
    case mixed(String, strength: Double?)
}

/// A string that is refused unless it looks like an address.
struct Email: Codable, Equatable {
    let text: String

    init(_ text: String) { self.text = text }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard text.contains("@") else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no @")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// A number that ends the process when it is out of bounds, like strict code.
struct Percent: Codable, Equatable {
    let value: Int

    init(_ value: Int) {
        precondition((1...100).contains(value))
        self.value = value
    }

    init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Int.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A pair of words in one string, read by subscripts that trap on any other string.
struct Pair: Codable, Equatable {
    let first: String
    let second: String

    init(_ first: String, _ second: String) { (self.first, self.second) = (first, second) }

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        self.init(String(parts[0]), String(parts[1]))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(first + ";" + second)
    }
}

/// A wrapper around an optional, which encodes nil itself.
@propertyWrapper struct Lenient<Value: Codable & Equatable>: Codable, Equatable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

struct Library: CloudKitModel, Equatable, Identifiable {
    var id: String
    var genre: BookGenre
    var email: Email
    var pair: Pair
    var mood: Mood?
    @Lenient var note: String?
    var emails: [Email] = []
    var limits: [Lenient<Percent>] = []
    var shortlist: [CloudKitReference<Book>] = []
    var shelves: [Shelf] = []
    var archive: [Shelf] = []
    var catalog: Catalog?
    var poster: Poster?
    var gallery: [Poster] = []
    var pinned: CloudKitReference<Book>?
    var opened: Date

    static var fields: CloudKitFields {
        [
            CodingKeys.shelves: .children(via: "library"),
            CodingKeys.archive: .children(via: "archivedIn"),
            CodingKeys.catalog: .children(via: "catalogOf"),
            CodingKeys.poster: .reference(.none, isHierarchy: true),
        ]
    }
}

struct Shelf: CloudKitModel, Equatable, Identifiable {
    var id: String
    var percent: Percent
    var genre: BookGenre?
    var books: [Book] = []

    static var fields: CloudKitFields {
        [CodingKeys.books: .children(via: "shelf", isHierarchy: true)]
    }
}

struct Poster: CloudKitModel, Equatable, Identifiable {
    var id: String
    var size: Pair
    var image: Data

    static var fields: CloudKitFields { [CodingKeys.image: .asset] }
}

/// A model that works without a missing agent, and does not reveal the agent's type before.
struct Author: CloudKitModel, Equatable, Identifiable {
    var id: String
    var email: Email
    var agent: Agent?

    enum CodingKeys: String, CodingKey { case id, email, agent = "representedBy" }

    init(id: String, email: Email, agent: Agent?) {
        (self.id, self.email, self.agent) = (id, email, agent)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        email = try container.decode(Email.self, forKey: .email)
        agent = try? container.decode(Agent.self, forKey: .agent)
    }
}

/// The frequency of each word: fields of any name, except those of other app versions.
struct Catalog: CloudKitModel, Equatable, Identifiable {
    var id: String
    var words: [String: Int]

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private static let idKey = Key(stringValue: "id")

    init(id: String, words: [String: Int]) { (self.id, self.words) = (id, words) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        id = try container.decode(String.self, forKey: Self.idKey)
        words = [:]
        for key in container.allKeys where key.stringValue.hasPrefix("word") {
            words[key.stringValue] = try container.decode(Int.self, forKey: key)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: Self.idKey)
        for (word, count) in words { try container.encode(count, forKey: Key(stringValue: word)) }
    }
}

/// A moment in the form of a list's raw values, however it is coded.
struct Moment: RawRepresentable, Codable, Equatable {
    let rawValue: Date
}

struct Agent: CloudKitModel, Equatable, Identifiable {
    var id: String
    var part: Percent
}

struct Chapter: CloudKitModel, Equatable, Identifiable {
    var id: String
    var mood: Mood
    var moods: [Mood]
    @Lenient var rating: Int?
    var code: UUID?
}

/// A hand-coded model: empty and nil properties are not encoded, and keys have their own names.
struct Book: CloudKitModel, Equatable, Identifiable {
    var id: String
    var title: String
    var tags: [String] = []
    var data: Data?
    var dates: [Date] = []
    var genres: [BookGenre] = []
    var marks: Set<UUID> = []
    var moments: [Moment] = []
    var author: Author?
    var preface: Chapter?
    var chapters: [Chapter] = []

    enum CodingKeys: String, CodingKey {
        case id, title, tags, data, dates, genres, marks, moments, author
        case preface = "foreword", chapters = "parts"
    }

    static var fields: CloudKitFields {
        [
            CodingKeys.preface: .children(via: "prefaceOf", isHierarchy: true),
            CodingKeys.chapters: .children(via: "book"),
        ]
    }

    init(id: String, title: String) { (self.id, self.title) = (id, title) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        title = try container.decode(String.self, forKey: .title)
        precondition(!title.isEmpty)
        tags = try container.decodeIfPresent([String].self, forKey: .tags) ?? []
        data = try container.decodeIfPresent(Data.self, forKey: .data)
        dates = try container.decode([Date].self, forKey: .dates)
        genres = try container.decode([BookGenre].self, forKey: .genres)
        marks = try container.decode(Set<UUID>.self, forKey: .marks)
        moments = try container.decode([Moment].self, forKey: .moments)
        author = try container.decodeIfPresent(Author.self, forKey: .author)
        preface = try container.decodeIfPresent(Chapter.self, forKey: .preface)
        chapters = try container.decode([Chapter].self, forKey: .chapters)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(title, forKey: .title)
        if !tags.isEmpty { try container.encode(tags, forKey: .tags) }
        if let data { try container.encode(data, forKey: .data) }
        try container.encode(dates, forKey: .dates)
        try container.encode(genres, forKey: .genres)
        try container.encode(marks, forKey: .marks)
        try container.encode(moments, forKey: .moments)
        if let author { try container.encode(author, forKey: .author) }
        if let preface { try container.encode(preface, forKey: .preface) }
        try container.encode(chapters, forKey: .chapters)
    }
}
