import CloudKitBasics
import Testing

@Suite("Casts between names of one type")
struct ExactCastTests {
    private class Animal {}
    private final class Cat: Animal {
        let name = "Tom"
    }

    private struct Wide: Equatable {
        var text = "text"
        var numbers = [1, 2, 3]
        var object: String? = "object"
    }

    /// Casts without static knowledge of the types, as in the coders.
    @inline(never)
    private func cast<Value, Result>(_ value: Value, _ type: Result.Type) -> Result? {
        exactCast(value, to: type)
    }

    @inline(never)
    private func isReached<Value, Exact>(_ value: Value, _ type: Exact.Type) -> Bool {
        withExactCast(value, to: type) { _ in true } ?? false
    }

    @Test("A value keeps what it holds, whatever its size")
    func same() {
        #expect(cast(true, Bool.self) == true)
        #expect(cast("text", String.self) == "text")
        #expect(cast([1.5], [Double].self) == [1.5])
        #expect(cast(Wide(), Wide.self) == Wide())
        #expect(withExactCast(Wide(), to: Wide.self) { $0.text } == "text")
        let cat = Cat()
        #expect(cast(cat, Cat.self) === cat)
    }

    @Test("A value of another type is nil, also where the bytes would fit")
    func others() {
        #expect(cast(1, Int64.self) == nil)
        #expect(cast(1, UInt.self) == nil)
        #expect(cast([1], [Int64].self) == nil)
        #expect(cast("text", String?.self) == nil)
        #expect(cast(1, Double.self) == nil)
        #expect(!isReached(1, Int64.self))
        #expect(!isReached("text", Wide.self))
    }

    @Test("A cast that only a dynamic cast could make is nil: a subclass, elements of any type")
    func dynamic() {
        let animal: Animal = Cat()
        #expect(cast(animal, Cat.self) == nil)
        #expect(!isReached(animal, Cat.self))
        let values: [Any] = ["text"]
        #expect(cast(values, [String].self) == nil)
        #expect(!isReached(values, [String].self))
    }

    @Test("Swift opens an existential in the call, so that its value has its own type")
    func existentials() {
        let value: Any = "text"
        #expect(cast(value, String.self) == "text")
        #expect(cast(value, Int.self) == nil)
    }

    @Test("An error of the function is passed on")
    func errors() {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try withExactCast(1, to: Int.self) { _ in throw Failure() }
        }
    }
}
