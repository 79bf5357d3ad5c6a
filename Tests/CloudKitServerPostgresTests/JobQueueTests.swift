#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import Foundation
import Testing

@Suite("The jobs that wait for connections to PostgreSQL")
struct JobQueueTests {
    private struct Item: QueuedJob, Hashable {
        var number = 0
        var kind: JobKind
        var isSingle = false
    }

    /// A queue, with the groups that run.
    private struct World {
        static let writers = 6
        static let size = 20
        static let reading = 8

        var queue = JobQueue<Item>()
        var running: [[Item]] = []

        mutating func next(isLate: Bool = false) -> [Item] {
            let group = queue.next(
                writers: Self.writers,
                size: Self.size,
                reading: Self.reading,
                isLate: isLate
            )
            if !group.isEmpty { running.append(group) }
            return group
        }

        /// Takes all groups that can run.
        mutating func nextSizes() -> [Int] {
            var sizes: [Int] = []
            while true {
                let count = next().count
                if count == 0 { return sizes }
                sizes.append(count)
            }
        }

        mutating func end(_ place: Int) { queue.end(running.remove(at: place)) }
    }

    private static func write(_ number: Int, _ scope: Int) -> Item {
        Item(number: number, kind: .write(.queue(Data("\(scope)".utf8))))
    }

    @Test("Two transactions go side by side; a third waits for a crowd, or until it is late")
    func few() {
        var world = World()
        for number in 1...2 {
            world.queue.add(Item(kind: .read))
            #expect(world.next().count == 1)
            world.queue.add(Self.write(number, number))
            #expect(world.next().count == 1)
        }
        #expect(!world.queue.holdsBack)
        for number in 3...7 { world.queue.add(Self.write(number, number)) }
        #expect(world.next() == [] && world.queue.holdsBack)
        #expect(!world.queue.hasWork(writers: World.writers))
        #expect(world.next(isLate: true).map(\.number) == [3, 4, 5])
        for number in 8...21 { world.queue.add(Self.write(number, number)) }
        // As many as make a crowd have come; half of them are for another connection.
        #expect(world.queue.hasWork(writers: World.writers))
        #expect(world.next().map(\.number) == Array(6...13))
        #expect(world.next() == [] && world.queue.holdsBack)
        for _ in 0..<7 { world.queue.add(Item(kind: .read)) }
        #expect(world.next() == [])
        world.queue.add(Item(kind: .read))
        #expect(world.next().count == 4)
    }

    @Test("What waited while two transactions ran goes together when one of them ends")
    func together() {
        var world = World()
        for number in 0..<2 {
            world.queue.add(Self.write(number, number))
            _ = world.next()
        }
        for number in 2..<12 { world.queue.add(Self.write(number, number)) }
        world.end(0)
        #expect(world.nextSizes() == [5])
        world.end(0)
        #expect(world.nextSizes() == [3])
    }

    @Test("Writes of one scope share a transaction, and wait for the one that runs")
    func oneScope() {
        var world = World()
        world.queue.add(Self.write(0, 0))
        #expect(world.nextSizes() == [1])
        for number in 1...40 { world.queue.add(Self.write(number, 0)) }
        #expect(world.nextSizes() == [] && !world.queue.holdsBack)
        #expect(!world.queue.hasWork(writers: World.writers))
        world.end(0)
        #expect(world.nextSizes() == [World.size])
        world.queue.add(Item(kind: .write(.everything)))
        // Nobody overtakes a write of anything.
        world.queue.add(Self.write(50, 7))
        #expect(world.nextSizes() == [])
        world.end(0)
        #expect(world.nextSizes() == [20])
        world.end(0)
        #expect(world.next().map(\.kind) == [.write(.everything)])
        #expect(world.nextSizes() == [])
        world.end(0)
        #expect(world.next().map(\.number) == [50])
    }

    @Test(
        "Whatever comes, each job runs once, in its turn, and none is forgotten",
        arguments: 0..<200
    )
    func random(seed: Int) {
        var generator = SplitMix(state: UInt64(seed))
        func random(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }
        var world = World()
        var added = 0
        var ended: [Int: Int] = [:]
        var lastOfScope: [Data: Int] = [:]
        func check(_ group: [Item]) {
            var scopes: Set<Data> = []
            for item in group {
                switch item.kind {
                case .write(.queue(let scope)):
                    scopes.insert(scope)
                    #expect(lastOfScope[scope, default: -1] < item.number, "out of turn")
                    lastOfScope[scope] = item.number
                case .write:
                    #expect(group.count == 1 && world.running.count { $0[0].isWrite } == 1)
                case .read: #expect(group.count <= World.reading)
                case .assets: #expect(group.count == 1)
                }
                #expect(!item.isSingle || group.count == 1)
            }
            for other in world.running.dropLast().joined() {
                if case .write(.queue(let scope)) = other.kind { #expect(!scopes.contains(scope)) }
                if case .write(.everything) = other.kind { #expect(!group[0].isWrite) }
            }
        }
        for _ in 0..<400 {
            switch random(10) {
            case 0..<4:
                var item = [
                    Item(kind: .read), Self.write(0, random(12)), Item(kind: .assets),
                    Item(kind: .write(.everything)), Self.write(0, random(2)),
                ][min(random(7), 4)]
                item.number = added
                item.isSingle = item.isWrite && random(5) == 0
                added += 1
                world.queue.add(item)
            case 4..<7 where !world.running.isEmpty:
                let place = random(world.running.count)
                for item in world.running[place] { ended[item.number, default: 0] += 1 }
                world.end(place)
            default:
                let isLate = random(4) == 0
                let hadWork = world.queue.hasWork(writers: World.writers)
                let group = world.next(isLate: isLate)
                guard !group.isEmpty else { continue }
                #expect(isLate || hadWork, "a thread that slept would not have been woken")
                check(group)
            }
        }
        while !world.running.isEmpty || world.queue.count > 0 {
            let group = world.next(isLate: true)
            if !group.isEmpty { check(group) }
            guard !world.running.isEmpty else {
                Issue.record("\(world.queue.count) jobs wait for nothing")
                return
            }
            for item in world.running[0] { ended[item.number, default: 0] += 1 }
            world.end(0)
        }
        #expect(ended.count == added && ended.values.allSatisfy { $0 == 1 })
    }
}

extension QueuedJob {
    fileprivate var isWrite: Bool { if case .write = kind { true } else { false } }
}
#endif
