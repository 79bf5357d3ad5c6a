import CloudKit
import CloudKitCodable
import Foundation
import Support

/// A library under random edits, and the expected contents of its zone after each save.
struct LibraryEditing {
    var library: Library
    var random: SeededRandom
    let seed: UInt64

    /// Removed values that may return; only a graph that knows the records may save them again.
    private var removedBooks: [Book] = []
    private var removedShelves: [Shelf] = []
    private var removedChapters: [Chapter] = []

    /// One value for each author, because all books of an author lead to one record.
    private var authors: [String: Author] = [:]
    private var made = 0

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        library = Library(
            id: "library-\(seed)",
            genre: .novel,
            email: Email("a@example.com"),
            pair: Pair("north", "south"),
            opened: Date(timeIntervalSinceReferenceDate: 0)
        )
        for _ in 0..<12 { edit() }
    }

    /// Forgets removed values, like a device that loads the graph again.
    mutating func forgetRemoved() {
        removedBooks = []
        removedShelves = []
        removedChapters = []
        let reached = Set(allBooks.compactMap(\.author?.id))
        authors = authors.filter { reached.contains($0.key) }
    }

    /// Returns to an earlier state; names that were used since then are not used again.
    mutating func undo(to before: LibraryEditing) {
        let (random, made) = (random, made)
        self = before
        (self.random, self.made) = (random, made)
    }

    /// Performs one random edit.
    mutating func edit() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1: addShelf()
        case 2: removeShelf()
        case 3: moveShelf()
        case 4, 5, 6: addBook()
        case 7: removeBook()
        case 8, 9: moveBook()
        case 10: editBook()
        case 11: editAuthor()
        case 12, 13: editChapters()
        case 14: moveChapter()
        case 15: editPosters()
        case 16: editShelf()
        case 17: editCatalog()
        default: editValues()
        }
        unify()
    }

    // MARK: Values

    private mutating func name(_ prefix: String) -> String {
        made += 1
        return "\(prefix)-\(library.id)-\(made)"
    }

    private mutating func mood() -> Mood {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .calm
        case 1: .loud(Int.random(in: -3...3, using: &random))
        case 2: .mixed("x", strength: nil)
        default: .mixed("", strength: 0.5)
        }
    }

    private mutating func genre() -> BookGenre {
        [.novel, .essay, .poem].randomElement(using: &random) ?? .poem
    }

    private func code() -> UUID {
        UUID(uuidString: "00000000-0000-0000-0000-00000000000\(made % 10)")!
    }

    private mutating func percent() -> Percent { Percent(Int.random(in: 1...100, using: &random)) }

    private mutating func few<Value>(_ make: (inout Self) -> Value) -> [Value] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in make(&self) }
    }

    private mutating func perhaps<Value>(_ make: (inout Self) -> Value) -> Value? {
        random.chance(50) ? make(&self) : nil
    }

    private mutating func editValues() {
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            let genre = genre()
            library.genre = genre
        case 1:
            let mood = perhaps { $0.mood() }
            library.mood = mood
        case 2:
            let note = perhaps { ["", "null", "late"].randomElement(using: &$0.random) ?? "" }
            library.note = note
        case 3: library.pair = Pair("", "\(made)")
        case 4: library.email = Email("\(made)@example.com")
        case 5:
            let book = allBooks.randomElement(using: &random)
            library.pinned = random.chance(50) ? book.map { CloudKitReference(to: $0) } : nil
        case 6: library.emails = few { Email("\($0.made)@example.net") }
        case 7: library.limits = few { Lenient(wrappedValue: $0.percent()) }
        case 8: library.shortlist = allBooks.prefix(3).map { CloudKitReference(to: $0) }
        default: library.opened += 1.25
        }
    }

    // MARK: Shelves

    /// A place in one of the two lists of shelves.
    private typealias ShelfPlace = (list: WritableKeyPath<Library, [Shelf]>, index: Int)

    private var shelfPlaces: [ShelfPlace] {
        [\Library.shelves, \Library.archive].flatMap { list in
            library[keyPath: list].indices.map { (list, $0) }
        }
    }

    private mutating func insert(_ shelf: Shelf) {
        let list = random.chance(70) ? \Library.shelves : \Library.archive
        let index = Int.random(in: 0...library[keyPath: list].count, using: &random)
        library[keyPath: list].insert(shelf, at: index)
    }

    private mutating func takeShelf() -> Shelf? {
        guard let place = shelfPlaces.randomElement(using: &random) else { return nil }
        return library[keyPath: place.list].remove(at: place.index)
    }

    private mutating func addShelf() {
        if random.chance(30), let shelf = removedShelves.popLast() { return insert(shelf) }
        insert(Shelf(id: name("shelf"), percent: percent(), genre: perhaps { $0.genre() }))
    }

    private mutating func removeShelf() {
        if let shelf = takeShelf() { removedShelves.append(shelf) }
    }

    private mutating func moveShelf() {
        if let shelf = takeShelf() { insert(shelf) }
    }

    private mutating func editShelf() {
        guard let place = shelfPlaces.randomElement(using: &random) else { return }
        let (percent, genre) = (percent(), perhaps { $0.genre() })
        library[keyPath: place.list][place.index].percent = percent
        library[keyPath: place.list][place.index].genre = genre
    }

    // MARK: Books

    private var allBooks: [Book] { (library.shelves + library.archive).flatMap(\.books) }

    private mutating func insert(_ book: Book) {
        guard let place = shelfPlaces.randomElement(using: &random) else {
            return removedBooks.append(book)
        }
        let count = library[keyPath: place.list][place.index].books.count
        let index = Int.random(in: 0...count, using: &random)
        library[keyPath: place.list][place.index].books.insert(book, at: index)
    }

    private mutating func takeBook() -> Book? {
        let places = shelfPlaces.filter { !library[keyPath: $0.list][$0.index].books.isEmpty }
        guard let place = places.randomElement(using: &random) else { return nil }
        let count = library[keyPath: place.list][place.index].books.count
        let index = Int.random(in: 0..<count, using: &random)
        return library[keyPath: place.list][place.index].books.remove(at: index)
    }

    private mutating func addBook() {
        if random.chance(30), let book = removedBooks.popLast() { return insert(book) }
        var book = Book(id: name("book"), title: "Title \(made)")
        fill(&book)
        insert(book)
    }

    private mutating func removeBook() {
        if let book = takeBook() { removedBooks.append(book) }
    }

    private mutating func moveBook() {
        if let book = takeBook() { insert(book) }
    }

    private mutating func editBook() {
        guard var book = takeBook() else { return }
        fill(&book)
        insert(book)
    }

    private mutating func fill(_ book: inout Book) {
        book.tags = few { ["a", "b", ""].randomElement(using: &$0.random) ?? "" }
        book.data = perhaps {
            Data(["null", "", "[]", "x"].randomElement(using: &$0.random)!.utf8)
        }
        book.dates = few { Date(timeIntervalSinceReferenceDate: Double($0.made) + 0.5) }
        book.genres = few { $0.genre() }
        book.marks = Set(
            few { $0.code() }
        )
        book.moments = few {
            Moment(rawValue: Date(timeIntervalSinceReferenceDate: Double($0.made)))
        }
        book.author = perhaps { $0.author() }
    }

    private mutating func author() -> Author {
        if random.chance(60), let id = authors.keys.sorted().randomElement(using: &random),
            let known = authors[id]
        {
            return known
        }
        let author = Author(
            id: name("author"),
            email: Email("b@example.com"),
            agent: perhaps { Agent(id: $0.name("agent"), part: $0.percent()) }
        )
        authors[author.id] = author
        return author
    }

    private mutating func editAuthor() {
        guard let id = authors.keys.sorted().randomElement(using: &random) else { return }
        authors[id]?.email = Email("\(made)@example.org")
        let known = authors[id]?.agent?.id
        let agent = perhaps { Agent(id: known ?? $0.name("agent"), part: $0.percent()) }
        authors[id]?.agent = agent
    }

    // MARK: Chapters

    private mutating func chapter() -> Chapter {
        if random.chance(30), let chapter = removedChapters.popLast() { return chapter }
        var chapter = Chapter(id: name("chapter"), mood: mood(), moods: few { $0.mood() })
        fill(&chapter)
        return chapter
    }

    private mutating func fill(_ chapter: inout Chapter) {
        chapter.rating = perhaps { $0.made }
        chapter.code = perhaps { $0.code() }
    }

    private mutating func editChapters() {
        guard var book = takeBook() else { return }
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where !book.chapters.isEmpty: removedChapters.append(book.chapters.removeLast())
        case 1: book.chapters.shuffle(using: &random)
        case 2 where !book.chapters.isEmpty: fill(&book.chapters[0])
        case 3: setPreface(perhaps { $0.chapter() }, of: &book)
        default: book.chapters.insert(chapter(), at: 0)
        }
        insert(book)
    }

    /// Sets a book's only preface, replacing the previous one.
    private mutating func setPreface(_ chapter: Chapter?, of book: inout Book) {
        if let former = book.preface { removedChapters.append(former) }
        book.preface = chapter
    }

    /// Moves a chapter, a preface or one in the list, to another book or within one.
    private mutating func moveChapter() {
        guard var book = takeBook() else { return }
        var chapter: Chapter?
        if random.chance(50), let preface = book.preface {
            chapter = preface
            book.preface = nil
        } else if !book.chapters.isEmpty {
            chapter = book.chapters.removeFirst()
        }
        insert(book)
        guard let chapter, var other = takeBook() else { return }
        if random.chance(50) {
            setPreface(chapter, of: &other)
        } else {
            other.chapters.append(chapter)
        }
        insert(other)
    }

    // MARK: The catalog

    private mutating func editCatalog() {
        let words = Dictionary(few { ("word\($0.made % 7)", $0.made) }) { $1 }
        if random.chance(50), library.catalog != nil {
            library.catalog?.words = words
        } else {
            let catalog = perhaps { Catalog(id: $0.name("catalog"), words: words) }
            library.catalog = catalog
        }
    }

    // MARK: One model alone

    /// Edits a shelf or a chapter, like another device that knows nothing else of the library.
    ///
    /// - Returns: The edited model; nil when there is none.
    mutating func editAlone() -> (any CloudKitModel)? {
        if random.chance(30), let place = shelfPlaces.randomElement(using: &random) {
            let percent = percent()
            library[keyPath: place.list][place.index].percent = percent
            return library[keyPath: place.list][place.index]
        }
        let chapters = shelfPlaces.flatMap { place in
            library[keyPath: place.list][place.index].books.indices.flatMap { index in
                let book = place.list.appending(path: \.[place.index].books[index])
                let list = library[keyPath: book].chapters.indices.map {
                    book.appending(path: \.chapters[$0])
                }
                let preface = book.appending(path: \.preface!)
                return library[keyPath: book].preface == nil ? list : list + [preface]
            }
        }
        guard let chapter = chapters.randomElement(using: &random) else { return nil }
        var edited = library[keyPath: chapter]
        fill(&edited)
        library[keyPath: chapter] = edited
        return edited
    }

    // MARK: Moving

    /// Moves a shelf or a book to another library and edits it; returns false when there is none.
    ///
    /// Its authors stay: they belong to the books of one library.
    mutating func move(to other: inout LibraryEditing) -> Bool {
        if random.chance(40), var shelf = takeShelf() {
            for index in shelf.books.indices { shelf.books[index].author = nil }
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !shelf.books.isEmpty: shelf.books.removeFirst()
            case 1 where !shelf.books.isEmpty: insert(shelf.books.removeFirst())
            case 2: shelf.books.append(Book(id: name("book"), title: "Title \(made)"))
            default: shelf.books.shuffle(using: &random)
            }
            other.insert(shelf)
        } else if !other.shelfPlaces.isEmpty, var book = takeBook() {
            fill(&book)
            book.author = nil
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !book.chapters.isEmpty: book.chapters.removeFirst()
            case 1 where !book.chapters.isEmpty: book.preface = book.chapters.removeFirst()
            case 2: book.preface = nil
            default: break
            }
            other.insert(book)
        } else {
            return false
        }
        forgetRemoved()
        other.forgetRemoved()
        return true
    }

    // MARK: Posters

    private mutating func editPosters() {
        func poster(_ self: inout Self) -> Poster {
            let id = self.name("poster")
            return Poster(id: id, size: Pair("2", "3"), image: Data(id.utf8))
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let poster = perhaps(poster)
            library.poster = poster
        case 1: library.poster = library.gallery.randomElement(using: &random)
        case 2 where !library.gallery.isEmpty: library.gallery.removeFirst()
        default:
            let poster = poster(&self)
            library.gallery.append(poster)
        }
    }

    // MARK: Identity

    /// Sets all books of an author to the same value, except books that are hidden.
    private mutating func unify() {
        for place in shelfPlaces {
            for index in library[keyPath: place.list][place.index].books.indices {
                let id = library[keyPath: place.list][place.index].books[index].author?.id
                guard let id, let author = authors[id] else { continue }
                library[keyPath: place.list][place.index].books[index].author = author
            }
        }
    }
}

extension Library {
    /// The names of the library's records, found by walking the value.
    var recordNames: Set<String> {
        var names: Set = [id]
        names.formUnion([catalog?.id, poster?.id].compactMap(\.self) + gallery.map(\.id))
        for shelf in shelves + archive {
            names.insert(shelf.id)
            for book in shelf.books {
                names.insert(book.id)
                names.formUnion(book.chapters.map(\.id))
                if let preface = book.preface { names.insert(preface.id) }
                if let author = book.author { names.insert(author.id) }
                if let agent = book.author?.agent { names.insert(agent.id) }
            }
        }
        return names
    }

    /// The names of the records that have a parent, and of their parents, found in the same way.
    var parentNames: [String: String] {
        var parents: [String: String] = [:]
        if let poster { parents[poster.id] = id }
        for shelf in shelves + archive {
            for book in shelf.books {
                parents[book.id] = shelf.id
                if let preface = book.preface { parents[preface.id] = book.id }
            }
        }
        return parents
    }
}
