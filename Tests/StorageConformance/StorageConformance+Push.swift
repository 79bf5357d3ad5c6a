import CloudKitServerCore
import Foundation
import Testing

extension StorageConformance {
    static let pushes: [Check] = [
        Check(testDescription: "Items of a queue are in order, and of one slot the newest remains")
        {
            storage in
            try await storage.write { writer in
                for (slot, body) in [(nil, 1), ("s", 2), (nil, 3), ("s", 4)] as [(String?, UInt8)] {
                    try writer.addPush(Self.push(slot, body))
                }
                try writer.addPush(Self.push("s", 9, queue: 2))
                #expect(try Self.bodies(writer) == [1, 3, 4])
                #expect(
                    try writer.pushes(Data([1]), limit: 2).map(\.body) == [Data([1]), Data([3])]
                )
                #expect(try writer.pushes(Data([1]), limit: 9).map(\.slot) == [nil, nil, "s"])
                #expect(try Self.bodies(writer, queue: 2) == [9])
            }
        },
        Check(testDescription: "An item that is put back stands where it stood, unless outdated") {
            storage in
            try await storage.write { writer in
                for body in 1...3 as ClosedRange<UInt8> {
                    try writer.addPush(Self.push("s\(body)", body))
                }
                let taken = try writer.pushes(Data([1]), limit: 2)
                for push in taken { try writer.removePush(push.id) }
                #expect(try Self.bodies(writer) == [3])
                try writer.addPush(Self.push("s2", 4))
                for push in taken { try writer.returnPush(push) }
                #expect(try Self.bodies(writer) == [1, 3, 4])
            }
        },
        Check(testDescription: "The newest items of a queue are kept, the others go") { storage in
            try await storage.write { writer in
                for body in 1...5 as ClosedRange<UInt8> { try writer.addPush(Self.push(nil, body)) }
                try writer.addPush(Self.push(nil, 9, queue: 2))
                try writer.removePushes(Data([1]), keepingNewest: 5)
                #expect(try Self.bodies(writer) == [1, 2, 3, 4, 5])
                try writer.removePushes(Data([1]), keepingNewest: 2)
                #expect(try Self.bodies(writer) == [4, 5])
                try writer.removePushes(Data([1]), keepingNewest: 0)
                #expect(try Self.bodies(writer).isEmpty)
                #expect(try Self.bodies(writer, queue: 2) == [9])
            }
        },
    ]

    private static func push(_ slot: String?, _ body: UInt8, queue: UInt8 = 1) -> StoredPush {
        StoredPush(id: RowID(rawValue: 0), queue: Data([queue]), slot: slot, body: Data([body]))
    }

    private static func bodies(
        _ reader: any StorageReader,
        queue: UInt8 = 1
    ) throws -> [UInt8] {
        try reader.pushes(Data([queue]), limit: 99).compactMap(\.body.first)
    }
}
