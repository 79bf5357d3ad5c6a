import CloudKit
import CloudKitCodable
import Foundation

// The library as read by an app that never writes one, with its own types for the same records.
// Neither their keys nor their stored properties reveal what leads to other records, nor do encodings
// that the process remembers.

/// A type that is unknown when it is read first.
protocol LibraryReading: CloudKitModel {
    associatedtype Original: CloudKitModel & Equatable

    /// The decoded value, in a type that leads to no other records.
    var original: Read<Original> { get }
}

extension LibraryReading {
    static var recordType: String { Original.recordType }
    var recordName: String { original.value.recordName }

    func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self,
            EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "only read")
        )
    }
}

struct Read<Value> {
    let value: Value
    init(_ value: Value) { self.value = value }
}

// MARK: Times

/// A time at which libraries are read.
///
/// Types that are generic over one are new to the process.
protocol ReadingTime {}
enum Beginning: ReadingTime {}
enum Even<Half: ReadingTime>: ReadingTime {}
enum Odd<Half: ReadingTime>: ReadingTime {}

/// Returns the time with a number.
func readingTime(_ number: UInt64) -> any ReadingTime.Type {
    guard number > 0 else { return Beginning.self }
    func next<Half: ReadingTime>(_ half: Half.Type) -> any ReadingTime.Type {
        number.isMultiple(of: 2) ? Even<Half>.self : Odd<Half>.self
    }
    return next(readingTime(number / 2))
}

// MARK: Types

/// A model that contains no others.
struct LeafReading<Original: CloudKitModel & Equatable, Time: ReadingTime>: LibraryReading {
    let original: Read<Original>

    static var fields: CloudKitFields { Original.fields }

    init(from decoder: any Decoder) throws { original = Read(try Original(from: decoder)) }
}

struct AuthorReading<Time: ReadingTime>: LibraryReading {
    let original: Read<Author>

    enum CodingKeys: String, CodingKey { case name = "id", email, helper = "representedBy" }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let agent = try? container.decode(LeafReading<Agent, Time>.self, forKey: .helper)
        original = Read(
            Author(
                id: try container.decode(String.self, forKey: .name),
                email: try container.decode(Email.self, forKey: .email),
                agent: agent?.original.value
            )
        )
    }
}

struct BookReading<Time: ReadingTime>: LibraryReading {
    let original: Read<Book>

    enum CodingKeys: CodingKey {
        case id, heading, tags, data, dates, genres, marks, moments, writer, opening, chapters
    }

    static var fields: CloudKitFields {
        [
            CodingKeys.heading: .named("title"),
            CodingKeys.writer: .named("author"),
            CodingKeys.opening: .children(via: "prefaceOf"),
            CodingKeys.chapters: .children(via: "book"),
        ]
    }

    init(from decoder: any Decoder) throws {
        typealias Part = LeafReading<Chapter, Time>
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var book = Book(
            id: try container.decode(String.self, forKey: .id),
            title: try container.decode(String.self, forKey: .heading)
        )
        precondition(!book.title.isEmpty)
        book.genres = try container.decode([BookGenre].self, forKey: .genres)
        book.marks = try container.decode(Set<UUID>.self, forKey: .marks)
        book.moments = try container.decode([Moment].self, forKey: .moments)
        book.dates = try container.decode([Date].self, forKey: .dates)
        book.tags = try container.decodeIfPresent([String].self, forKey: .tags) ?? []
        book.data = try container.decodeIfPresent(Data.self, forKey: .data)
        book.author = try container.decodeIfPresent(AuthorReading<Time>.self, forKey: .writer)?
            .original.value
        book.preface = try container.decodeIfPresent(Part.self, forKey: .opening)?.original.value
        book.chapters = try container.decode([Part].self, forKey: .chapters)
            .map(\.original.value)
        original = Read(book)
    }
}

struct ShelfReading<Time: ReadingTime>: LibraryReading {
    let original: Read<Shelf>

    enum CodingKeys: String, CodingKey { case id, percent, genre, row = "standing" }

    static var fields: CloudKitFields { [CodingKeys.row: .children(via: "shelf")] }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        original = Read(
            Shelf(
                id: try container.decode(String.self, forKey: .id),
                percent: try container.decode(Percent.self, forKey: .percent),
                genre: try container.decodeIfPresent(BookGenre.self, forKey: .genre),
                books: try container.decode([BookReading<Time>].self, forKey: .row)
                    .map(\.original.value)
            )
        )
    }
}

struct WholeReading<Time: ReadingTime>: LibraryReading {
    let original: Read<Library>

    enum CodingKeys: CodingKey {
        case id, kind, address, words, mood, note, emails, limits, shortlist
        case front, back, index, picture, pictures, pinned, opened
    }

    static var fields: CloudKitFields {
        [
            CodingKeys.kind: .named("genre"),
            CodingKeys.address: .named("email"),
            CodingKeys.words: .named("pair"),
            CodingKeys.front: .children(via: "library"),
            CodingKeys.back: .children(via: "archivedIn"),
            CodingKeys.index: .children(via: "catalogOf"),
            CodingKeys.picture: .named("poster"),
            CodingKeys.pictures: .named("gallery"),
        ]
    }

    init(from decoder: any Decoder) throws {
        typealias Picture = LeafReading<Poster, Time>
        typealias Index = LeafReading<Catalog, Time>
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // Properties that accept no other values come before those that lead to other records.
        var library = Library(
            id: try container.decode(String.self, forKey: .id),
            genre: try container.decode(BookGenre.self, forKey: .kind),
            email: try container.decode(Email.self, forKey: .address),
            pair: try container.decode(Pair.self, forKey: .words),
            opened: try container.decode(Date.self, forKey: .opened)
        )
        library.mood = try container.decodeIfPresent(Mood.self, forKey: .mood)
        library.note = try container.decode(Lenient<String>.self, forKey: .note).wrappedValue
        library.emails = try container.decode([Email].self, forKey: .emails)
        library.limits = try container.decode([Lenient<Percent>].self, forKey: .limits)
        library.shortlist = try container.decode(
            [CloudKitReference<Book>].self,
            forKey: .shortlist
        )
        library.pinned = try container.decodeIfPresent(
            CloudKitReference<Book>.self,
            forKey: .pinned
        )
        library.shelves = try container.decode([ShelfReading<Time>].self, forKey: .front)
            .map(\.original.value)
        library.archive = try container.decode([ShelfReading<Time>].self, forKey: .back)
            .map(\.original.value)
        library.catalog = try container.decodeIfPresent(Index.self, forKey: .index)?.original.value
        library.poster = try container.decodeIfPresent(Picture.self, forKey: .picture)?
            .original.value
        library.gallery = try container.decode([Picture].self, forKey: .pictures)
            .map(\.original.value)
        original = Read(library)
    }
}
